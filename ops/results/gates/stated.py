"""``gates.yaml``: which model is to be no worse than which, on what and by how much.

Written by people, below the storage root; ``example.yaml`` beside this module shows all of
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from ops.errors import ShiftlakeError
from ops.results.comparison.quantities import Quantity, chosen
from ops.results.gates.lines import WrittenYaml
from ops.results.gates.waivers import Said, Waiver
from ops.storage import Root, paths

# Words of the command line.
_RESERVED = ("init", "run")

_STRICT = ConfigDict(frozen=True, extra="forbid")
Points = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, strict=True)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class Baseline(BaseModel):
    """The model that a candidate would replace.

    Attributes
    ----------
    model : str
        Its name in the registry.
    weights_sha256 : str, optional
        The hash of its weights, or at least 8 digits of its beginning: with it, a baseline that
        was registered anew under the same name is noticed instead of compared with.
    """

    model_config = _STRICT

    model: Said
    weights_sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{8,64}$")] | None = None


class Margin(BaseModel):
    """The largest loss on a benchmark that would be accepted.

    Attributes
    ----------
    points : float
        In percentage points of the metric (of mCE: of its percent), not negative.
    condition, metric, variant : str, optional
        As in the table of metrics; by default the benchmark's headline.
    """

    model_config = _STRICT

    points: Points
    condition: Said | None = None
    metric: Said | None = None
    variant: Said | None = None


class Gate(BaseModel):
    """One gate.

    Attributes
    ----------
    baseline : Baseline
    candidates : list of str
        Models or patterns of models; the baseline is never its own candidate.
    alpha : float
        Error level, 0.05 by default: each interval has the confidence ``1 - alpha``.
    margins : dict of str to Margin
        By benchmark (``imagenet_a``) or dataset (``imagenet_c/fog/3``); a number is points.
    waivers : list of Waiver
    """

    model_config = _STRICT

    baseline: Baseline
    candidates: Annotated[list[Said], Field(min_length=1)]
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    margins: Annotated[dict[Said, Margin], Field(min_length=1)]
    waivers: list[Waiver] = Field(default_factory=list)

    @field_validator("margins", mode="before")
    @classmethod
    def _points(cls, stated: Any) -> Any:
        if not isinstance(stated, Mapping):
            return stated
        return {
            name: value if isinstance(value, Mapping) else {"points": value}
            for name, value in stated.items()
        }

    @model_validator(mode="after")
    def _one_condition(self) -> Gate:
        for name, margin in self.margins.items():
            if "/" in name and margin.condition is not None:
                raise ValueError(f"{name} already names a condition")
        return self

    def candidates_among(self, models: list[str]) -> list[str]:
        """The registered models that it judges, in their order."""
        return [
            name
            for name in models
            if name != self.baseline.model
            and any(fnmatchcase(name, pattern) for pattern in self.candidates)
        ]


class _Document(BaseModel):
    model_config = _STRICT

    gates: dict[Name, Gate]


@dataclass(frozen=True)
class Demand:
    """One quantity that a gate is about, and its margin in the unit of the metric."""

    quantity: Quantity
    margin: float


@dataclass(frozen=True)
class StatedGate:
    """A gate as written, and what it demands."""

    name: str
    gate: Gate
    demands: tuple[Demand, ...]


def read_gates(root: Root, known: Mapping[str, list[Quantity]]) -> list[StatedGate]:
    """The gates that are stated below a root, in the order of the file; none without a file.

    Parameters
    ----------
    root : Root
    known : mapping
        What can be compared on each benchmark, of
        :func:`ops.results.comparison.quantities.by_benchmark`.

    Raises
    ------
    ShiftlakeError
        That names the line and the key that is wrong: of a shape that is not that of a gate, a
        benchmark or metric that does not exist, a quantity twice, a waiver without a reason.
    """
    path = paths.gates()
    if not root.exists(path):
        return []
    return parse_gates(root.read_bytes(path).decode("utf-8", "replace"), root.at(path), known)


def parse_gates(text: str, address: str, known: Mapping[str, list[Quantity]]) -> list[StatedGate]:
    """As :func:`read_gates`, of a text; `address` is for errors."""
    written = WrittenYaml(text, address)
    try:
        document = _Document.model_validate(written.content)
    except ValidationError as error:
        first, *others = error.errors()
        more = f", and {len(others)} more to correct" if others else ""
        raise ShiftlakeError(
            "The gates cannot be read as they are written.",
            expected=_expected(first),
            found=f"{str(first['input'])[:120]}{more}",
            where=written.where(first["loc"]),
            remedy="correct the line; shiftlake gate init shows an example",
        ) from error
    found = []
    for name, gate in document.gates.items():
        where = written.where(("gates", name))
        if name in _RESERVED:
            raise ShiftlakeError(
                "A gate cannot have this name.",
                expected="a name that is no word of the command line",
                found=name,
                where=where,
                remedy="rename the gate",
            )
        demands: dict[Quantity, Demand] = {}
        for key, margin in gate.margins.items():
            line = written.where(("gates", name, "margins", key))
            benchmark, _, condition = key.partition("/")
            quantities = chosen(
                known,
                benchmark,
                condition or margin.condition,
                margin.metric,
                margin.variant,
                where=line,
            )
            for each in quantities:
                if each in demands:
                    raise ShiftlakeError(
                        "A gate has two margins for one number.",
                        expected="each number once",
                        found=each.name,
                        where=line,
                        remedy="keep one of the two",
                    )
                demands[each] = Demand(each, margin.points * each.unit)
        found.append(StatedGate(name, gate, tuple(demands.values())))
    return found


def example() -> str:
    """The text of a ``gates.yaml`` with everything in it, commented."""
    return files("ops.results.gates").joinpath("example.yaml").read_text("utf-8")


def _expected(error: Any) -> str:
    kind, message = error["type"], str(error["msg"])
    if kind == "extra_forbidden":
        return "no such key"
    if kind == "string_type":
        # A hash of digits alone, or of digits around one e.
        return "text; in quotes where YAML would take it for a number"
    if kind == "missing":
        return f"a {error['loc'][-1]}"
    return message[:1].lower() + message[1:]
