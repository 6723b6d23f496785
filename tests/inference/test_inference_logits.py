"""Logits are kept where they are asked for, and only there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from evaluation_parts import add_model, bytes_of, made_samples, seal, table_of

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import RunRecord, evaluate, read_logits, read_run
from ops.shards import write_dataset
from ops.storage import Root, paths

NAME = "imagenetv2/matched_frequency"


def all_logits(root: Root, record: RunRecord) -> tuple[list[str], np.ndarray]:
    parts = list(read_logits(root, record))
    return [key for keys, _ in parts for key in keys], np.concatenate([rows for _, rows in parts])


def logit_bytes(root: Root, record: RunRecord) -> dict[str, bytes]:
    folder = paths.logits(record.model, record.dataset, record.key)
    return {file.name: root.read_bytes(f"{folder}/{file.name}") for file in record.logit_files}


def test_logits_are_what_the_model_says_of_each_row(root: Root, catalog: Catalog) -> None:
    samples = made_samples(NAME, 10, lambda index: [index])
    samples[4] = dataclasses.replace(samples[4], image=b"<html>gone</html>")
    write_dataset(root, NAME, samples, label_space="ilsvrc1000", per_shard=4)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=3, logits=True)
    assert [file.rows for file in record.logit_files] == [4, 4, 2]
    rows = table_of(root, record).to_pylist()
    keys, logits = all_logits(root, record)
    assert keys == [row["sample_key"] for row in rows]
    assert (logits.dtype, logits.shape) == (np.float16, (10, 1000))
    assert np.isnan(logits[4]).all()
    for row, values in zip(rows, logits, strict=True):
        if row["status"] == "ok":
            kept = values[row["top5_idx"]]
            assert np.array_equal(kept, np.array(row["top5_logit"], np.float32).astype(np.float16))
            assert values.max() == kept[0]
    folder = paths.logits("pooled", NAME, record.key)
    table = pq.read_table(root.local_path(f"{folder}/{record.logit_files[1].name}"))
    assert table.column_names == ["sample_key", "logits"]
    assert table["logits"].null_count == 1


def test_of_a_video_benchmark_the_outputs_themselves_are_kept(root: Root, catalog: Catalog) -> None:
    name = "imagenet_vid_robust/clean"
    seal(root, name, 4, lambda i: [i], label_space="imagenet_vid30", frame_set="v", frame_offset=0)
    add_model(root)
    record = evaluate(root, catalog, "pooled", name, logits=True)
    assert all_logits(root, record)[1].shape == (4, 1000)
    assert max(row for own in table_of(root, record)["top5_idx"].to_pylist() for row in own) < 30


def test_rows_and_key_are_the_same_with_logits_and_without(root: Root, catalog: Catalog) -> None:
    seal(root)
    add_model(root)
    without = evaluate(root, catalog, "pooled", NAME, batch_size=4)
    before = bytes_of(root, without)
    assert without.logit_files == ()
    with pytest.raises(ShiftlakeError, match="kept no logits"):
        next(read_logits(root, without))
    record = evaluate(root, catalog, "pooled", NAME, batch_size=4, logits=True)
    assert record.key == without.key
    assert (record.files, bytes_of(root, record)) == (without.files, before)
    assert len(record.logit_files) == 3
    # Who does not ask for them keeps them.
    assert evaluate(root, catalog, "pooled", NAME, batch_size=4) == record


@pytest.mark.parametrize("damage", ["lost", "cut", "of another shard"])
def test_a_shard_is_finished_only_with_the_logits_that_are_asked_for(
    root: Root, catalog: Catalog, damage: str
) -> None:
    seal(root)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=4, logits=True)
    rows, logits = bytes_of(root, record), logit_bytes(root, record)
    folder = paths.logits("pooled", NAME, record.key)
    first, second, last = (f"{folder}/{file.name}" for file in record.logit_files)
    if damage == "lost":
        root.remove(last)
    elif damage == "cut":
        root.write_bytes(last, logits[record.logit_files[2].name][:-100])
    else:
        root.write_bytes(last, root.read_bytes(first))
    with pytest.raises(ShiftlakeError, match="not those that were recorded"):
        list(read_logits(root, record))
    untouched = [root.local_path(path).stat().st_mtime_ns for path in (first, second)]
    done: list[int] = []
    again = evaluate(
        root,
        catalog,
        "pooled",
        NAME,
        batch_size=4,
        logits=True,
        progress=lambda images, _: done.append(images),
    )
    assert done == [18, 20]
    assert (bytes_of(root, again), logit_bytes(root, again)) == (rows, logits)
    assert [root.local_path(path).stat().st_mtime_ns for path in (first, second)] == untouched


def test_rows_made_again_do_not_forget_the_logits(root: Root, catalog: Catalog) -> None:
    seal(root)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME, logits=True)
    folder = paths.run("pooled", NAME, record.key)
    root.remove(f"{folder}/run.json")
    assert evaluate(root, catalog, "pooled", NAME).logit_files == record.logit_files
    # Of some shards only there is no whole to speak of.
    root.remove(f"{folder}/run.json")
    root.remove(f"{folder}/logits/{record.logit_files[0].name}")
    assert evaluate(root, catalog, "pooled", NAME).logit_files == ()
    assert read_run(root, "pooled", NAME, record.key) is not None


def test_what_is_too_large_for_float16_is_the_largest_one(root: Root, catalog: Catalog) -> None:
    seal(root, count=2)
    entry = add_model(
        root, kwargs={"outputs": 1000, "scale": 1e6}, reference="tiny_networks:Scaled"
    )
    assert entry.weights is not None
    _, logits = all_logits(root, evaluate(root, catalog, "pooled", NAME, logits=True))
    assert np.isfinite(logits).all()
    assert logits.max() == torch.finfo(torch.float16).max
