"""The card of an exported MiniImageNet-C, by which Hugging Face `datasets` loads the folder."""

from __future__ import annotations

import json
from collections import Counter
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

METADATA = "metadata.parquet"
BENCHMARKS = ("mini_imagenet_c", "mini_imagenet_c_rendered")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def write_card(root: Root | str, datasets: Sequence[str], folder: Path) -> Path:
    """Write ``README.md`` with the card's YAML header, and ``metadata.parquet`` with a row a file.

    Parameters
    ----------
    root : Root or str
    datasets : sequence of str
        Conditions of one of `BENCHMARKS`, already exported into the folder. Those that were
        exported before stay in the card.
    folder : Path
        The export folder.

    Returns
    -------
    Path
        The card.

    Raises
    ------
    ShiftlakeError
        If the conditions, or those that the folder holds already, are of several benchmarks: the
        published images and rendered ones are different datasets, and no card may stand for both.
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
    kept = _kept(folder, benchmarks[0], {manifest.condition for manifest in manifests})
    rows = [
        {
            "file_name": published_name(manifest, sample),
            "label": sample.cls,
            "corruption_type": sample.meta["corruption"],
            "severity": sample.meta["severity"],
            "version": manifest.version,
        }
        for manifest in manifests
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry)
        # What could not be rendered has no picture to load.
        if sample.meta["format"] is not None
    ]
    table = pa.Table.from_pylist([*kept, *rows], schema=_schema(benchmarks[0]))
    table = table.sort_by("file_name")
    pq.write_table(table, folder / METADATA)
    card = folder / "README.md"
    header = _header(table, folder, rendered=manifests[0].renderer is not None)
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
    card.write_text(f"---\n{text}---\n\n{_body(table, manifests[0])}")
    return card


def _kept(folder: Path, benchmark: str, conditions: set[str]) -> list[dict[str, Any]]:
    """Rows of conditions that were exported into the folder before.

    Raises
    ------
    ShiftlakeError
        If they are of another benchmark.
    """
    path = folder / METADATA
    if not path.exists():
        return []
    table = pq.read_table(path)
    found = (table.schema.metadata or {}).get(b"benchmark", b"unknown").decode()
    if found != benchmark:
        raise ShiftlakeError(
            "The folder holds another export.",
            expected=f"an empty folder, or one of {benchmark}",
            found=f"an export of {found}",
            where=folder,
            remedy="published images and rendered ones are different datasets: "
            "export each into a folder of its own",
        )
    rows: list[dict[str, Any]] = table.to_pylist()
    return [row for row in rows if f"{row['corruption_type']}/{row['severity']}" not in conditions]


def _schema(benchmark: str) -> pa.Schema:
    """Columns of the metadata; a note of Hugging Face's own kind names the classes."""
    names = {"file_name": "string", "label": "int64", "corruption_type": "string"}
    names |= {"severity": "int32", "version": "string"}
    features: dict[str, Any] = {
        name: {"dtype": dtype, "_type": "Value"} for name, dtype in names.items()
    }
    features["label"] = {"names": list(ilsvrc().wnids), "_type": "ClassLabel"}
    return pa.schema(
        [(name, pa.type_for_alias(dtype)) for name, dtype in names.items()],
        metadata={
            "huggingface": json.dumps({"info": {"features": features}}),
            "benchmark": benchmark,
        },
    )


def _header(table: pa.Table, folder: Path, *, rendered: bool) -> dict[str, Any]:
    found = files("ops.shards").joinpath("data/mini_imagenet_c_card.yaml").read_text("utf-8")
    header: dict[str, Any] = yaml.safe_load(found)
    if rendered:
        # The published card's licence is about the published files.
        header["license"] = "other"
    count = table.num_rows
    size = sum((folder / name).stat().st_size for name in table["file_name"].to_pylist())
    header["size_categories"] = [next((s for n, s in _SIZES if count < n), "n>1M")]
    names = {str(index): wnid for index, wnid in enumerate(ilsvrc().wnids)}
    header["dataset_info"] = {
        "features": [
            {"name": "image", "dtype": "image"},
            {"name": "label", "dtype": {"class_label": {"names": names}}},
            {"name": "corruption_type", "dtype": "string"},
            {"name": "severity", "dtype": "int32"},
            {"name": "version", "dtype": "string"},
        ],
        "splits": [{"name": "test", "num_bytes": size, "num_examples": count}],
        "download_size": size,
        "dataset_size": size,
    }
    return header


def _body(table: pa.Table, first: Manifest) -> str:
    renderer = first.renderer
    made = (
        "the JPEGs of the published ImageNet-C"
        if renderer is None
        else f"{renderer['name']} {renderer['version']}, mode {renderer['mode']}, "
        f"seed {renderer['seed']}; these are not the published ImageNet-C's pixels"
    )
    counts = Counter((row["corruption_type"], row["version"]) for row in table.to_pylist())
    lines = [
        "# MiniImageNet-C",
        "",
        f"Severity 5, {first.class_count_max} images of each of {first.n_classes:,} classes and "
        f"corruption, drawn with seed {first.parameters.get('seed')}.",
        "",
        f"Images: {made}. Licence of their source: {first.licence or 'unknown'}",
        *(["", "**Synthetic: drawn by a program, no real images.**"] if first.synthetic else []),
        "",
        "| corruption | images | version |",
        "|---|---|---|",
        *(f"| {name} | {n:,} | {version} |" for (name, version), n in sorted(counts.items())),
        "",
    ]
    return "\n".join(lines)
