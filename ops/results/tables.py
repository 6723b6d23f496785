"""The small tables behind the views, from the seals: one function a table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ops.catalog import classes
from ops.results.columns import columns
from ops.results.currency import Judged
from ops.results.inventory import Inventory

RUNS = columns(
    run_id=pa.string(),
    model=pa.string(),
    dataset=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    dataset_version=pa.string(),
    current=pa.bool_(),
    stale=pa.bool_(),
    stale_reason=pa.string(),
    weights_sha256=pa.string(),
    transform_hash=pa.string(),
    transform=pa.string(),
    # Which of the stored pixels the model saw, and of sequences how many frames there are and
    # what they are compared with.
    protocol=pa.string(),
    frames=pa.int64(),
    frame_reference=pa.string(),
    numerics=pa.string(),
    device=pa.string(),
    device_name=pa.string(),
    device_count=pa.int64(),
    driver=pa.string(),
    tf32=pa.bool_(),
    deterministic=pa.bool_(),
    compiled=pa.bool_(),
    batch_size=pa.int64(),
    head=pa.string(),
    code_version=pa.string(),
    schema_version=pa.string(),
    label_space=pa.string(),
    mask=pa.string(),
    n_expected=pa.int64(),
    n_seen=pa.int64(),
    n_error=pa.int64(),
    n_files=pa.int64(),
    bytes=pa.int64(),
    n_logit_files=pa.int64(),
    # Merged rows of compaction beside the run's own.
    compacted=pa.bool_(),
    started_at=pa.string(),
    ended_at=pa.string(),
    seconds=pa.float64(),
    images_per_second=pa.float64(),
    versions=pa.string(),
    synthetic=pa.bool_(),
)
DATASETS = columns(
    dataset=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    version=pa.string(),
    n_samples=pa.int64(),
    n_failed=pa.int64(),
    n_classes=pa.int64(),
    n_shards=pa.int64(),
    bytes=pa.int64(),
    label_space=pa.string(),
    mask=pa.string(),
    joined_to=pa.string(),
    renderer=pa.string(),
    # published, or how what was rendered here is kept: stored or on_the_fly.
    renderer_form=pa.string(),
    renderer_mode=pa.string(),
    renderer_seed=pa.int64(),
    renderer_version=pa.string(),
    parameters=pa.string(),
    sources=pa.string(),
    licence=pa.string(),
    synthetic=pa.bool_(),
)
MODELS = columns(
    model=pa.string(),
    kind=pa.string(),
    reference=pa.string(),
    revision=pa.string(),
    kwargs=pa.string(),
    weights_sha256=pa.string(),
    weights_bytes=pa.int64(),
    parameters=pa.int64(),
    transform=pa.string(),
    label_space=pa.string(),
    head=pa.string(),
    precision=pa.string(),
    tf32=pa.bool_(),
    deterministic=pa.bool_(),
    compiled=pa.bool_(),
    # Whether it is an AlexNet that the errors of other models are divided by.
    normaliser=pa.bool_(),
    synthetic=pa.bool_(),
    fine_tuned_on=pa.list_(pa.string()),
    note=pa.string(),
)
SOURCES = columns(
    benchmark=pa.string(),
    file=pa.string(),
    name=pa.string(),
    url=pa.string(),
    bytes=pa.int64(),
    md5=pa.string(),
    sha1=pa.string(),
    sha256=pa.string(),
    fetched_at=pa.string(),
    verified_by=pa.list_(pa.string()),
    attempts=pa.int64(),
)
CLASS_LISTS = columns(
    list=pa.string(),
    position=pa.int16(),
    class_index=pa.int16(),
    wnid=pa.string(),
    name=pa.string(),
    ilsvrc_indices=pa.list_(pa.int16()),
)


def runs_table(judged: Judged) -> pa.Table:
    """Every sealed run: what it was made of, and whether it is current or stale, and why."""
    table, reasons = judged.table, pa.array(judged.reasons, pa.string())
    stale = pc.not_equal(reasons, "")
    numerics = [json.loads(text) for text in table["numerics"].unique().to_pylist()]
    own = dict(zip(table["numerics"].unique().to_pylist(), numerics, strict=True))
    told = [own[text] for text in table["numerics"].to_pylist()]
    drivers = {
        text: (json.loads(text) or {}).get("driver")
        for text in table["versions"].unique().to_pylist()
    }
    found = {
        "current": pa.array(judged.current, pa.bool_()),
        "stale": stale,
        "stale_reason": pc.if_else(stale, reasons, None),
        "device": pa.array([each.get("device") for each in told], pa.string()),
        "driver": pa.array([drivers[text] for text in table["versions"].to_pylist()], pa.string()),
        **{
            name: pa.array([each.get(name) for each in told], pa.bool_())
            for name in ("tf32", "deterministic", "compiled")
        },
        "n_files": pc.list_value_length(table["files"]),
        "n_logit_files": pc.list_value_length(table["logit_files"]),
        "bytes": pa.array(_bytes(table["files"]), pa.int64()),
        "compacted": table["parts"].is_valid(),
    }
    columns = [found[name] if name in found else table[name] for name in RUNS.names]
    return pa.Table.from_arrays(
        [column.cast(field.type) for column, field in zip(columns, RUNS, strict=True)], schema=RUNS
    )


def _bytes(files: pa.ChunkedArray) -> NDArray[np.int64]:
    """Bytes of the files of each run."""
    lists = files.combine_chunks()
    owner = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    sizes = pc.struct_field(lists.flatten(), "bytes").to_numpy(zero_copy_only=False)
    return np.bincount(owner, weights=sizes, minlength=len(lists)).astype(np.int64)


def datasets_table(inventory: Inventory) -> pa.Table:
    """Every sealed dataset, from its manifest."""
    rows = [
        {
            **manifest,
            "dataset": manifest["name"],
            "n_shards": len(manifest["shards"]),
            "bytes": sum(shard["bytes"] for shard in manifest["shards"]),
            "renderer": _text(manifest.get("renderer")),
            **_renderer(manifest.get("renderer")),
            "parameters": _text(manifest.get("parameters")),
            "sources": _text(manifest.get("sources")),
        }
        for _, manifest in sorted(inventory.manifests.items())
    ]
    return _table(rows, DATASETS)


def _renderer(renderer: dict[str, Any] | None) -> dict[str, Any]:
    if renderer is None:
        return {"renderer_form": "published"}
    version = renderer.get("version")
    return {
        "renderer_form": renderer.get("form", "stored"),
        "renderer_mode": renderer.get("mode"),
        "renderer_seed": renderer.get("seed"),
        "renderer_version": None if version is None else str(version),
    }


def models_table(inventory: Inventory) -> pa.Table:
    """Every registered model."""
    rows = []
    for name, entry in sorted(inventory.models.items()):
        weights = entry.get("weights") or {}
        rows.append(
            {
                **entry,
                "model": name,
                "kwargs": _text(entry.get("kwargs")),
                "transform": _text(entry.get("transform")),
                "weights_sha256": weights.get("sha256"),
                "weights_bytes": weights.get("bytes"),
            }
        )
    return _table(rows, MODELS)


def sources_table(inventory: Inventory) -> pa.Table:
    """Every verified published file, from its receipt."""
    return _table(inventory.receipts, SOURCES)


def class_lists_table() -> pa.Table:
    """ILSVRC's 1,000 classes, its three subsets (each its own list), and the video classes.

    `position` is the index inside the list, `class_index` the index in the label space of the
    predictions.
    """
    ilsvrc = classes.ilsvrc()

    def row(name: str, position: int, index: int) -> dict[str, Any]:
        own = {"wnid": ilsvrc.wnids[index], "name": ilsvrc.names[index]}
        return {"list": name, "position": position, "class_index": index, **own}

    rows = [row("ilsvrc1000", index, index) for index in range(len(ilsvrc.wnids))]
    for mask in classes.MASKS:
        rows += [row(mask, position, index) for position, index in enumerate(classes.subset(mask))]
    for space in classes.VIDEO_LABEL_SPACES:
        video = classes.video(space)
        members = zip(video.names, video.wnids, video.ilsvrc_indices, strict=True)
        rows += [
            {
                "list": space,
                "position": index,
                "class_index": index,
                "wnid": wnid,
                "name": name,
                "ilsvrc_indices": indices,
            }
            for index, (name, wnid, indices) in enumerate(members)
        ]
    return _table(rows, CLASS_LISTS)


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(
        [{name: row.get(name) for name in schema.names} for row in rows], schema=schema
    )


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True)
