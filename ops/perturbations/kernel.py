"""What every perturbation's file offers; the file bears the name of the perturbation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from ops.corruptions.draws import Draws
from ops.corruptions.keyed import Keyed
from ops.perturbations.source import Source

Frames = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Steps:
    """What a perturbation takes from frame to frame.

    Parameters
    ----------
    parameters : mapping
        The perturbation's own, by name, as in the table of parameters.
    frames : int
        Frames to make.
    """

    parameters: Mapping[str, Any]
    frames: int

    def sweep(self, name: str) -> list[float]:
        """A parameter's value in each frame."""
        start, step = self.parameters[name]["start"], self.parameters[name]["step"]
        return [start + step * frame for frame in range(self.frames)]


@dataclass(frozen=True)
class Level(Steps):
    """A perturbation of one image at one difficulty.

    Parameters
    ----------
    draws : Draws
        Where random numbers come from.
    """

    draws: Draws

    def draws_of(self, frame: int) -> Draws:
        """The draws of one frame: those of a key are told apart, those of a replay go on."""
        if isinstance(self.draws, Keyed):
            return replace(self.draws, part=frame)
        return self.draws


class Kernel(Protocol):
    """A perturbation, in both arithmetics. The module of each perturbation's name is one."""

    def exact(self, source: Source, level: Level) -> Frames:
        """In the official order of operations and precision; uint8 (frames, 224, 224, 3)."""

    def fast(self, source: Source, level: Level) -> Frames:
        """The same within 1 level on at most one sample in 10,000, given the same draws."""


def kernel(perturbation: str) -> Kernel:
    """The kernel of a perturbation whose name is known to be one."""
    # Imported when first asked for: each compiles for a moment.
    return cast(Kernel, import_module(f"ops.perturbations.{perturbation}"))
