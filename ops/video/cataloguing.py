"""Datasets that people mined and reviewed themselves, beside those the catalog knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.catalog.benchmark import Benchmark
from ops.catalog.dataset import DatasetSpec
from ops.shards.manifest import DatasetMissing, Manifest, read_manifest
from ops.storage import Root, open_root, paths
from ops.video.datasets import MINED, REVIEWED

if TYPE_CHECKING:
    from ops.catalog import Catalog

_BENCHMARKS = {
    MINED: Benchmark(id="frame-sets", name="Frame sets mined from videos of your own"),
    REVIEWED: Benchmark(id="reviewed-frame-sets", name="Frame sets that people have reviewed"),
}


def catalogued(root: Root | str, catalog: Catalog) -> Catalog:
    """The catalog with every dataset of frame sets that is sealed in the lake.

    What is upstream is known beforehand; what somebody mines is known from its manifest.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog

    Returns
    -------
    Catalog
        The same one where nothing was mined.
    """
    root = open_root(root)
    specs = {
        name: _spec(manifest)
        for family in (MINED, REVIEWED)
        for name, manifest in _sealed(root, family).items()
        if name not in catalog.datasets
    }
    if not specs:
        return catalog
    families = dict.fromkeys(spec.family for spec in specs.values())
    own = {_BENCHMARKS[family].id: _BENCHMARKS[family] for family in families}
    return catalog.model_copy(
        update={
            "benchmarks": own | catalog.benchmarks,
            "datasets": catalog.datasets | specs,
        }
    )


def _sealed(root: Root, family: str) -> dict[str, Manifest]:
    found = {}
    for path in root.list(paths.dataset(family)):
        name = path.removeprefix(paths.dataset("")).removesuffix("/manifest.json")
        if path == paths.manifest(name):
            try:
                found[name] = read_manifest(root, name)
            except DatasetMissing:
                # Damaged, or removed meanwhile: whoever names it is told so.
                continue
    return found


def _spec(manifest: Manifest) -> DatasetSpec:
    mined = manifest.benchmark == MINED
    what = (
        "every frame that was mined, whatever a review says of it"
        if mined
        else f"the frames that reviewers accepted; {manifest.joined_to} holds the pictures"
    )
    return DatasetSpec(
        name=manifest.name,
        benchmark=_BENCHMARKS[manifest.benchmark].id,
        layout="mined" if mined else "reviewed",
        parameters=manifest.parameters,
        label_space=manifest.label_space,
        mask=manifest.mask,
        joined_to=manifest.joined_to,
        expected=manifest.n_samples,
        evaluate=mined,
        synthetic=manifest.synthetic,
        description=f"Frame sets out of the video source {manifest.condition}: {what}.",
    )
