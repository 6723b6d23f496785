"""The whole catalog, and finding things in it. How it is put together is in ``loading``."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import Field

from ops.catalog.benchmark import Benchmark, SourceFile
from ops.catalog.dataset import DatasetSpec
from ops.catalog.facts import Quirk, Record
from ops.errors import ShiftlakeError


class Catalog(Record):
    """Everything known upstream, and the datasets made of it.

    Attributes
    ----------
    benchmarks : dict of str to Benchmark
        By id, in catalog order.
    datasets : dict of str to DatasetSpec
        By name, in catalog order.
    label_spaces : dict of str to int
        Number of classes of each label space.
    quirks : tuple of Quirk
        What holds for every file.
    statuses : dict of str to str
        What the status of a fact means.
    """

    benchmarks: dict[str, Benchmark]
    datasets: dict[str, DatasetSpec]
    label_spaces: dict[str, int]
    quirks: tuple[Quirk, ...] = ()
    statuses: dict[str, str] = Field(default_factory=dict)

    def benchmark(self, name: str) -> Benchmark:
        """Benchmark by id (``imagenet-c``) or by the first part of its datasets (``imagenet_c``).

        Raises
        ------
        ShiftlakeError
            If there is none; the message names the nearest.
        """
        if name in self.benchmarks:
            return self.benchmarks[name]
        for spec in self.datasets.values():
            if spec.family == name:
                return self.benchmarks[spec.benchmark]
        raise _not_found("benchmark", name, self.benchmarks)

    def file(self, benchmark: str, file_id: str) -> SourceFile:
        """File by benchmark and id; where it is the same as another file, that one.

        Raises
        ------
        ShiftlakeError
            If there is none; the message names the nearest.
        """
        files = {file.id: file for file in self.benchmark(benchmark).files}
        if file_id not in files:
            raise _not_found(f"file of {benchmark}", file_id, files)
        found = files[file_id]
        return self.file(*found.same_as.split("/", 1)) if found.same_as else found

    def source_files(self) -> tuple[SourceFile, ...]:
        """Every file once, in catalog order."""
        return tuple(
            file
            for benchmark in self.benchmarks.values()
            for file in benchmark.files
            if not file.same_as
        )

    def dataset(self, name: str) -> DatasetSpec:
        """Dataset by name; the benchmark alone is enough where it has just one condition.

        Raises
        ------
        ShiftlakeError
            If there is none, or several; the message names the nearest.
        """
        if name in self.datasets:
            return self.datasets[name]
        conditions = [spec for spec in self.datasets.values() if spec.family == name]
        if len(conditions) == 1:
            return conditions[0]
        if conditions:
            shown = [spec.name for spec in conditions[:4]]
            raise ShiftlakeError(
                "The name stands for several datasets.",
                expected=f"one of {len(conditions)}: {', '.join(shown)}"
                + (", …" if len(conditions) > len(shown) else ""),
                found=name,
                where="the catalog",
                remedy="name the condition, too",
            )
        families = dict.fromkeys(spec.family for spec in self.datasets.values())
        raise _not_found("dataset", name, [*families, *self.datasets])

    def sources(self, dataset: str, *, optional: bool = False) -> tuple[SourceFile, ...]:
        """Files that `dataset` is built from, through the datasets it is derived from.

        Parameters
        ----------
        dataset : str
        optional : bool
            Whether to add the files that only serve as a cross-check.
        """
        spec = self.dataset(dataset)
        ids = (*spec.files, *(spec.optional_files if optional else ()))
        files = [self.file(spec.benchmark, file_id) for file_id in ids]
        for parent in spec.derived_from:
            files += self.sources(parent, optional=optional)
        return tuple({(file.benchmark, file.id): file for file in files}.values())


def _not_found(kind: str, name: str, choices: Iterable[str]) -> ShiftlakeError:
    known = list(choices)
    near = get_close_matches(name, known, 3, 0.5)
    return ShiftlakeError(
        f"The catalog has no such {kind}.",
        expected=f"perhaps {', '.join(near)}" if near else f"one of {', '.join(known[:25])}",
        found=name,
        where="the catalog",
        remedy="correct the name, or add it with an overlay (SHIFTLAKE_CATALOG)",
    )
