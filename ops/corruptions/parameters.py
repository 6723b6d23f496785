"""The severity parameters: one table for each published size, under its own name.

The numbers are in ``data/parameters.yaml``; a size that upstream has no table for has none here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from ops.errors import ShiftlakeError

Severities = tuple[Mapping[str, Any], ...]

_FILE = Path(__file__).with_name("data") / "parameters.yaml"


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
    return found


def presets() -> tuple[str, ...]:
    """The names of the tables, that of the benchmark first."""
    return tuple(_tables())


def _preset(name: str) -> dict[str, Any]:
    tables = _tables()
    if name not in tables:
        near = difflib.get_close_matches(str(name), tables, n=1, cutoff=0.5)
        raise ShiftlakeError(
            "There is no table of parameters of this name.",
            expected="one of " + ", ".join(tables),
            found=name,
            where="preset",
            remedy=f"Did you mean {near[0]}?" if near else "Choose one of the presets.",
        )
    return tables[name]


def load(preset: str = "imagenet_224") -> dict[str, Severities]:
    """The parameters of every corruption.

    Parameters
    ----------
    preset : str
        Name of a table.

    Returns
    -------
    dict
        From a corruption's name to five mappings from a parameter's name to its value, one for
        each severity. The units are told at the head of the data file.

    Raises
    ------
    ShiftlakeError
        If there is no such table.
    """
    return {name: tuple(rows) for name, rows in _preset(preset)["corruptions"].items()}


def size(preset: str = "imagenet_224") -> int:
    """Height and width, in pixels, of the images a table is for."""
    return int(_preset(preset)["size"])
