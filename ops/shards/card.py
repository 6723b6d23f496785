"""The card of an exported MiniImageNet-C, by which Hugging Face `datasets` loads the folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ops.catalog.classes import ilsvrc
from ops.errors import ShiftlakeError
from ops.shards.export import published_name
from ops.shards.manifest import Manifest, read_manifest
from ops.shards.reader import read_shard
from ops.storage import Root, open_root

BENCHMARKS = ("mini_imagenet_c", "mini_imagenet_c_rendered")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def write_card(root: Root | str, datasets: Sequence[str], folder: Path) -> Path:
    """Write ``README.md`` with the card's YAML header, and ``metadata.parquet`` with a row a file.

    Parameters
    ----------
    root : Root or str
    datasets : sequence of str
        Conditions of one of `BENCHMARKS`, already exported into the folder.
    folder : Path
        The export folder.

    Returns
    -------
    Path
        The card.

    Raises
    ------
    ShiftlakeError
        If the conditions are of several benchmarks: the published images and rendered ones are
        different datasets, and no card may stand for both.
    """
    root = open_root(root)
    manifests = [read_manifest(root, name) for name in datasets]
    benchmarks = sorted({manifest.benchmark for manifest in manifests})
    if len(benchmarks) != 1 or benchmarks[0] not in BENCHMARKS:
        raise ShiftlakeError(
            "No card can be written for these datasets.",
            expected=f"conditions of one of {', '.join(BENCHMARKS)}",
            found=", ".join(benchmarks) or "none",
            where=folder,
            remedy="export each benchmark into a folder of its own",
        )
    rows = [
        {
            "file_name": published_name(manifest, sample),
            "label": sample.cls,
            "corruption_type": sample.meta["corruption"],
            "severity": sample.meta["severity"],
        }
        for manifest in manifests
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry)
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=_schema()), folder / "metadata.parquet")
    card = folder / "README.md"
    text = yaml.safe_dump(_header(manifests), sort_keys=False, allow_unicode=True, width=100)
    card.write_text(f"---\n{text}---\n\n{_body(manifests)}")
    return card


def _schema() -> pa.Schema:
    """Columns of the metadata; a note of Hugging Face's own kind names the classes."""
    plain = [("file_name", "string"), ("label", "int64"), ("corruption_type", "string")]
    features = {name: {"dtype": dtype, "_type": "Value"} for name, dtype in plain}
    features["label"] = {"names": list(ilsvrc().wnids), "_type": "ClassLabel"}  # type: ignore[dict-item]
    features["severity"] = {"dtype": "int32", "_type": "Value"}
    fields = [*plain, ("severity", "int32")]
    return pa.schema(
        [(name, pa.type_for_alias(dtype)) for name, dtype in fields],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )


def _header(manifests: Sequence[Manifest]) -> dict[str, Any]:
    found = files("ops.shards").joinpath("data/mini_imagenet_c_card.yaml").read_text("utf-8")
    header: dict[str, Any] = yaml.safe_load(found)
    count = sum(manifest.n_samples for manifest in manifests)
    size = sum(manifest.bytes for manifest in manifests)
    header["size_categories"] = [next((s for n, s in _SIZES if count < n), "n>1M")]
    names = {str(index): wnid for index, wnid in enumerate(ilsvrc().wnids)}
    header["dataset_info"] = {
        "features": [
            {"name": "image", "dtype": "image"},
            {"name": "label", "dtype": {"class_label": {"names": names}}},
            {"name": "corruption_type", "dtype": "string"},
            {"name": "severity", "dtype": "int32"},
        ],
        "splits": [{"name": "test", "num_bytes": size, "num_examples": count}],
        "download_size": size,
        "dataset_size": size,
    }
    return header


def _body(manifests: Sequence[Manifest]) -> str:
    first = manifests[0]
    renderer = first.renderer
    made = (
        "the JPEGs of the published ImageNet-C"
        if renderer is None
        else f"{renderer['name']} {renderer['version']}, mode {renderer['mode']}, "
        f"seed {renderer['seed']}; these are not the published ImageNet-C's pixels"
    )
    lines = [
        "# MiniImageNet-C",
        "",
        f"Severity 5 of {len(manifests)} corruptions, {first.class_count_max} images of each of "
        f"{first.n_classes:,} classes and corruption, drawn with seed "
        f"{first.parameters.get('seed')}.",
        "",
        f"Images: {made}.",
        *(["", "**Synthetic: drawn by a program, no real images.**"] if first.synthetic else []),
        "",
        "| corruption | images | version |",
        "|---|---|---|",
        *(f"| {m.condition} | {m.n_samples:,} | {m.version} |" for m in manifests),
        "",
    ]
    return "\n".join(lines)
