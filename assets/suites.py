"""What a user re-runs and looks at as one thing: the datasets of a benchmark, by partition.

A suite is made of the catalog: the datasets that share a benchmark, cut into partitions where one
of them can be wrong alone (a corruption, a perturbation).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import dagster as dg

from ops.catalog import DatasetSpec, SourceFile, load
from ops.rendering.recipe import RENDERED_LAYOUTS
from ops.results.reference import reference_files


@dataclass(frozen=True)
class Suite:
    """The datasets of a benchmark that are built and evaluated together.

    Parameters
    ----------
    name : str
        Partition key of its predictions, such as ``imagenet_c`` or ``imagenet_1k_val``.
    key : tuple of str
        Asset key of its shards.
    parts : dict of str to tuple of DatasetSpec
        Datasets by partition; the one partition of an unpartitioned suite is ``""``.
    """

    name: str
    key: tuple[str, str]
    parts: dict[str, tuple[DatasetSpec, ...]]

    @property
    def partitioned(self) -> bool:
        """Whether its shards have partitions."""
        return "" not in self.parts

    @property
    def specs(self) -> tuple[DatasetSpec, ...]:
        """All its datasets."""
        return tuple(spec for part in self.parts.values() for spec in part)

    @property
    def rendered(self) -> bool:
        """Whether its images are made here, and not published."""
        return self.specs[0].layout in RENDERED_LAYOUTS

    @property
    def made_here(self) -> bool:
        """Whether it is rendered, or cut out of what is."""
        parents = {name for spec in self.specs for name in spec.derived_from}
        return self.rendered or any(
            suite.rendered
            for suite in suites().values()
            if parents & {spec.name for spec in suite.specs}
        )

    @property
    def on_the_fly(self) -> bool:
        """Whether its images are made as they are read, and nothing but a manifest is stored."""
        return self.rendered and RENDERED_LAYOUTS[self.specs[0].layout][1] == "on_the_fly"

    @property
    def sequences(self) -> bool:
        """Whether its samples are sequences of frames."""
        return "frames" in self.specs[0].parameters

    @property
    def frame_sets(self) -> bool:
        """Whether its samples are frames of videos around anchors."""
        return self.specs[0].layout in ("vid_robust", "ytbb_robust")

    @property
    def derived(self) -> bool:
        """Whether it is made of datasets and not of archives."""
        return bool(self.specs[0].derived_from)

    @property
    def evaluated(self) -> bool:
        """Whether models are run on it."""
        return any(spec.evaluate for spec in self.specs)

    @property
    def partitions(self) -> dg.StaticPartitionsDefinition | None:
        """Partitions of its shards."""
        return dg.StaticPartitionsDefinition(list(self.parts)) if self.partitioned else None

    def datasets(self, partitions: list[str]) -> list[str]:
        """Names of the datasets in some of its partitions."""
        return [spec.name for part in partitions for spec in self.parts[part]]


@cache
def suites() -> dict[str, Suite]:
    """All suites by name, in catalog order."""
    catalog = load()
    conditions = Counter(spec.family for spec in catalog.datasets.values())
    found: dict[str, tuple[tuple[str, str], dict[str, list[DatasetSpec]]]] = {}
    for spec in catalog.datasets.values():
        # Sets that share nothing but a name (splits, samplings) are suites of their own.
        alone = spec.group is None and conditions[spec.family] > 1
        name = f"{spec.family}_{spec.condition}" if alone else spec.family
        form = RENDERED_LAYOUTS.get(spec.layout, ("", "stored"))[1]
        kind = "shards" if form == "stored" else "recipe"
        key = (spec.family, f"{spec.condition}_{kind}" if alone else kind)
        found.setdefault(name, (key, {}))[1].setdefault(spec.group or "", []).append(spec)
    return {
        name: Suite(name, key, {part: tuple(specs) for part, specs in parts.items()})
        for name, (key, parts) in found.items()
    }


@cache
def source_files() -> dict[tuple[str, str], SourceFile]:
    """Every published file a suite is made of, or that holds others' results, by asset key."""
    catalog = load()
    images = {
        source_key(file): file
        for suite in suites().values()
        for spec in suite.specs
        for file in catalog.sources(spec.name)
    }
    return images | reference_sources()


@cache
def reference_sources() -> dict[tuple[str, str], SourceFile]:
    """Every file of results published elsewhere, by asset key."""
    return {source_key(file): file for file in reference_files(load())}


def source_key(file: SourceFile) -> tuple[str, str]:
    """Asset key of a published file."""
    return (file.benchmark.replace("-", "_"), file.id)


def upstream_keys(suite: Suite) -> list[tuple[str, str]]:
    """Asset keys of what a suite's shards are made of."""
    catalog = load()
    keys: dict[tuple[str, str], None] = {}
    for spec in suite.specs:
        for parent in spec.derived_from:
            keys[next(s.key for s in suites().values() if parent in {p.name for p in s.specs})] = (
                None
            )
        # A dataset made of datasets may need a file of its own beside them: frost photographs.
        keys.update(
            {source_key(catalog.file(spec.benchmark, file_id)): None for file_id in spec.files}
        )
        if spec.joined_to:
            joined = spec.joined_to
            keys[next(s.key for s in suites().values() if joined in {p.name for p in s.specs})] = (
                None
            )
    return list(keys)
