"""What a catalog entry may say about a rendered dataset: its parameters, checked before any use.

One model for each engine. A parameter that is misspelt, missing or out of range is an error: it
would otherwise be a version of its own with other pixels, or with the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ops.errors import ShiftlakeError

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

Mode = Literal["fast", "exact"]
# What a column of 64-bit integers holds.
_MAX_SEED = 2**63 - 1


class Parameters(BaseModel):
    """What every engine needs to know.

    Attributes
    ----------
    seed : int
        0 to 2**63 - 1.
    key_dataset : str
        The family in the keys of the random numbers.
    """

    # Strict: a seed "3" or 3.0 would be another version of what seed 3 makes.
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    seed: int = Field(ge=0, le=_MAX_SEED)
    key_dataset: str = Field(min_length=1)


class CorruptionParameters(Parameters):
    """Of ImageNet-C.

    Attributes
    ----------
    cropped : int
        Side of the stored picture in pixels; that of the preset.
    mode : {"fast", "exact"}
    preset : str
        Table of numbers.
    quality : int
        Of the JPEG, 1 to 100.
    """

    cropped: int
    mode: Mode
    preset: str
    quality: int = Field(ge=1, le=100)


class PerturbationParameters(Parameters):
    """Of ImageNet-P.

    Attributes
    ----------
    cropped : int
        Side of a frame in pixels.
    frames : int
        Frames of a sequence.
    reference : {"first", "previous"}
        What a frame is compared with.
    perturbation : str
    difficulty : int
    mode : {"fast", "exact"}
    storage : {"lossless", "published"}
        How a sequence is coded.
    """

    cropped: int
    frames: int
    reference: Literal["first", "previous"]
    perturbation: str
    difficulty: int
    mode: Mode
    storage: Literal["lossless", "published"]


class DistortionParameters(Parameters):
    """Of DeepCorrect's sets.

    Attributes
    ----------
    preset : str
        Table of levels.
    """

    preset: str


Checked = TypeVar("Checked", bound=Parameters)


def checked(kind: type[Checked], spec: DatasetSpec) -> Checked:
    """The parameters of a catalog entry.

    Parameters
    ----------
    kind : type
        The engine's own.
    spec : DatasetSpec

    Raises
    ------
    ShiftlakeError
        If one is unknown, missing, of another type or out of range; dataset and parameter are
        named.
    """
    try:
        return kind.model_validate(spec.parameters)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            known = ", ".join(kind.model_fields)
            raise _refused(spec, name, f"one of {known}", f"{name}: {first['input']!r}") from error
        if first["type"] == "missing":
            raise _refused(spec, name, "a value for it", "none") from error
        raise _refused(spec, name, first["msg"], repr(first["input"])) from error


def require(spec: DatasetSpec, name: str, expected: object, found: object, why: str) -> None:
    """Refuse a parameter that contradicts the others.

    Raises
    ------
    ShiftlakeError
        If the two differ; `why` says where the expected value comes from.
    """
    if expected != found:
        raise _refused(spec, name, f"{expected!r}, {why}", repr(found))


def _refused(spec: DatasetSpec, name: str, expected: object, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        f"{spec.name} cannot be rendered as the catalog says.",
        expected=expected,
        found=found,
        where=f"{spec.name}: parameters / {name}",
        remedy="correct this parameter in the overlay, or in the entry of the catalog",
    )
