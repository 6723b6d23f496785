"""What every corruption's file offers; the file bears the name of the corruption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from ops.corruptions.draws import Draws

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Level:
    """One severity of a corruption: its parameters, its draws, and what else it needs.

    Parameters
    ----------
    parameters : mapping
        The corruption's own, by name, as in the table of parameters.
    draws : Draws
        Where its random numbers come from.
    textures : tuple of uint8 arrays, shape (height, width, 3), optional
        The frost photographs in RGB, in the order of their numbers; by default those found by
        :mod:`ops.corruptions.textures`.
    """

    parameters: Mapping[str, Any]
    draws: Draws
    textures: tuple[Image, ...] | None = None


class Kernel(Protocol):
    """A corruption, in both arithmetics. The module of each corruption's name is one."""

    def exact(self, image: Image, level: Level) -> Image:
        """The official operation order in the official precision; uint8 (H, W, 3) in and out."""

    def fast(self, image: Image, levels: Sequence[Level]) -> list[Image]:
        """Outputs of several severities of one image, within the stated bound of `exact`."""


def kernel(corruption: str) -> Kernel:
    """The kernel of a corruption whose name is known to be one."""
    # Imported when first asked for: each compiles for a moment.
    return cast(Kernel, import_module(f"ops.corruptions.{corruption}"))
