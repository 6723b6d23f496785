"""Frames of sealed shards by key: the bytes that were mined, or an error that names the shard."""

import random
import uuid
from pathlib import Path

import pytest
from mined_by_hand import mined_by_hand
from moto.server import ThreadedMotoServer

from ops.shards.manifest import DatasetMissing, read_manifest
from ops.shards.reader import ShardDamaged, read_shard
from ops.storage import open_root, paths
from ops.video.frame_images import FrameImages
from ops.video.review import Review

NAME = "frame_sets/clips"


@pytest.fixture
def root(tmp_path):
    return open_root(tmp_path / "lake")


def frames(root):
    manifest = read_manifest(root, NAME)
    return {
        sample.key: sample.image
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry)
    }


def sha256_of(root):
    review = Review.open(root, "clips")
    return {item.sample_key: item.sha256 for item in (*review.anchors, *review.pairs)}


def shard(root, position=0):
    return Path(root.at(paths.shard(NAME, read_manifest(root, NAME).shards[position].name)))


@pytest.mark.parametrize("per_shard", [1, 5, 2_500])
def test_every_frame_is_found_in_whatever_order(root, per_shard):
    mined_by_hand(root, per_shard=per_shard)
    expected = frames(root)
    images = FrameImages(root, NAME, sha256_of(root))
    keys = list(expected)
    random.Random(7).shuffle(keys)
    assert {key: images.read(key) for key in keys} == {k: (v, "jpg") for k, v in expected.items()}


@pytest.mark.parametrize("known", [True, False])
def test_what_is_no_key_is_not_found(root, known):
    mined_by_hand(root, per_shard=5)
    images = FrameImages(root, NAME, sha256_of(root) if known else None)
    for key in (
        "",
        "..",
        "../../gates.yaml",
        "clip0001/000100",
        "zzz",
        "clip0001/000100/000100.jpg",
    ):
        with pytest.raises(KeyError):
            images.read(key)


def test_from_s3_each_shard_is_copied_once(monkeypatch, tmp_path):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
        # All servers of a process share their buckets.
        bucket = f"lake-{uuid.uuid4().hex[:8]}"
        root = open_root(f"s3://{bucket}/one")
        root.fs.mkdir(bucket)
        mined_by_hand(root, per_shard=10)
        expected = frames(root)
        images = FrameImages(root, NAME, sha256_of(root))
        assert all(images.read(key)[0] == data for key, data in expected.items())
        copies = list((tmp_path / "scratch").rglob("cache/*"))
        manifest = read_manifest(root, NAME)
        assert len(copies) == len(manifest.shards) == 2
        # As an evaluation on this machine does with shards that it is done with.
        root.drop_copy(paths.shard(NAME, manifest.shards[0].name))
        assert all(images.read(key)[0] == data for key, data in expected.items())
    finally:
        server.stop()


def test_a_changed_picture_is_refused_and_its_shard_named(root):
    mined_by_hand(root)
    key, data = next(iter(frames(root).items()))
    path = shard(root)
    content = bytearray(path.read_bytes())
    content[content.index(data) + 300] ^= 1
    path.write_bytes(content)
    with pytest.raises(ShardDamaged, match=path.name):
        FrameImages(root, NAME, sha256_of(root)).read(key)


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_cut_or_missing_shard_is_refused_and_named(root, damage):
    mined_by_hand(root, per_shard=10)
    keys = list(frames(root))
    images = FrameImages(root, NAME, sha256_of(root))
    images.read(keys[0])
    path = shard(root, 1)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-2_000])
    else:
        path.unlink()
    with pytest.raises(ShardDamaged, match=path.name):
        images.read(keys[-1])
    assert images.read(keys[0])


def test_frames_mined_again_meanwhile_are_said_to_be_so(root):
    mined_by_hand(root)
    images = FrameImages(root, NAME, sha256_of(root))
    key = next(iter(frames(root)))
    mined_by_hand(root, salt=1)
    with pytest.raises(ShardDamaged, match="rebuilt"):
        images.read(key)


def test_nothing_is_opened_that_is_not_sealed(root):
    with pytest.raises(DatasetMissing):
        FrameImages(root, NAME)
