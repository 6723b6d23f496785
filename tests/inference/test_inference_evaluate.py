"""An evaluation gives each sample one row, the same bytes every time, and stands for its inputs."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from evaluation_parts import TINY, add_model, bytes_of, made_samples, seal, table_of

from ops.catalog import Catalog, classes
from ops.errors import ShiftlakeError
from ops.inference import PREDICTIONS, evaluate, plan_key, plan_numerics, read_run
from ops.inference.environment import versions
from ops.inference.preprocess import prepare
from ops.inference.schema import SCHEMA_VERSION
from ops.models import load
from ops.shards import ShardDamaged, write_dataset
from ops.storage import Root, paths

NAME = "imagenetv2/matched_frequency"


def test_rows_hold_what_the_model_says(root: Root, catalog: Catalog) -> None:
    manifest = seal(root)
    entry = add_model(root)
    steps: list[tuple[int, int]] = []
    record = evaluate(
        root, catalog, "pooled", NAME, batch_size=4, progress=lambda *step: steps.append(step)
    )
    assert (record.n_expected, record.n_seen, record.n_error) == (20, 20, 0)
    assert [file.rows for file in record.files] == [7, 7, 6]
    assert steps[-1] == (20, 20)
    assert record.synthetic
    table = table_of(root, record)
    assert table.schema.equals(PREDICTIONS)
    rows = table.to_pylist()
    samples = made_samples(NAME, 20, lambda index: [index * 37 % 1000])
    pixels = np.empty((20, 32, 32, 3), np.uint8)
    for sample, place in zip(samples, pixels, strict=True):
        assert prepare(sample.image, TINY, place) is None
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (TINY.mean, TINY.std))
    with torch.inference_mode():
        logits = load(root, entry)((images - mean) / std)
    for row, sample, expected in zip(rows, samples, logits, strict=True):
        label = sample.meta["labels"][0]
        order = expected.argsort(descending=True, stable=True)
        assert row["sample_key"] == sample.key
        assert row["source_key"] == sample.meta["source_key"]
        assert row["labels"] == [label]
        assert row["pred"] == order[0]
        assert row["top5_idx"] == order[:5].tolist()
        assert row["top5_logit"] == pytest.approx(expected[order[:5]].tolist(), rel=1e-4)
        assert row["p_max"] == pytest.approx(float(expected.softmax(0).max()), rel=1e-4)
        assert row["rank_of_label"] == order.tolist().index(label) + 1
        assert row["correct"] == (row["rank_of_label"] == 1)
        assert row["correct5"] == (row["rank_of_label"] <= 5)
        assert (row["pred_masked"], row["correct_masked"], row["masks"]) == (None, None, [])
        assert (row["flipped"], row["top5_distance"], row["zipf_distance"]) == (None, None, None)
        assert (row["status"], row["error"]) == ("ok", None)
        assert row["run_id"] == record.key
        assert row["dataset_version"] == manifest.version


def test_bytes_do_not_depend_on_workers_or_on_the_day(
    root: Root, catalog: Catalog, tmp_path: object
) -> None:
    seal(root)
    add_model(root)
    found = []
    for workers in (1, 2, 1):
        record = evaluate(root, catalog, "pooled", NAME, batch_size=4, workers=workers)
        found.append(bytes_of(root, record))
        root.remove_folder(paths.run(record.model, record.dataset, record.key))
    assert len(found[0]) == 3
    assert found[0] == found[1] == found[2]


def test_a_finished_evaluation_returns_without_its_model(root: Root, catalog: Catalog) -> None:
    seal(root)
    entry = add_model(root)
    first = evaluate(root, catalog, "pooled", NAME)
    assert entry.weights is not None
    root.remove(paths.weights(entry.weights.sha256, entry.weights.suffix))
    assert evaluate(root, catalog, "pooled", NAME) == first


def test_other_weights_other_transform_other_data_are_other_results(
    root: Root, catalog: Catalog
) -> None:
    manifest = seal(root)
    entry = add_model(root)
    numerics = plan_numerics(entry, "cpu")
    key = plan_key(entry, manifest, numerics)
    record = evaluate(root, catalog, "pooled", NAME, device="cpu")
    assert record.key == key
    others = [
        plan_key(add_model(root, kwargs={"outputs": 1000, "seed": 1}), manifest, numerics),
        plan_key(
            add_model(root, transform=TINY.model_copy(update={"interpolation": "bicubic"})),
            manifest,
            numerics,
        ),
        plan_key(entry, manifest, plan_numerics(add_model(root, precision="bf16"), "cpu")),
        plan_key(entry, seal(root, count=21), numerics),
        plan_key(entry, manifest, numerics.model_copy(update={"device": "cuda"})),
        plan_key(entry, manifest, plan_numerics(add_model(root, tf32=True), "cpu")),
        plan_key(entry, manifest, plan_numerics(add_model(root, compiled=True), "cpu")),
        plan_key(entry, manifest, plan_numerics(add_model(root, deterministic=False), "cpu")),
        plan_key(add_model(root, head="sigmoid"), manifest, numerics),
    ]
    assert len({key, *others}) == 10
    assert plan_key(add_model(root, name="renamed"), manifest, numerics) == key
    assert read_run(root, "pooled", NAME, others[0]) is None
    seal(root)
    add_model(root, precision="bf16")
    again = evaluate(root, catalog, "pooled", NAME, device="cpu")
    assert again.key == others[2]
    assert read_run(root, "pooled", NAME, key) == record


def test_the_same_class_name_with_other_weights_is_another_result(
    root: Root, catalog: Catalog
) -> None:
    # A cache that went by the name of the class gave one network the rows of another.
    manifest = seal(root, count=4)
    one = add_model(root, "one", kwargs={"outputs": 1000, "seed": 1})
    other = add_model(root, "other", kwargs={"outputs": 1000, "seed": 2})
    assert one.reference == other.reference
    numerics = plan_numerics(one, "cpu")
    of_weights = other.model_copy(update={"kwargs": one.kwargs})
    assert of_weights.weights != one.weights
    keys = {plan_key(entry, manifest, numerics) for entry in (one, other, of_weights)}
    assert len(keys) == 3
    rows = [table_of(root, evaluate(root, catalog, name, NAME)) for name in ("one", "other")]
    assert rows[0]["top5_logit"] != rows[1]["top5_logit"]


def test_the_record_says_on_what_it_ran(root: Root, catalog: Catalog) -> None:
    seal(root, count=3)
    add_model(root, head="sigmoid", tf32=True)
    record = evaluate(root, catalog, "pooled", NAME, device="cpu", batch_size=2)
    assert (record.schema_version, record.head, record.batch_size) == ("2", "sigmoid", 2)
    assert (record.device_count, record.logit_files) == (1, ())
    assert (record.numerics.tf32, record.numerics.deterministic) == (True, True)
    assert {"torch", "numpy", "pillow", "pyarrow", "python"} <= set(record.versions)
    assert record.versions["torch"] == torch.__version__
    rows = table_of(root, record)
    chances = [1 / (1 + np.exp(-row[0])) for row in rows["top5_logit"].to_pylist()]
    assert rows["p_max"].to_pylist() == pytest.approx(chances)


def test_the_library_of_a_model_is_named_though_another_process_imported_it() -> None:
    of_clip = versions("cpu", "open_clip")
    assert of_clip["open_clip"]
    assert versions("cuda", "callable").keys() >= {"cuda", "cudnn", "driver"}


def test_a_record_of_an_earlier_release_is_still_read(root: Root, catalog: Catalog) -> None:
    seal(root, count=3)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME)
    path = paths.run_record("pooled", NAME, record.key)
    old = root.read_json(path)
    for name in ("schema_version", "head", "batch_size", "device_count", "logit_files"):
        del old[name]
    old["numerics"] = {"dtype": "fp32", "device": "cpu", "tf32": False, "deterministic": True}
    root.write_json(path, old)
    read = read_run(root, "pooled", NAME, record.key)
    assert read is not None
    assert (read.schema_version, read.head, read.logit_files) == ("1", "softmax", ())
    assert read.numerics == record.numerics


def test_an_image_that_cannot_be_decoded_is_a_row_and_a_wrong_answer(
    root: Root, catalog: Catalog
) -> None:
    samples = made_samples("imagenet_a/clean", 9, lambda _: [classes.subset("imagenet_a")[0]])
    whole = samples[4]
    assert whole.image is not None
    samples[4] = dataclasses.replace(whole, image=whole.image[:-30])
    samples[6] = dataclasses.replace(samples[6], image=b"<html>gone</html>")
    write_dataset(root, "imagenet_a/clean", samples, label_space="ilsvrc1000", mask="imagenet_a")
    add_model(root)
    record = evaluate(root, catalog, "pooled", "imagenet_a", batch_size=4)
    assert (record.n_expected, record.n_seen, record.n_error) == (9, 7, 2)
    rows = table_of(root, record).to_pylist()
    for index, row in enumerate(rows):
        if index not in (4, 6):
            assert row["status"] == "ok"
            assert row["pred_masked"] in classes.subset("imagenet_a")
            assert row["masks"][0]["pred"] == row["pred_masked"]
            continue
        assert row["status"] == "decode_error"
        assert row["error"]
        assert (row["correct"], row["correct5"], row["correct_masked"]) == (False, False, False)
        for empty in ("pred", "p_max", "top5_idx", "entropy", "rank_of_label", "pred_masked"):
            assert row[empty] is None
        assert row["masks"] == [
            {
                "mask": "imagenet_a",
                "pred": None,
                "p_max": None,
                "max_logit": None,
                "logsumexp": None,
            }
        ]


def test_a_broken_neighbour_does_not_change_a_row(root: Root, catalog: Catalog) -> None:
    seal(root)
    add_model(root)
    clean = table_of(root, evaluate(root, catalog, "pooled", NAME, batch_size=4)).to_pylist()
    samples = made_samples(NAME, 20, lambda index: [index * 37 % 1000])
    samples[3] = dataclasses.replace(samples[3], image=b"\xff\xd8\xff nothing")
    write_dataset(root, NAME, samples, label_space="ilsvrc1000", per_shard=7)
    broken = table_of(root, evaluate(root, catalog, "pooled", NAME, batch_size=4)).to_pylist()
    for index, (before, after) in enumerate(zip(clean, broken, strict=True)):
        if index != 3:
            assert before["top5_logit"] == after["top5_logit"]


def test_samples_without_a_label_are_neither_right_nor_wrong(root: Root, catalog: Catalog) -> None:
    seal(root, "imagenet_o/clean", 5, lambda _: [], mask="imagenet_o")
    add_model(root)
    table = table_of(root, evaluate(root, catalog, "pooled", "imagenet_o"))
    for column in ("correct", "correct5", "correct_masked", "rank_of_label"):
        assert table[column].null_count == 5
    assert table["p_max_masked"].null_count == 0


def test_frames_keep_their_set_and_offset(root: Root, catalog: Catalog) -> None:
    name = "imagenet_vid_robust/clean"
    seal(
        root, name, 4, lambda i: [i], label_space="imagenet_vid30", frame_set="v1", frame_offset=-3
    )
    add_model(root)
    rows = table_of(root, evaluate(root, catalog, "pooled", name)).to_pylist()
    assert {(row["frame_set"], row["frame_offset"]) for row in rows} == {("v1", -3)}
    assert all(0 <= row["pred"] < 30 for row in rows)


def test_a_short_memory_halves_the_batch_and_changes_no_row(root: Root, catalog: Catalog) -> None:
    seal(root)
    add_model(root)
    add_model(
        root, "short", reference="tiny_networks:ShortOfMemory", kwargs={"outputs": 1000, "fits": 2}
    )
    whole = table_of(root, evaluate(root, catalog, "pooled", NAME, batch_size=7)).to_pylist()
    halved = table_of(root, evaluate(root, catalog, "short", NAME, batch_size=7)).to_pylist()
    for one, other in zip(whole, halved, strict=True):
        assert one["top5_idx"] == other["top5_idx"]
        assert one["top5_logit"] == pytest.approx(other["top5_logit"], rel=1e-5)
    add_model(
        root, "none", reference="tiny_networks:ShortOfMemory", kwargs={"outputs": 1000, "fits": 0}
    )
    with pytest.raises(ShiftlakeError, match="does not fit"):
        evaluate(root, catalog, "none", NAME)


def test_logits_that_are_no_numbers_are_refused_by_name(root: Root, catalog: Catalog) -> None:
    samples = made_samples(NAME, 3, lambda _: [0])
    black = made_black_jpeg()
    samples[1] = dataclasses.replace(samples[1], image=black)
    write_dataset(root, NAME, samples, label_space="ilsvrc1000")
    add_model(root, reference="tiny_networks:Overflowing")
    with pytest.raises(ShiftlakeError, match="no finite numbers") as caught:
        evaluate(root, catalog, "pooled", NAME)
    assert "s00001" in str(caught.value.found)
    # fp32 is what it has, and does not overflow.
    assert "fp16" not in caught.value.remedy
    assert "weights" in caught.value.remedy


def test_what_a_model_says_about_an_undecodable_image_does_not_matter(
    root: Root, catalog: Catalog
) -> None:
    samples = made_samples(NAME, 3, lambda _: [0])
    samples[1] = dataclasses.replace(samples[1], image=b"<html>gone</html>")
    write_dataset(root, NAME, samples, label_space="ilsvrc1000")
    add_model(root, reference="tiny_networks:Overflowing")
    record = evaluate(root, catalog, "pooled", NAME)
    assert (record.n_seen, record.n_error) == (2, 1)


def made_black_jpeg() -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (40, 40)).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_lower_precision_is_recorded_and_close(
    root: Root, catalog: Catalog, precision: str
) -> None:
    seal(root, count=6)
    add_model(root)
    add_model(root, "low", precision=precision)
    full = table_of(root, evaluate(root, catalog, "pooled", NAME)).to_pylist()
    record = evaluate(root, catalog, "low", NAME)
    assert record.numerics.dtype == precision
    low = table_of(root, record).to_pylist()
    largest = [[row["top5_logit"][0] for row in rows] for rows in (low, full)]
    assert largest[0] == pytest.approx(largest[1], rel=0.05, abs=0.2)
    assert largest[0] != largest[1]


def test_a_damaged_shard_is_refused_by_name_and_finished_ones_stay(
    root: Root, catalog: Catalog
) -> None:
    manifest = seal(root)
    entry = add_model(root)
    shard = root.local_path(paths.shard(NAME, manifest.shards[1].name))
    whole = shard.read_bytes()
    at = whole.index(b"\xff\xd8\xff") + 300
    shard.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(ShardDamaged, match=manifest.shards[1].name):
        evaluate(root, catalog, "pooled", NAME, batch_size=4)
    key = plan_key(entry, manifest, plan_numerics(entry))
    done = root.list(paths.run("pooled", NAME, key))
    assert [path.rsplit("/", 1)[1] for path in done] == [
        "failure.json",
        manifest.shards[0].name.replace(".tar", ".parquet"),
    ]
    shard.write_bytes(whole)
    told: list[str] = []
    record = evaluate(root, catalog, "pooled", NAME, batch_size=4, log=told.append)
    assert record.n_seen == 20
    assert any("1 of 3 shards" in line for line in told)


@pytest.mark.parametrize("damage", ["cut", "foreign", "gone"])
def test_a_shard_that_is_not_the_sealed_one_is_refused_by_name(
    root: Root, catalog: Catalog, damage: str
) -> None:
    manifest = seal(root)
    add_model(root)
    first, second = (root.local_path(paths.shard(NAME, s.name)) for s in manifest.shards[:2])
    if damage == "cut":
        second.write_bytes(second.read_bytes()[: second.stat().st_size // 2])
    elif damage == "foreign":
        second.write_bytes(first.read_bytes())
    else:
        second.unlink()
    with pytest.raises(ShiftlakeError, match=second.name):
        evaluate(root, catalog, "pooled", NAME, batch_size=4)
    assert len(root.list(f"predictions/pooled/{NAME}")) == 2


@pytest.mark.parametrize(
    "damage", ["cut", "other key", "other shard", "flipped bit", "not parquet"]
)
def test_a_file_that_is_not_whole_is_made_again(root: Root, catalog: Catalog, damage: str) -> None:
    seal(root)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=4)
    before = bytes_of(root, record)
    folder = paths.run("pooled", NAME, record.key)
    first, second = (f"{folder}/{file.name}" for file in record.files[:2])
    data = root.read_bytes(first)
    if damage == "cut":
        root.write_bytes(first, data[: len(data) // 2])
    elif damage == "other key":
        root.write_bytes(first, data.replace(record.key.encode(), b"0" * 16))
    elif damage == "other shard":
        root.write_bytes(first, root.read_bytes(second))
    elif damage == "flipped bit":
        at = len(data) // 4
        root.write_bytes(first, data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
    else:
        root.write_bytes(first, b"")
    root.remove(paths.run_record("pooled", NAME, record.key))
    assert bytes_of(root, evaluate(root, catalog, "pooled", NAME, batch_size=4)) == before


def test_nothing_in_a_file_tells_when_or_where_it_was_made(root: Root, catalog: Catalog) -> None:
    seal(root, per_shard=20)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME)
    file = root.local_path(f"{paths.run('pooled', NAME, record.key)}/{record.files[0].name}")
    footer = pq.read_schema(file).metadata
    assert footer == {
        b"shiftlake.key": record.key.encode(),
        b"shiftlake.shard_sha256": footer[b"shiftlake.shard_sha256"],
        b"shiftlake.rows": b"20",
        b"shiftlake.schema_version": SCHEMA_VERSION.encode(),
    }
    assert root.url.encode() not in file.read_bytes()
    assert root.url not in json.dumps(record.model_dump(mode="json"))


def test_an_s3_root_gives_the_same_bytes(root: Root, s3_root: Root, catalog: Catalog) -> None:
    found = []
    for place in (root, s3_root):
        seal(place)
        add_model(place)
        record = evaluate(place, catalog, "pooled", NAME, batch_size=4)
        assert evaluate(place, catalog, "pooled", NAME, batch_size=4) == record
        found.append(bytes_of(place, record))
    assert found[0] == found[1]


def test_datasets_without_images_are_refused(root: Root, catalog: Catalog) -> None:
    name = "imagenet_p/translate"
    samples = [
        dataclasses.replace(sample, extension="mp4")
        for sample in made_samples(name, 2, lambda _: [0])
    ]
    write_dataset(root, name, samples, label_space="ilsvrc1000")
    add_model(root)
    with pytest.raises(ShiftlakeError, match="run on images"):
        evaluate(root, catalog, "pooled", name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said_so(root: Root, catalog: Catalog) -> None:
    seal(root)
    add_model(root)
    with pytest.raises(ShiftlakeError, match="no GPU"):
        evaluate(root, catalog, "pooled", NAME, device="cuda")


@pytest.mark.parametrize("wrong", [{"batch_size": 0}, {"workers": 0}])
def test_impossible_numbers_are_refused(
    root: Root, catalog: Catalog, wrong: dict[str, int]
) -> None:
    seal(root)
    add_model(root)
    with pytest.raises(ShiftlakeError, match="at least one"):
        evaluate(root, catalog, "pooled", NAME, **wrong)
