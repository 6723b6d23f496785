"""What the perturbations are: names, frames, levels, and what a frame is compared with.

The numbers are in ``data/perturbations.yaml``, for images of 224 pixels. ImageNet-P has no other
table that this project holds, so other sizes are refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml

from ops.corruptions.arguments import is_whole
from ops.corruptions.parameters import read_only
from ops.errors import ShiftlakeError

Reference = Literal["first", "previous"]

_FILE = Path(__file__).with_name("data") / "perturbations.yaml"


@dataclass(frozen=True)
class Perturbation:
    """One kind of sequence.

    Parameters
    ----------
    name : str
        As the folders of ImageNet-P name it.
    frames : int
        Frames of a sequence.
    reference : {"first", "previous"}
        What each later frame is compared with. Noise is drawn anew around the clean first frame;
        in every other sequence one thing changes from each frame to the next.
    validation : bool
        Whether it is one of the four that enter no mean.
    levels : tuple of mappings
        Parameters of difficulty 1, 2 and 3 where these are sequences of their own (the noises).
        Elsewhere one: there a difficulty is the distance of the frames that are compared.
    """

    name: str
    frames: int
    reference: Reference
    validation: bool
    levels: tuple[Mapping[str, Any], ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """The folders it has: its name, and with ``_2`` and ``_3`` for levels 2 and 3."""
        harder = (f"{self.name}_{level}" for level in range(2, len(self.levels) + 1))
        return (self.name, *harder)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_FILE.read_text("utf-8"))
    return found


@lru_cache(maxsize=1)
def perturbations() -> Mapping[str, Perturbation]:
    """Every perturbation by its name: the 10 of the benchmark, then the 4 for validation."""
    return MappingProxyType(
        {
            name: Perturbation(
                name,
                row["frames"],
                row["reference"],
                row.get("validation", False),
                tuple(map(read_only, row["levels"])),
            )
            for name, row in _table()["perturbations"].items()
        }
    )


def size() -> int:
    """Height and width of a frame, in pixels."""
    return int(_table()["size"])


def resized() -> int:
    """Shorter side, in pixels, of the image that a sequence is made from."""
    return int(_table()["resized"])


def check_perturbation(name: str) -> Perturbation:
    """The facts of a perturbation.

    Parameters
    ----------
    name : str
        One of `PERTURBATIONS` or `VALIDATION_PERTURBATIONS`.

    Returns
    -------
    Perturbation
        Of that name.

    Raises
    ------
    ShiftlakeError
        If there is none.
    """
    known = perturbations()
    if isinstance(name, str) and name in known:
        return known[name]
    harder = {c: p for p in known.values() for c in p.conditions[1:]}
    if isinstance(name, str) and name in harder:
        remedy = f"Give {harder[name].name!r} and difficulty={name[-1]}."
    else:
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        remedy = f"Did you mean {' or '.join(near)}?" if near else "Choose one of the names."
    raise ShiftlakeError(
        "There is no perturbation of this name.",
        expected="one of " + ", ".join(known),
        found=repr(name),
        where="perturbation",
        remedy=remedy,
    )


def check_difficulty(perturbation: Perturbation, difficulty: int) -> None:
    """Raise unless a perturbation has sequences of this difficulty."""
    if is_whole(difficulty) and 1 <= difficulty <= len(perturbation.levels):
        return
    several = len(perturbation.levels) > 1
    raise ShiftlakeError(
        f"{perturbation.name} has no sequences of this difficulty.",
        expected="1, 2 or 3" if several else "1",
        found=repr(difficulty),
        where="difficulty",
        remedy="Only the noises have levels 2 and 3."
        if several
        else "Difficulty 2 and 3 compare frames 2 and 3 apart of the same sequence.",
    )


PERTURBATIONS = tuple(name for name, known in perturbations().items() if not known.validation)
VALIDATION_PERTURBATIONS = tuple(
    name for name, known in perturbations().items() if known.validation
)
