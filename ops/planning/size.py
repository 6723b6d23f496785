"""How many bytes the shards of a dataset will take, before there are any."""

from __future__ import annotations

from ops.catalog import Catalog, DatasetSpec
from ops.fetch import read_receipt
from ops.rendering.recipe import RENDERED_LAYOUTS, is_rendered
from ops.shards import has_manifest, read_manifest
from ops.storage import Root

# A sample's label and JSON, and the tar headers and padding of its three members.
_BESIDE_THE_IMAGE = 2_000
# One sample with all that stands beside it, measured on photographs (docs/rendering.md): JPEGs of
# 224 pixels at quality 85, and sequences coded without loss.
_RENDERED = {"rendered_corruption": 13_400, "rendered_perturbation": 2_000_000}


def shard_bytes(root: Root, catalog: Catalog, dataset: str) -> int | None:
    """Bytes of a dataset's shards: as sealed, else about as many as they will be.

    Taken from sealed conditions of the same benchmark; else from the archives, whose bytes are
    copied; else, of what is rendered here, from a measured size of one sample. None where none of
    these is known.
    """
    if has_manifest(root, dataset):
        manifest = read_manifest(root, dataset)
        return 0 if manifest.on_the_fly else manifest.bytes
    spec = catalog.dataset(dataset)
    if is_rendered(spec) and RENDERED_LAYOUTS[spec.layout][1] == "on_the_fly":
        return 0
    each = _each(root, catalog, spec)
    return None if each is None or spec.expected is None else round(each * spec.expected)


def _each(root: Root, catalog: Catalog, spec: DatasetSpec) -> float | None:
    """Bytes of one sample."""
    sealed = [
        read_manifest(root, other.name)
        for other in catalog.datasets.values()
        if other.family == spec.family and has_manifest(root, other.name)
    ]
    samples = sum(manifest.n_samples for manifest in sealed)
    if samples:
        return sum(manifest.bytes for manifest in sealed) / samples
    if is_rendered(spec):
        return _RENDERED.get(spec.layout)
    if spec.derived_from:
        return _each(root, catalog, catalog.dataset(spec.derived_from[0]))
    return _in_archive(root, catalog, spec)


def _in_archive(root: Root, catalog: Catalog, spec: DatasetSpec) -> float | None:
    files = [catalog.file(spec.benchmark, file_id) for file_id in spec.files]
    sizes = []
    for file in files:
        receipt = read_receipt(root, file)
        sizes.append(file.bytes.value if receipt is None else receipt.bytes)
    # An archive may hold several datasets, such as the conditions of a corruption.
    sharing = [
        other.expected for other in catalog.datasets.values() if set(other.files) & set(spec.files)
    ]
    if None in sizes or None in sharing:
        return None
    samples = sum(number for number in sharing if number is not None)
    total = sum(size for size in sizes if size is not None)
    return total / samples + _BESIDE_THE_IMAGE if samples else None
