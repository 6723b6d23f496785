"""A real detector of torchvision, randomly initialised, over sealed frames."""

import importlib.util

import numpy as np
import pytest
import torch
from made_frame_sets import SIDE, seal_frame_sets

from ops.errors import ShiftlakeError
from ops.inference.detections import read_boxes, read_frames, run_detector
from ops.inference.detections.forward import detect
from ops.models.weights import file_sha256
from ops.shards import Sample, ShardDamaged
from ops.storage import open_root

BUILDER = "ssdlite320_mobilenet_v3_large"
# Thirty classes and the background; a detector that knows nothing is sure of nothing.
ARGUMENTS = {"score_thresh": 0.02, "detections_per_img": 20}


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    import torchvision_operators

    torchvision_operators.provide()
    from torchvision.models import get_model

    torch.set_num_threads(1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = get_model(BUILDER, weights=None, weights_backbone=None, num_classes=31)
    path = tmp_path_factory.mktemp("weights") / "tiny.pt"
    # Those that torchvision publishes of its larger detectors have no such counts.
    state = network.state_dict().items()
    torch.save({k: v for k, v in state if not k.endswith("num_batches_tracked")}, path)
    return path


@pytest.fixture
def root(tmp_path):
    return open_root(tmp_path / "lake")


def run(root, weights, **options):
    settings = {"kwargs": ARGUMENTS, "categories": "own", **options}
    return run_detector(root, "tiny", "made", BUILDER, weights, **settings)


def test_every_frame_is_looked_at_once_and_one_that_fails_is_a_row(root, weights, monkeypatch):
    manifest = seal_frame_sets(root, n_sets=1, per_shard=3, broken=(4,))
    done = []
    record = run(root, weights, batch_size=3, progress=lambda *counts: done.append(counts))
    assert (record.origin, record.weights_sha256) == ("detector", file_sha256(weights))
    assert (record.n_expected, record.n_seen, record.n_error) == (5, 4, 1)
    assert done == [(3, 5), (5, 5)]
    frames = read_frames(root, record).to_pylist()
    assert [row["status"] for row in frames].count("decode_error") == 1
    assert frames[4]["reason"].startswith("content of no known format")
    boxes = read_boxes(root, record)
    assert boxes.num_rows == sum(row["n_boxes"] for row in frames) > 0
    sides = {side: boxes[side].to_numpy() for side in ("xmin", "ymin", "xmax", "ymax")}
    assert (sides["xmin"] >= 0).all()
    assert sides["xmax"].max() <= SIDE[0]
    assert sides["ymax"].max() <= SIDE[1]
    assert set(boxes["label"].to_pylist()) <= set(range(30))
    # What stands is not computed again.
    monkeypatch.setattr("ops.inference.detections.running.detect", None)
    assert run(root, weights) == record
    assert not [path for path in root.list("detections") if "/parts/" in path]
    assert manifest.version == record.dataset_version


def test_a_killed_run_goes_on_with_the_shards_that_are_missing(root, weights, monkeypatch):
    seal_frame_sets(root, n_sets=1, per_shard=3)
    looked = []

    def stopping(network, samples, *rest, **options):
        for found in detect(network, samples, *rest, **options):
            looked.append(found.key)
            if len(looked) == 4:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr("ops.inference.detections.running.detect", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(root, weights)
    assert len([path for path in root.list("detections") if "/parts/" in path]) == 1
    record = run(root, weights)
    # One frame of the second shard was looked at in vain.
    assert len(looked) == 4 + 2
    whole = open_root(f"{root.url}-whole")
    seal_frame_sets(whole, n_sets=1, per_shard=3)
    assert run(whole, weights).files == record.files


def test_shards_that_were_changed_are_refused(root, weights):
    manifest = seal_frame_sets(root, n_sets=1, per_shard=3)
    path = root.local_path(f"shards/{manifest.name}/{manifest.shards[1].name}")
    path.write_bytes(path.read_bytes()[:-1024])
    with pytest.raises(ShardDamaged):
        run(root, weights)


def test_other_arguments_are_other_detections(root, weights):
    seal_frame_sets(root, n_sets=1)
    first = run(root, weights)
    second = run(root, weights, kwargs={**ARGUMENTS, "detections_per_img": 3})
    assert first.key != second.key
    assert second.n_detections == 15
    assert second.detector["kwargs"] == {**ARGUMENTS, "detections_per_img": 3, "num_classes": 31}


def test_a_network_that_fails_on_one_frame_fails_on_that_one_alone():
    class Picky(torch.nn.Module):
        def forward(self, images):
            if any(image.mean() > 0.9 for image in images):
                raise RuntimeError("too bright\nand more")
            box = torch.tensor([[0.0, 0.0, 4.0, 4.0]])
            one = {"boxes": box, "labels": torch.tensor([1]), "scores": torch.tensor([0.5])}
            return [dict(one) for _ in images]

    samples = [Sample(f"k{i}", _png(255 if i == 1 else 9), "png", None) for i in range(4)]
    sizes = {"k3": (5, 5)}
    found = list(detect(Picky(), samples, sizes, batch_size=3))
    assert [each.status for each in found] == ["ok", "detector_error", "ok", "decode_error"]
    assert found[1].reason == "RuntimeError: too bright"
    assert found[3].reason == "4 x 4 pixels, not 5 x 5"
    assert [each.score.size for each in found] == [1, 0, 1, 0]


def test_boxes_that_are_no_numbers_are_a_frame_that_failed():
    class Wild(torch.nn.Module):
        def forward(self, images):
            box = torch.tensor([[0.0, 0.0, float("nan"), 4.0]])
            return [{"boxes": box, "labels": torch.tensor([1]), "scores": torch.ones(1)}]

    found = list(detect(Wild(), [Sample("k", _png(1), "png", None)], {}))
    assert found[0].status == "detector_error"


def test_a_detector_that_fails_on_every_frame_is_no_result(root, weights, monkeypatch):
    seal_frame_sets(root, n_sets=1)
    failing = torch.nn.Identity()
    failing.forward = lambda images: [][0]
    monkeypatch.setattr("ops.inference.detections.detector._built", lambda *_: failing)
    monkeypatch.setattr("ops.inference.detections.detector.load_strictly", lambda *_: None)
    with pytest.raises(ShiftlakeError, match="fails on every frame"):
        run(root, weights)


def test_what_cannot_be_built_or_loaded_is_refused(root, weights, tmp_path):
    seal_frame_sets(root, n_sets=1)
    with pytest.raises(ShiftlakeError, match="no such detector"):
        run_detector(root, "tiny", "made", "resnet50", weights)
    with pytest.raises(ShiftlakeError, match="do not fit"):
        run(root, weights, categories="coco91")
    with pytest.raises(ShiftlakeError, match="could not make"):
        run(root, weights, kwargs={"num_classes": "many"})
    with pytest.raises(ShiftlakeError, match="does not exist"):
        run(root, tmp_path / "none.pt")

    class Evil:
        def __reduce__(self):
            return (print, ("code ran",))

    torch.save({"weight": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(ShiftlakeError, match="would run code"):
        run(root, tmp_path / "evil.pt")


def test_the_weights_torchvision_publishes_lose_the_epsilon_they_were_trained_without(
    weights, monkeypatch
):
    from ops.inference.detections import detector
    from ops.inference.detections.detector import open_detector

    # A file whose hash is that in the name of the published one.
    monkeypatch.setattr(detector, "file_sha256", lambda _: "eeacb38b" + "0" * 56)
    monkeypatch.setattr(detector, "load_strictly", lambda *_: None)
    # Its size does not matter here.
    monkeypatch.setattr(detector, "_built", lambda *_: torch.nn.BatchNorm2d(3))
    opened = open_detector("retinanet_resnet50_fpn", weights, "imagenet_vid30")
    assert opened.detector.published == "COCO_V1"
    eps = {m.eps for m in opened.network.modules() if isinstance(m, torch.nn.BatchNorm2d)}
    assert eps == {0.0}
    monkeypatch.setattr(detector, "file_sha256", lambda _: "0" * 64)
    opened = open_detector("retinanet_resnet50_fpn", weights, "imagenet_vid30")
    eps = {m.eps for m in opened.network.modules() if isinstance(m, torch.nn.BatchNorm2d)}
    assert (opened.detector.published, eps) == (None, {1e-5})
    assert "fox" in opened.categories.missing


def test_frames_of_one_size_go_through_together():
    seen = []

    class Counting(torch.nn.Module):
        def forward(self, images):
            seen.append([tuple(image.shape[1:]) for image in images])
            empty = {"boxes": torch.empty(0, 4), "labels": torch.empty(0), "scores": torch.empty(0)}
            return [empty] * len(images)

    sides = [4, 4, 4, 6, 6, 4]
    samples = [Sample(f"k{i}", _png(1, side), "png", None) for i, side in enumerate(sides)]
    found = list(detect(Counting(), samples, {}, batch_size=2))
    assert [len(each) for each in seen] == [2, 1, 2, 1]
    assert [each.key for each in found] == [f"k{i}" for i in range(6)]


def _png(value, side=4):
    from ops.pixels import encode_png

    return encode_png(np.full((side, side, 3), value, np.uint8))
