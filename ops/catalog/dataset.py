"""A dataset the project builds: which files it needs, how they are read, what must come out."""

from __future__ import annotations

from itertools import product
from typing import Any

from pydantic import Field

from ops.catalog.facts import Record


class DatasetSpec(Record):
    """One dataset, ``<benchmark>/<condition>``.

    Attributes
    ----------
    name : str
        For example ``imagenet_c/fog/3``.
    benchmark : str
        Catalog id of the benchmark that holds `files`, for example ``imagenet-c``.
    files, optional_files : tuple of str
        Ids of the files it is built from, and of those that only serve as a cross-check.
    derived_from : tuple of str
        Datasets it is built from instead of files.
    joined_to : str or None
        Dataset whose predictions answer it, joined by source key.
    layout : str
        How the archive is laid out, with its `parameters`.
    label_space, mask : str
        Space of the labels; the subset of it that predictions are also scored in.
    expected, expected_classes, per_class : int or None
        Samples, classes and samples of each class; None where unknown or not constant.
    evaluate : bool
        Whether a model is run on it.
    group : str or None
        Corruption, perturbation or distortion.
    severity : int or None
        1 to 5; to 6 for a distortion.
    about : str
        What all conditions of an expanded entry are together; empty for a dataset that is alone.
    synthetic : bool
        Whether an overlay serves made-up images in place of the published ones.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+(/[a-z0-9_]+)+$")
    benchmark: str
    files: tuple[str, ...] = ()
    optional_files: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    joined_to: str | None = None
    layout: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    label_space: str
    mask: str | None = None
    expected: int | None = Field(default=None, ge=0)
    expected_classes: int | None = Field(default=None, ge=0)
    per_class: int | None = Field(default=None, ge=0)
    evaluate: bool = True
    group: str | None = None
    severity: int | None = Field(default=None, ge=1, le=6)
    synthetic: bool = False
    description: str = ""
    about: str = ""

    @property
    def condition(self) -> str:
        """The part of the name after the benchmark, for example ``fog/3``."""
        return self.name.partition("/")[2]

    @property
    def family(self) -> str:
        """The part of the name before the condition, for example ``imagenet_c``."""
        return self.name.partition("/")[0]


def expand(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Write out the entries of ``datasets.yaml`` that stand for many, in order.

    Each row of an entry's ``expand`` is the product of its lists, the last list running fastest;
    ``{field}`` in the name and in any string takes the row's value, and a string that is nothing
    but ``{field}`` takes it with its type.

    Returns
    -------
    dict
        Fields of every dataset, by name.
    """
    datasets: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        fields = {key: value for key, value in entry.items() if key != "expand"}
        if "expand" not in entry:
            datasets[name] = fields
            continue
        for row in entry["expand"]:
            axes = [value if isinstance(value, list) else [value] for value in row.values()]
            for values in product(*axes):
                chosen = dict(zip(row, values, strict=True))
                datasets[name.format_map(chosen)] = _filled(fields, chosen)
    return datasets


def _filled(value: Any, chosen: dict[str, Any]) -> Any:
    if isinstance(value, str):
        if value.startswith("{") and value[1:-1] in chosen:
            return chosen[value[1:-1]]
        return value.format_map(chosen)
    if isinstance(value, list):
        return [_filled(item, chosen) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, chosen) for key, item in value.items()}
    return value
