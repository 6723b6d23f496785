"""The stored outputs of the reference implementations, for tests.

What belongs here: reading ``data/``. How it was made is in ``make_fixtures.py``.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.parity.inputs import CORRUPTION_INPUTS, SEQUENCE_INPUTS, Image

DATA = Path(__file__).resolve().parent / "data"


@cache
def _facts(part: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((DATA / f"{part}.json").read_text())
    return facts


@cache
def _samples(part: str) -> dict[str, NDArray[np.uint8]]:
    with np.load(DATA / f"{part}.npz") as stored:
        return dict(stored)


def digest(image: Image) -> str:
    """SHA-256 of uint8 [height, width, 3] in C order, as the data holds it."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


@dataclass(frozen=True)
class Sample:
    """An output of the reference, uint8 [224, 224, 3]: its hash and some of its pixels.

    ``values`` is uint8 [28, 28, 3], the pixels at ``grid`` x ``grid``; None where only the
    hash is stored.
    """

    sha256: str
    grid: tuple[int, ...]
    values: NDArray[np.uint8] | None

    def same(self, output: Image) -> bool:
        """Whether every pixel is the reference's."""
        return digest(output) == self.sha256

    def apart(self, output: Image) -> NDArray[np.int16]:
        """Absolute difference at the stored pixels, [28, 28, 3]."""
        if self.values is None:
            raise ValueError("only the hash of this output is stored, none of its pixels")
        return np.abs(output[np.ix_(self.grid, self.grid)].astype(np.int16) - self.values)


@dataclass(frozen=True)
class Fixture(Sample):
    """What imagenet-c makes of ``picture(input_name)`` after ``np.random.seed(seed)``."""

    input_name: str
    seed: int


@dataclass(frozen=True)
class Sequence:
    """The frames of an ImageNet-P sequence, both generators seeded with 0."""

    input_name: str
    frames: tuple[Sample, ...]


@cache
def picture(input_name: str) -> Image:
    """An input, read-only, known to be the one that the data was made from."""
    make = (CORRUPTION_INPUTS | SEQUENCE_INPUTS)[input_name]
    part = "corruptions" if input_name in CORRUPTION_INPUTS else "sequences"
    image = make()
    expected, found = _facts(part)["inputs"][input_name]["sha256"], digest(image)
    if found != expected:
        raise AssertionError(f"input {input_name}: expected SHA-256 {expected}, found {found}")
    image.flags.writeable = False
    return image


def outputs(corruption: str, severity: int) -> list[Fixture]:
    """Every stored output of a corruption at a severity of 1 to 5: each input, each seed."""
    facts = _facts("corruptions")
    values = _samples("corruptions")[corruption][severity - 1]
    return [
        Fixture(sha256, tuple(facts["grid"]), values[i, j], name, int(seed))
        for i, (name, seeds) in enumerate(facts["sha256"][corruption][str(severity)].items())
        for j, (seed, sha256) in enumerate(seeds.items())
    ]


def sequence_names() -> list[str]:
    """The 14 perturbations and the ``_2`` and ``_3`` levels of the three noises."""
    return sorted(_facts("sequences")["sha256"])


def sequences(name: str) -> list[Sequence]:
    """A perturbation's stored sequences, one per input; four frames of each hold pixels."""
    facts = _facts("sequences")
    values = _samples("sequences")[name]
    where = {frame: index for index, frame in enumerate(facts["frames"][name])}
    grid = tuple(facts["grid"])
    return [
        Sequence(
            input_name,
            tuple(
                Sample(sha256, grid, values[i, where[frame]] if frame in where else None)
                for frame, sha256 in enumerate(hashes)
            ),
        )
        for i, (input_name, hashes) in enumerate(facts["sha256"][name].items())
    ]


def opencv5_difference(name: str) -> tuple[int, float]:
    """How far OpenCV 5 takes the reference itself: greatest difference, share of samples.

    (0, 0.0) for all but ``elastic_transform`` (warpAffine) and ``tilt`` (warpPerspective).
    """
    measured = [_facts(part)["opencv5"]["differing"] for part in ("corruptions", "sequences")]
    found = (measured[0] | measured[1]).get(name, {"greatest": 0, "share": 0.0})
    return found["greatest"], found["share"]
