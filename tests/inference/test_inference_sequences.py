"""Stored sequences: every frame has one row, also those of a video that is broken."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_parts import add_model, bytes_of, made_samples, table_of

from ops import rendering
from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.inference.expected import expected_rows
from ops.inference.tally import tally
from ops.metrics.flips import flips
from ops.metrics.top5_distance import top5_distance
from ops.metrics.zipf_distance import zipf_distance
from ops.models import ModelEntry, Transform, load
from ops.perturbations import video
from ops.results import compute_metrics, connect
from ops.shards import Manifest, Sample, read_manifest, write_dataset
from ops.storage import Root, paths

NAME = "imagenet_p/tilt"
FRAMES = 5
USUAL = Transform()


def sequences(count: int, frames: int = FRAMES, side: int = 224) -> np.ndarray:
    """Sequences in which a bright bar moves across noise of its own."""
    rng = np.random.default_rng(0)
    made = rng.integers(0, 120, (count, 1, 8, 8, 3), dtype=np.uint8)
    made = made.repeat(frames, 1).repeat(side // 8, 2).repeat(side // 8, 3)
    for frame in range(frames):
        made[:, frame, :, 30 * frame : 30 * frame + 30] = 240 - 10 * frame
    return made


def seal_sequences(
    root: Root, videos: list[bytes], per_shard: int = 2, reference: str = "previous"
) -> Manifest:
    samples = [
        Sample(made.key, data, "mp4", None, made.meta)
        for made, data in zip(made_samples(NAME, len(videos), lambda i: [i]), videos, strict=True)
    ]
    manifest = write_dataset(root, NAME, samples, label_space="ilsvrc1000", per_shard=per_shard)
    parameters = {"cropped": 224, "frames": FRAMES, "reference": reference}
    manifest = manifest.model_copy(update={"parameters": parameters})
    root.write_json(paths.manifest(NAME), manifest.model_dump(mode="json"))
    return manifest


def logits_of(root: Root, entry: ModelEntry, pixels: np.ndarray) -> torch.Tensor:
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (USUAL.mean, USUAL.std))
    with torch.inference_mode():
        return load(root, entry)((images - mean) / std)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_every_frame_is_a_row_of_what_the_model_says_about_it(
    root: Root, catalog: Catalog, batch_size: int
) -> None:
    frames = sequences(3)
    manifest = seal_sequences(root, [video.encode(each) for each in frames])
    entry = add_model(root, transform=USUAL)
    steps: list[tuple[int, int]] = []
    record = evaluate(
        root,
        catalog,
        "pooled",
        NAME,
        batch_size=batch_size,
        workers=2,
        progress=lambda *step: steps.append(step),
    )
    assert steps[-1] == (15, 15)
    assert expected_rows(manifest) == record.n_expected == record.n_seen == 15
    assert (record.frames, record.frame_reference) == (FRAMES, "previous")
    assert record.protocol == "stored 224"
    assert [file.rows for file in record.files] == [10, 5]
    rows = table_of(root, record).to_pylist()
    expected = logits_of(root, entry, frames.reshape(-1, 224, 224, 3))
    order = [(f"s{i:05d}", j) for i in range(3) for j in range(FRAMES)]
    assert [row["sample_key"] for row in rows] == [f"{key}/frame_{j:02d}" for key, j in order]
    assert [(row["frame_set"], row["frame_offset"]) for row in rows] == order
    assert [row["source_key"] for row in rows] == [f"photo-{key[-1]}" for key, _ in order]
    assert [row["labels"] for row in rows] == [[int(key[-1])] for key, _ in order]
    for row, logits in zip(rows, expected, strict=True):
        top = logits.sort(descending=True, stable=True)
        assert row["top5_idx"] == top.indices[:5].tolist()
        assert row["top5_logit"] == pytest.approx(top.values[:5].tolist(), rel=1e-4)


@pytest.mark.parametrize("reference", ["previous", "first"])
def test_what_changes_from_frame_to_frame_stands_in_the_row_of_the_later_one(
    root: Root, catalog: Catalog, reference: str
) -> None:
    frames = sequences(3)
    videos = [video.encode(each) for each in frames]
    videos[1] = videos[1][:100]
    seal_sequences(root, videos, reference=reference)
    entry = add_model(root, transform=USUAL)
    rows = table_of(root, evaluate(root, catalog, "pooled", NAME)).to_pylist()
    moved = [(row["flipped"], row["top5_distance"], row["zipf_distance"]) for row in rows]
    assert moved[::FRAMES] == [(None, None, None)] * 3
    # Frames that cannot be read agree with no other, and have no ranking.
    assert moved[FRAMES + 1 : 2 * FRAMES] == [(True, 15, None)] * (FRAMES - 1)
    for sequence in (0, 2):
        logits = logits_of(root, entry, frames[sequence]).numpy()[None]
        zipf = zipf_distance(logits, reference)[0]
        order = np.argsort(-logits, axis=2, kind="stable")[:, :, :5]
        for frame in range(1, FRAMES):
            row = rows[sequence * FRAMES + frame]
            pair = order[:, [0 if reference == "first" else frame - 1, frame]]
            assert row["flipped"] == bool(flips(pair[:, :, 0], "previous")[0])
            assert row["top5_distance"] == top5_distance(pair, "previous")[0]
            assert row["zipf_distance"] == pytest.approx(zipf[frame - 1], rel=1e-6)
    assert len({row["zipf_distance"] for row in rows}) > 2 * (FRAMES - 2)


def test_a_broken_video_is_a_row_a_frame_with_its_reason(root: Root, catalog: Catalog) -> None:
    frames = sequences(6, FRAMES + 1)
    whole = [video.encode(each[:FRAMES]) for each in frames]
    short, long = video.encode(frames[1][: FRAMES - 1]), video.encode(frames[2])
    seal_sequences(root, [whole[0], short, long, whole[3][: len(whole[3]) // 2], b""])
    add_model(root, transform=USUAL)
    record = evaluate(root, catalog, "pooled", NAME)
    assert (record.n_expected, record.n_seen, record.n_error) == (25, 5, 20)
    found = tally(root, record)
    assert (found.rows, found.keys, found.seen) == (25, 25, 5)
    rows = table_of(root, record).to_pylist()
    for row in rows[FRAMES:]:
        assert (row["status"], row["pred"], row["correct"]) == ("decode_error", None, False)
        assert row["error"]
    assert {row["error"] for row in rows[5:10]} == {"4 frames instead of 5"}
    assert {row["error"] for row in rows[10:15]} == {"6 frames instead of 5"}
    # What one broken video is does not change its neighbour.
    seal_sequences(root, whole[:5])
    after = table_of(root, evaluate(root, catalog, "pooled", NAME)).to_pylist()
    assert [row["top5_logit"] for row in after[:5]] == [row["top5_logit"] for row in rows[:5]]


def test_sequences_give_the_same_bytes_and_resume_by_shard(root: Root, catalog: Catalog) -> None:
    seal_sequences(root, [video.encode(each) for each in sequences(3)])
    add_model(root, transform=Transform(resize=40, crop=40))
    record = evaluate(root, catalog, "pooled", NAME, batch_size=7, workers=1)
    before = bytes_of(root, record)
    folder = paths.run("pooled", NAME, record.key)
    root.remove(f"{folder}/{record.files[1].name}")
    told: list[str] = []
    again = evaluate(root, catalog, "pooled", NAME, batch_size=7, workers=2, log=told.append)
    assert bytes_of(root, again) == before
    assert any("1 of 2 shards" in line for line in told)


def test_sequences_of_unknown_length_are_refused(root: Root, catalog: Catalog) -> None:
    manifest = seal_sequences(root, [video.encode(each) for each in sequences(1)])
    manifest = manifest.model_copy(update={"parameters": {}})
    root.write_json(paths.manifest(NAME), manifest.model_dump(mode="json"))
    add_model(root)
    with pytest.raises(ShiftlakeError, match="number of frames"):
        evaluate(root, catalog, "pooled", NAME)


@pytest.mark.parametrize("name", ["rotate", "gaussian_noise_2"])
def test_sequences_on_the_fly_flip_where_the_stored_ones_do(
    root: Root, few: Catalog, photographs: Manifest, name: str
) -> None:
    stored, fly = f"imagenet_p_rendered/{name}", f"imagenet_p_on_the_fly/{name}"
    rendering.render(root, few, [stored, fly])
    add_model(root, transform=USUAL)
    records = [evaluate(root, few, "pooled", dataset) for dataset in (stored, fly)]
    one, other = (table_of(root, record).to_pylist() for record in records)
    assert len(one) == len(other) == expected_rows(read_manifest(root, fly))
    assert expected_rows(read_manifest(root, fly)) == 31 * photographs.n_samples
    same = ("sample_key", "source_key", "frame_set", "frame_offset", "labels", "status", "error")
    for before, now in zip(one, other, strict=True):
        assert [now[key] for key in same] == [before[key] for key in same]
        assert now["top5_logit"] == before["top5_logit"]
    assert [row["status"] for row in other].count("decode_error") == 31
    rows = compute_metrics(root, few).to_pylist()
    flipped = {r["benchmark"]: r["value"] for r in rows if r["metric"] == "flip_probability"}
    assert flipped["imagenet_p_rendered"] == flipped["imagenet_p_on_the_fly"] > 0
    with connect(root) as con:
        reference = con.execute("SELECT DISTINCT frame_reference FROM flips").fetchall()
    assert reference == [("first" if "noise" in name else "previous",)]


def test_every_sequence_of_the_catalog_says_its_frames(catalog: Catalog) -> None:
    for spec in catalog.datasets.values():
        if not spec.family.startswith("imagenet_p"):
            assert "frames" not in spec.parameters, spec.name
            continue
        expected = 41 if spec.group == "translate" else 31
        reference = "first" if "noise" in str(spec.group) else "previous"
        assert spec.parameters["frames"] == expected, spec.name
        assert spec.parameters["reference"] == reference, spec.name
        assert spec.evaluate
