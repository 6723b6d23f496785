"""Truths about sealed shards, each a blocking check that can be run again on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.suites import Suite
from ops.catalog import Catalog, DatasetSpec, classes
from ops.errors import ShiftlakeError
from ops.shards import Manifest, Verified, histogram_hash, read_manifest, verify
from ops.storage import Root


@dataclass(frozen=True)
class Verdict:
    """What a check found for one partition of a suite."""

    suite: Suite
    partition: str
    name: str
    problems: list[str]
    metadata: dict[str, Any]

    def result(self) -> dg.AssetCheckResult:
        """As the outcome of a check step."""
        return dg.AssetCheckResult(
            asset_key=list(self.suite.key),
            check_name=self.name,
            passed=not self.problems,
            metadata=self._metadata(),
            description=self.problems[0] if self.problems else None,
        )

    def evaluation(self) -> dg.AssetCheckEvaluation:
        """As an event that the building step itself records for one of many partitions."""
        return dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(list(self.suite.key)),
            check_name=self.name,
            passed=not self.problems,
            metadata=self._metadata(),
            description=self.problems[0] if self.problems else None,
            blocking=True,
            partition=self.partition,
        )

    def _metadata(self) -> dict[str, Any]:
        text = "\n".join(f"- {problem}" for problem in self.problems[:50])
        return {**self.metadata, **({"problems": dg.MetadataValue.md(text)} if text else {})}


@dataclass(frozen=True)
class Survey:
    """One dataset as the catalog states it, as it was sealed, and as it was read just now."""

    spec: DatasetSpec
    n_classes: int
    manifest: Manifest
    read: Verified


Check = Callable[[Survey], tuple[list[str], dict[str, int]]]


def check_partition(
    root: Root, catalog: Catalog, suite: Suite, partition: str, names: Iterable[str]
) -> Iterator[Verdict]:
    """Read a partition's datasets once and judge them; an error is a finding, not a crash."""
    surveys: list[Survey] = []
    broken: list[str] = []
    for planned in suite.parts[partition]:
        spec = catalog.dataset(planned.name)
        try:
            manifest = read_manifest(root, spec.name)
            read = verify(root, spec.name, hash=True)
            surveys.append(Survey(spec, catalog.label_spaces[spec.label_space], manifest, read))
        except ShiftlakeError as error:
            broken.append(f"{spec.name}: {error}")
    from ops.video.published_checks import check_published

    of_frames: dict[str, dict[str, tuple[list[str], dict[str, int]]]] = {}
    for name in names:
        problems = list(broken)
        totals: Counter[str] = Counter()
        for survey in surveys:
            if name in FRAME_CHECKS:
                dataset = survey.spec.name
                if dataset not in of_frames:
                    of_frames[dataset] = check_published(root, dataset)
                found, numbers = of_frames[dataset][name]
            else:
                found, numbers = CHECKS[name][1](survey)
            problems += [f"{survey.spec.name}: {problem}" for problem in found]
            totals.update(numbers)
        yield Verdict(suite, partition, name, problems, dict(totals))


def check_specs(suite: Suite) -> list[dg.AssetCheckSpec]:
    """Specs of all checks of a suite."""
    return [
        dg.AssetCheckSpec(
            name,
            asset=list(suite.key),
            blocking=True,
            description=description,
            partitions_def=suite.partitions,
        )
        for name, description in checks_of(suite).items()
    ]


def checks_of(suite: Suite) -> dict[str, str]:
    """Names of all checks of a suite, and what each says."""
    every = {name: description for name, (description, _) in CHECKS.items()}
    return every | FRAME_CHECKS if suite.frame_sets else every


def _counts(survey: Survey) -> tuple[list[str], dict[str, int]]:
    manifest = survey.manifest
    in_shards = sum(entry.n_samples for entry in manifest.shards)
    problems = _differ("samples", survey.spec.expected, manifest.n_samples)
    problems += _differ("samples in its shards", manifest.n_samples, in_shards)
    return problems, {"samples": manifest.n_samples, "unreadable": manifest.n_failed}


def _label_histogram(survey: Survey) -> tuple[list[str], dict[str, int]]:
    spec, read = survey.spec, survey.read.histogram or {}
    problems = _differ("classes", spec.expected_classes, len(read)) if read else []
    if spec.per_class is not None:
        uneven = {label: n for label, n in read.items() if n != spec.per_class}
        problems += _differ(f"classes without {spec.per_class} samples", 0, len(uneven))
    allowed = set(classes.subset(spec.mask)) if spec.mask else range(survey.n_classes)
    if strange := sorted(label for label in read if label not in allowed):
        problems.append(f"labels outside its classes: {strange[:10]}")
    if histogram_hash(read) != survey.manifest.label_histogram_sha256:
        problems.append("the labels in the shards are not those that were sealed")
    return problems, {"classes": len(read), "labels": sum(read.values())}


def _hashes(survey: Survey) -> tuple[list[str], dict[str, int]]:
    return list(survey.read.problems), {
        "shards": survey.read.n_shards,
        "bytes": survey.read.bytes,
    }


def _exactly_once(survey: Survey) -> tuple[list[str], dict[str, int]]:
    keys = survey.read.n_keys or 0
    return _differ("different keys", survey.manifest.n_samples, keys), {"keys": keys}


CHECKS: dict[str, tuple[str, Check]] = {
    "counts": ("As many samples as the catalog expects.", _counts),
    "label_histogram": ("Classes and samples of each class are the expected.", _label_histogram),
    "hashes": ("Every shard has the sha256 that was sealed.", _hashes),
    "exactly_once": ("Every sample key stands in the shards exactly once.", _exactly_once),
}


FRAME_CHECKS = {
    "within_k": "Every neighbour lies within k frames of its anchor, which is there once.",
    "one_video": "No frame set holds a frame of another video.",
    "decodes": "Every frame decodes.",
}


def _differ(what: str, expected: int | None, found: int) -> list[str]:
    if expected is None or expected == found:
        return []
    return [f"{what}: expected {expected:,}, found {found:,}"]
