"""What upstream really ships, in small excerpts that lie beside some checkouts."""

import json
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ops.catalog import load
from ops.fetch import fetch
from ops.inference import prepare
from ops.models import Transform
from ops.shards import build, read_manifest, read_shard
from ops.storage import open_root

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no published samples beside us")
UNKNOWN = {"md5": None, "sha1": None, "sha256": None, "bytes": None}


def sealed(tmp_path, benchmark, file, archive, dataset, **expected):
    (tmp_path / "overlay.json").write_text(
        json.dumps(
            {
                "benchmarks": [
                    {"id": benchmark, "files": [{"id": file, "url": archive.as_uri(), **UNKNOWN}]}
                ],
                "datasets": {dataset: expected},
            }
        )
    )
    catalog, root = load(str(tmp_path / "overlay.json")), open_root(tmp_path / "lake")
    fetch(root, catalog.file(benchmark, file))
    build(root, catalog, dataset)
    manifest = read_manifest(root, dataset)
    return manifest, [s for entry in manifest.shards for s in read_shard(root, manifest, entry)]


def test_reals_published_lists_keep_their_counts_and_offset(tmp_path):
    published = json.loads((SAMPLES / "real.json").read_text())
    manifest, samples = sealed(
        tmp_path,
        "imagenet-real",
        "imagenet_real_json",
        SAMPLES / "real.json",
        "imagenet_real/clean",
    )
    lengths = Counter(len(sample.meta["labels"]) for sample in samples)
    assert manifest.n_samples == 50_000
    assert lengths[0] == 3_163
    assert sum(n for length, n in lengths.items() if length) == 46_837
    assert sum(length * n for length, n in lengths.items()) == 57_553
    first = samples[1]
    assert first.key == "ILSVRC2012_val_00000002"
    assert first.meta["labels"] == published[1] == [970, 795]


def test_a_published_frame_set_keeps_its_frames_offsets_and_labels(tmp_path):
    folder = SAMPLES / "vid"
    archive = tmp_path / "imagenet_vid_ytbb_robust.tar.gz"
    top = "imagenet_vid_ytbb_robust/imagenet-vid-robust"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("pmsets", "labels"):
            tar.add(folder / f"{name}.json", f"{top}/metadata/{name}.json")
        for frame in sorted(folder.glob("*.JPEG")):
            tar.add(frame, f"{top}/val/ILSVRC2015_val_00000000/{frame.name}")
    manifest, samples = sealed(
        tmp_path,
        "imagenet-vid-robust",
        "imagenet_vid_ytbb_robust_tar",
        archive,
        "imagenet_vid_robust/clean",
        expected=21,
        expected_classes=1,
    )
    assert [sample.meta["frame_offset"] for sample in samples] == list(range(-10, 11))
    assert {sample.meta["frame_set"] for sample in samples} == {"ILSVRC2015_val_00000000/000442"}
    assert all(sample.meta["labels"] == [26] for sample in samples)
    anchor = samples[10]
    assert anchor.image == (folder / "000442.JPEG").read_bytes()
    assert manifest.n_failed == 0


@pytest.mark.parametrize("folder", ["imagenet_a", "imagenetv2", "ytbb"])
def test_published_photographs_decode_to_what_a_model_takes(folder):
    transform = Transform(resize=256, crop=224, interpolation="bilinear")
    photographs = [path for path in (SAMPLES / folder).iterdir() if path.suffix != ".json"]
    assert photographs
    for path in photographs:
        pixels = np.zeros((224, 224, 3), np.uint8)
        assert prepare(path.read_bytes(), transform, pixels) is None
        assert pixels.std() > 5
