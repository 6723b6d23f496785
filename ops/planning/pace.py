"""How fast a model has been here, from the records of its evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from ops.catalog import DatasetSpec
from ops.results.inventory import Inventory

Kind = tuple[bool, bool]


@dataclass(frozen=True)
class Pace:
    """Images a second of one model on one kind of device.

    Parameters
    ----------
    families : dict
        By benchmark.
    kinds : dict
        By what costs differ most in: whether the pixels are made on the fly, and whether a sample
        is a sequence of frames.
    """

    families: Mapping[str, float]
    kinds: Mapping[Kind, float]

    def on(self, spec: DatasetSpec) -> float | None:
        """Images a second on a dataset: as recorded on its benchmark, else on others like it."""
        return self.families.get(spec.family) or self.kinds.get(kind_of(spec))


def kind_of(spec: DatasetSpec) -> Kind:
    """Whether a dataset is made on the fly, and whether its samples are sequences."""
    return spec.layout.endswith("_on_the_fly"), "frames" in spec.parameters


def recorded_pace(
    inventory: Inventory, datasets: Mapping[str, DatasetSpec], model: str, device: str
) -> Pace:
    """What the records of a model say.

    Parameters
    ----------
    inventory : Inventory
    datasets : mapping
        Specifications by name.
    model : str
    device : str
        Kind of device, ``cpu`` or ``cuda``: runs on another kind tell nothing.
    """
    of_model = inventory.table.filter(pc.field("model") == model)
    families: dict[str, list[tuple[float, float]]] = {}
    kinds: dict[Kind, list[tuple[float, float]]] = {}
    names = ("dataset", "seconds", "images_per_second", "numerics")
    columns = (of_model[name].to_pylist() for name in names)
    for dataset, seconds, rate, numerics in zip(*columns, strict=True):
        spec = datasets.get(dataset)
        # Where another process had done all before, nothing was computed and the rate is none.
        if spec is None or not seconds or not rate or f'"device": "{device}"' not in numerics:
            continue
        families.setdefault(spec.family, []).append((rate * seconds, seconds))
        kinds.setdefault(kind_of(spec), []).append((rate * seconds, seconds))
    return Pace(
        {family: _mean(runs) for family, runs in families.items()},
        {kind: _mean(runs) for kind, runs in kinds.items()},
    )


def _mean(runs: list[tuple[float, float]]) -> float:
    """All images over all seconds."""
    return sum(images for images, _ in runs) / sum(seconds for _, seconds in runs)
