"""Every archive has the published name, compression and member names."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
from typing import Any

import av
import numpy as np
import pytest
from published_archives import Open, unpack
from scipy.io import loadmat

from ops.catalog import classes as catalog_classes
from ops.miniature import MiniatureUpstream
from ops.miniature.classes import CHOSEN
from ops.miniature.distortions import GROUPS
from ops.miniature.mp4 import h264

WNID = r"n\d{8}"
VAL = r"ILSVRC2012_val_\d{8}"
MEMBERS = [
    ("imagenet-1k", "ilsvrc2012_train", rf"{WNID}\.tar"),
    ("imagenet-1k", "ilsvrc2012_val", rf"{VAL}\.JPEG"),
    (
        "imagenet-1k",
        "ilsvrc2012_devkit_t12",
        r"ILSVRC2012_devkit_t12/(data/(meta\.mat|ILSVRC2012_validation_ground_truth\.txt)|readme.txt)",
    ),
    (
        "imagenetv2",
        "imagenetv2_matched_frequency",
        r"imagenetv2-matched-frequency-format-val/(0|[1-9]\d*)/[0-9a-f]+\.jpeg",
    ),
    (
        "imagenetv2",
        "imagenetv2_threshold07",
        r"imagenetv2-threshold0\.7-format-val/(0|[1-9]\d*)/[0-9a-f]+\.jpeg",
    ),
    (
        "imagenetv2",
        "imagenetv2_top_images",
        r"imagenetv2-top-images-format-val/(0|[1-9]\d*)/[0-9a-f]+\.jpeg",
    ),
    ("imagenet-sketch", "imagenet_sketch_zip", rf"sketch/{WNID}/sketch_\d+\.JPEG"),
    ("imagenet-a", "imagenet_a_tar", rf"imagenet-a/({WNID}/.+\.jpg|README\.txt)"),
    ("imagenet-o", "imagenet_o_tar", rf"imagenet-o/({WNID}/[a-z]+_0\.\d{{7}}\.JPEG|README\.txt)"),
    ("imagenet-r", "imagenet_r_tar", rf"imagenet-r/({WNID}/[a-z]+_\d+\.jpg|README\.txt)"),
    *(
        ("imagenet-c", f"imagenet_c_{group}", rf"({'|'.join(names)})/[1-5]/{WNID}/{VAL}\.JPEG")
        for group, names in GROUPS.items()
    ),
    ("imagenet-p", "imagenet_p_digital", rf"(translate|rotate|tilt|scale)/{WNID}/{VAL}\.mp4"),
    ("caltech-256", "caltech_256_tar", r"256_ObjectCategories/\d{3}\.[a-z0-9-]+/.+"),
    ("sun-397", "sun397_tar", r"SUN397/([a-z](/[a-z_]+){1,2}/sun_[a-z]+\.jpg|ClassName\.txt)"),
    ("sun-397", "sun397_partitions", r"(ClassName|Training_\d\d|Testing_\d\d)\.txt"),
]


@pytest.mark.parametrize(("benchmark", "file", "pattern"), MEMBERS)
def test_member_names(opened: Open, benchmark: str, file: str, pattern: str) -> None:
    names = list(opened(benchmark, file))
    assert names
    assert [name for name in names if not re.fullmatch(pattern, name)] == []


@pytest.mark.parametrize(
    ("benchmark", "file", "gzipped"),
    [
        ("imagenetv2", "imagenetv2_top_images", False),
        ("imagenet-c", "imagenet_c_noise", True),
        ("imagenet-c", "imagenet_c_extra", True),
        ("imagenet-p", "imagenet_p_blur", False),
        ("imagenet-1k", "ilsvrc2012_devkit_t12", True),
        ("sun-397", "sun397_tar", True),
    ],
)
def test_compression_is_that_of_upstream_not_of_the_name(
    miniature: MiniatureUpstream, benchmark: str, file: str, gzipped: bool
) -> None:
    head = miniature.path(benchmark, file).read_bytes()[:2]
    assert (head == b"\x1f\x8b") is gzipped


def test_imagenet_c_is_complete(opened: Open) -> None:
    for group, corruptions in GROUPS.items():
        found = {tuple(n.split("/")[:2]) for n in opened("imagenet-c", f"imagenet_c_{group}")}
        assert found == {(c, str(s)) for c in corruptions for s in range(1, 6)}


def test_devkit_links_two_different_orders(opened: Open) -> None:
    files = opened("imagenet-1k", "ilsvrc2012_devkit_t12")
    truth = files["ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt"].split()
    meta = io.BytesIO(files["ILSVRC2012_devkit_t12/data/meta.mat"])
    rows = loadmat(meta, squeeze_me=True)["synsets"]
    wnids = {int(row[0]): str(row[1]) for row in rows if int(row[3]) == 0}
    assert len(wnids) == 1000
    found = [catalog_classes.index_of(wnids[int(each)]) for each in truth]
    assert tuple(found) == catalog_classes.val_labels()
    assert [int(each) - 1 for each in truth] != found


def test_caltech_101_is_an_archive_of_archives(opened: Open) -> None:
    outer = opened("caltech-101", "caltech_101_zip")
    assert set(outer) == {
        "caltech-101/101_ObjectCategories.tar.gz",
        "caltech-101/Annotations.tar",
    }
    inner = unpack(outer["caltech-101/101_ObjectCategories.tar.gz"])
    pattern = r"101_ObjectCategories/\w+/image_\d{4}\.jpg"
    assert all(re.fullmatch(pattern, name) for name in inner)
    boxes = unpack(outer["caltech-101/Annotations.tar"])
    assert {name.split("/")[1] for name in boxes} >= {"Faces_2", "Airplanes_Side_2"}
    assert loadmat(io.BytesIO(next(iter(boxes.values()))))["box_coord"].shape == (1, 4)


def test_cifar_archives_hold_the_same_pictures(opened: Open) -> None:
    binary = opened("cifar-100", "cifar_100_binary")
    records = np.frombuffer(binary["cifar-100-binary/test.bin"], np.uint8).reshape(-1, 3074)
    fine = binary["cifar-100-binary/fine_label_names.txt"].decode().split()
    coarse = binary["cifar-100-binary/coarse_label_names.txt"].decode().split()
    assert (len(fine), len(coarse)) == (100, 20)
    assert fine == sorted(fine)

    # Loadable only as Python 2 pickles are, like the published ones.
    raw = opened("cifar-100", "cifar_100_python")["cifar-100-python/test"]
    batch: dict[bytes, Any] = pickle.loads(raw, encoding="bytes")
    assert np.array_equal(batch[b"data"], records[:, 2:])
    assert batch[b"coarse_labels"] == records[:, 0].tolist()
    assert batch[b"fine_labels"] == records[:, 1].tolist()
    pairs = {(fine[f], coarse[c]) for c, f in records[:, :2]}
    assert ("apple", "fruit_and_vegetables") in pairs


def test_cifar_c_stacks_severities(opened: Open) -> None:
    files = opened("cifar-100-c", "cifar_100_c_tar")
    labels = np.load(io.BytesIO(files["CIFAR-100-C/labels.npy"]))
    fog = np.load(io.BytesIO(files["CIFAR-100-C/fog.npy"]))
    assert fog.shape == (len(labels), 32, 32, 3)
    assert len(files) == 20
    assert np.array_equal(labels, np.tile(labels[: len(labels) // 5], 5))


@pytest.mark.parametrize(("perturbation", "length"), [("translate", 41), ("gaussian_noise", 31)])
def test_sequences_decode_to_the_published_length(
    opened: Open, perturbation: str, length: int
) -> None:
    group = "digital" if perturbation == "translate" else "noise"
    files = opened("imagenet-p", f"imagenet_p_{group}")
    content = next(data for name, data in files.items() if name.startswith(perturbation))
    with av.open(io.BytesIO(content)) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) == length
    assert frames[0].shape == (224, 224, 3)


def test_encoding_the_same_frames_always_gives_the_same_bytes() -> None:
    rng = np.random.default_rng(0)
    frames = list(rng.integers(0, 256, (12, 64, 96, 3), np.uint8))
    assert len({h264(frames, fps=1) for _ in range(12)}) == 1


def test_youtube_bb_rows(miniature: MiniatureUpstream) -> None:
    raw = miniature.path("youtube-bb", "ytbb_detection_train").read_bytes()
    rows = [line.split(",") for line in gzip.decompress(raw).decode().splitlines()]
    assert all(len(row) == 10 and row[5] in ("present", "absent") for row in rows)


def test_index_files_are_complete(miniature: MiniatureUpstream) -> None:
    index = json.loads(miniature.path("imagenet-1k", "keras_class_index").read_text())
    assert len(index) == 1000
    assert index[str(CHOSEN[0])] == ["n01443537", "goldfish"]
