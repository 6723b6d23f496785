"""What a person states about a model, on the command line or in a YAML file, and its entry.

A source knows the rest: timm, torchvision, open_clip and the hub say which transform their
weights were made for. What is stated here goes before it.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from textwrap import shorten
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ops.errors import ShiftlakeError
from ops.models.entry import Head, ModelEntry, Precision, checked_name
from ops.models.transform import Interpolation, Transform

FORMS = (
    "timm:NAME, torchvision:NAME[@WEIGHTS], open_clip:ARCHITECTURE/TAG, "
    "hf:ORGANISATION/REPOSITORY[@REVISION], alexnet:grouped, a .pt2 or .onnx file, "
    "or module:callable"
)
PROGRAMS = {".pt2": "exported", ".onnx": "onnx"}


class StatedTransform(BaseModel):
    """Fields of a transform; those that are left out are the source's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    resize: int | tuple[int, int] | None = None
    crop: int | None = None
    interpolation: Interpolation | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None

    def over(self, given: Transform) -> Transform:
        """The transform of a source, with what is stated in its place."""
        return Transform.model_validate(
            {**given.model_dump(), **self.model_dump(exclude_none=True)}
        )


class Statement(BaseModel):
    """The fields of ``shiftlake model add``, and of a watched model's YAML.

    Parameters
    ----------
    reference : str
        Where the model comes from, with the kind before it: ``timm:resnet50.a1_in1k``.
    kwargs : dict
        Arguments of the architecture.
    transform : StatedTransform
        What differs from the source's transform; for code of one's own from 256, 224, bilinear.
    label_space : str or None
        What the outputs are classes of; by default ``ilsvrc1000``.
    class_map : tuple of int or None
        The class of every output.
    head, precision, tf32, deterministic, compiled, synthetic, note
        As in :class:`ops.models.ModelEntry`.
    normaliser : bool or None
        Whether other models' errors are divided by its own; by default only an AlexNet's are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: Annotated[str, Field(min_length=1)]
    kwargs: dict[str, Any] = Field(default_factory=dict)
    transform: StatedTransform = StatedTransform()
    label_space: str | None = None
    class_map: tuple[int, ...] | None = None
    head: Head = "softmax"
    precision: Precision = "fp32"
    tf32: bool = False
    deterministic: bool = True
    compiled: bool = False
    normaliser: bool | None = None
    synthetic: bool = False
    note: str | None = None


def stated(fields: dict[str, Any], where: str) -> Statement:
    """Check what somebody states.

    Raises
    ------
    ShiftlakeError
        That names the first field that makes no sense.
    """
    try:
        return Statement.model_validate(fields)
    except ValidationError as error:
        raise _refused(error, where) from error


def entry_of(
    name: str, statement: Statement, weights: Path | None = None
) -> tuple[ModelEntry, Path | None]:
    """The entry a statement makes, asking the source it names.

    Parameters
    ----------
    name : str
        Name in the registry.
    statement : Statement
    weights : Path or None
        A local weights file that is stated apart from the reference.

    Returns
    -------
    ModelEntry
        Not yet registered.
    Path or None
        The weights file for :func:`ops.models.register`: the given one, or the program that the
        reference names.

    Raises
    ------
    ShiftlakeError
        If a model cannot have the name, a field makes no sense, the library of the source is
        missing, or the source does not know the model.
    """
    checked_name(name, statement.reference)
    entry, weights = _source(name, statement, weights)
    given = {
        "label_space": statement.label_space or entry.label_space,
        "class_map": statement.class_map if statement.class_map is not None else entry.class_map,
        "head": statement.head,
        "precision": statement.precision,
        "tf32": statement.tf32,
        "deterministic": statement.deterministic,
        "compiled": statement.compiled,
        "normaliser": entry.normaliser if statement.normaliser is None else statement.normaliser,
        "synthetic": statement.synthetic,
        "note": entry.note if statement.note is None else statement.note,
    }
    try:
        transform = statement.transform.over(entry.transform)
        return ModelEntry.model_validate({**dict(entry), **given, "transform": transform}), weights
    except ValidationError as error:
        raise _refused(error, name) from error


def _source(
    name: str, statement: Statement, weights: Path | None
) -> tuple[ModelEntry, Path | None]:
    source, _, rest = statement.reference.partition(":")
    kwargs = statement.kwargs
    if source == "timm" and rest.startswith("hf-hub:"):
        source, rest = "hf", rest.removeprefix("hf-hub:")
    if source == "timm":
        from ops.models.timm_source import from_timm

        return from_timm(rest, name=name, kwargs=kwargs), weights
    if source == "torchvision":
        from ops.models.torchvision_source import from_torchvision

        return from_torchvision(rest, name=name, kwargs=kwargs), weights
    if source == "hf":
        from ops.models.hub_source import from_hub

        return from_hub(rest, name=name, kwargs=kwargs), weights
    if source == "open_clip":
        from ops.models.zero_shot import from_open_clip

        if weights is not None:
            raise ShiftlakeError(
                "A zero-shot model takes no weights file: its head is made from its text tower.",
                expected="open_clip:ARCHITECTURE/TAG alone",
                found=f"the weights {weights.name}",
                where=name,
                remedy="leave the weights out, or register the finished network as a callable",
            )
        made = from_open_clip(rest, name=name, kwargs=kwargs, class_map=statement.class_map)
        return made, None
    if source == "alexnet":
        return _alexnet(name, rest, statement), weights
    suffix = PurePosixPath(statement.reference).suffix.lower()
    if suffix in PROGRAMS:
        path = Path(statement.reference) if weights is None else weights
        return _plain(name, PROGRAMS[suffix], path.name, kwargs), path
    if weights is not None and weights.suffix.lower() in PROGRAMS:
        raise ShiftlakeError(
            "The weights file is a whole program.",
            expected="the program as the reference, without an architecture",
            found=f"{weights.name} beside {statement.reference}",
            where=name,
            remedy=f"shiftlake model add {name} {weights.name}",
        )
    kind = "callable" if weights is None else "checkpoint"
    return _plain(name, kind, statement.reference, kwargs), weights


def _alexnet(name: str, form: str, statement: Statement) -> ModelEntry:
    if form != "grouped":
        raise ShiftlakeError(
            "There is no such AlexNet.",
            expected="alexnet:grouped, or torchvision:alexnet",
            found=f"alexnet:{form}",
            where=name,
            remedy="name one of the two",
        )
    from ops.models.alexnet import TRANSFORM

    return ModelEntry(
        name=name,
        kind="checkpoint",
        reference="ops.models.alexnet:GroupedAlexNet",
        kwargs=statement.kwargs,
        transform=TRANSFORM,
        normaliser=True,
        note="AlexNet of 2012, with two groups",
    )


def _plain(name: str, kind: str, reference: str, kwargs: dict[str, Any]) -> ModelEntry:
    fields = {"name": name, "kind": kind, "reference": reference, "kwargs": kwargs}
    try:
        return ModelEntry.model_validate({**fields, "transform": Transform()})
    except ValidationError as error:
        raise _refused(error, name) from error


def _refused(error: ValidationError, where: str) -> ShiftlakeError:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    about_reference = said.startswith("reference") or field == "reference"
    found = first["input"]
    if about_reference and isinstance(found, dict):
        found = found.get("reference", "nothing")
    return ShiftlakeError(
        "The model cannot be registered as stated.",
        expected=f"{field}: {said}" if field else said,
        found=shorten(str(found), 100, placeholder=" …"),
        where=where,
        remedy=f"a model is {FORMS}" if about_reference else f"correct {field or 'what is stated'}",
    )
