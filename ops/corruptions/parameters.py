"""The severity parameters: one table for each published size, under its own name.

The numbers are in ``data/parameters.yaml``; a size that upstream has no table for has none here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ops.errors import ShiftlakeError

Severities = tuple[Mapping[str, Any], ...]

_FILE = Path(__file__).with_name("data") / "parameters.yaml"


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
    for table in found.values():
        table["corruptions"] = MappingProxyType(
            {name: tuple(map(read_only, rows)) for name, rows in table["corruptions"].items()}
        )
    return found


def read_only(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of one level as they are shared: nobody can change them for the others."""
    return MappingProxyType({name: _frozen(value) for name, value in row.items()})


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of one level's parameters of dicts and lists, as they are written to a file."""
    return {name: _thawed(value) for name, value in row.items()}


def presets() -> tuple[str, ...]:
    """The names of the tables, that of the benchmark first."""
    return tuple(_tables())


def _preset(name: str) -> dict[str, Any]:
    tables = _tables()
    if not isinstance(name, str) or name not in tables:
        # The size says more than the letters before it.
        size = str(name).rpartition("_")[2]
        near = [known for known in tables if known.endswith(f"_{size}")]
        near = near or difflib.get_close_matches(str(name), tables, n=1, cutoff=0.5)
        raise ShiftlakeError(
            "There is no table of parameters of this name.",
            expected="one of " + ", ".join(tables),
            found=repr(name),
            where="preset",
            remedy=f"Did you mean {near[0]}?" if near else "Choose one of the presets.",
        )
    return tables[name]


def load(preset: str = "imagenet_224") -> Mapping[str, Severities]:
    """The parameters of every corruption.

    Parameters
    ----------
    preset : str
        Name of a table.

    Returns
    -------
    mapping
        From a corruption's name to five mappings from a parameter's name to its value, one for
        each severity; all read-only. The units are told at the head of the data file.

    Raises
    ------
    ShiftlakeError
        If there is no such table.
    """
    found: Mapping[str, Severities] = _preset(preset)["corruptions"]
    return found


def size(preset: str = "imagenet_224") -> int:
    """Height and width, in pixels, of the images a table is for."""
    return int(_preset(preset)["size"])


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return read_only(value)
    return tuple(value) if isinstance(value, list) else value


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    return list(value) if isinstance(value, tuple) else value
