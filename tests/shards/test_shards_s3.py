"""Building, reading and resuming on S3 give what they give on a local disk, to the last bit."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from flaky_proxy import FlakyProxy
from moto.server import ThreadedMotoServer
from shard_parts import Made, fetch_for, samples_of, start_build

from ops.shards import (
    Manifest,
    ShardDamaged,
    ShardSize,
    build,
    build_many,
    export,
    open_dataset,
    read_manifest,
    sealed_datasets,
    verify,
)
from ops.storage import Root, open_root

NAMES = [
    "imagenet_1k/val",
    "imagenetv2/top_images",
    "imagenet_vid_robust/clean",
    "ytbb_robust/clean",
    "imagenet_c/fog/5",
    "mini_imagenet_c/fog/5",
    "cifar_100/test",
]


@pytest.fixture(scope="module")
def proxy() -> Iterator[FlakyProxy]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    running = FlakyProxy(server.get_host_and_port())
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()
    server.stop()


@pytest.fixture
def remote(
    fetched: Made, proxy: FlakyProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Made:
    """An empty bucket, reached through a proxy that does its duty."""
    proxy.fail_every = proxy.dawdle_every = 0
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    bucket = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{bucket}/robustness")
    root.fs.mkdir(bucket)
    return Made(root, fetched.catalog, fetched.overlay)


def same_as_local(remote: Root, lake: Made, names: list[str]) -> None:
    for name in names:
        there, here = read_manifest(remote, name), read_manifest(lake.root, name)
        assert isinstance(there, Manifest)
        assert there == here
        assert verify(remote, name, hash=True).problems == ()
    assert samples_of(remote, names[0]) == samples_of(lake.root, names[0])


def test_the_same_shards_as_on_a_disk(remote: Made, lake: Made, tmp_path: Path) -> None:
    fetch_for(remote.root, remote.catalog, NAMES)
    build_many(remote.root, remote.catalog, NAMES, workers=2)
    same_as_local(remote.root, lake, NAMES)
    assert sealed_datasets(remote.root) == sorted(NAMES)
    keys = [each["key"] for each in open_dataset(remote.root, NAMES[0], verify="hash")]
    assert keys == [each.key for each in samples_of(lake.root, NAMES[0])]
    assert export(remote.root, "imagenetv2/top_images", tmp_path / "out") == 24
    left = [path.name for path in remote.root.scratch().iterdir()]
    assert not [name for name in left if name.startswith(("upload-", "inflated-"))]


def test_an_archive_lies_in_scratch_once_and_not_for_ever(
    remote: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["ytbb_robust/clean", "imagenet_c/fog/4", "imagenet_c/fog/5", "mini_imagenet_c/fog/5"]
    fetch_for(remote.root, remote.catalog, names)
    transfers: list[str] = []
    local_copy = Root.local_copy

    def counted(self: Root, rel: str) -> Path:
        transfers.append(rel)
        return local_copy(self, rel)

    monkeypatch.setattr(Root, "local_copy", counted)
    build_many(remote.root, remote.catalog, names)
    assert not [rel for rel in transfers if rel.startswith("sources/")], "the download serves"
    left = [path for path in remote.root.scratch().rglob("*") if path.is_file()]
    big = [path for path in left if path.stat().st_size > 1000]
    assert big == []
    other = ShardSize(samples=2)
    assert build(remote.root, remote.catalog, names[1], size=other).n_samples > 0
    assert [rel.split("/")[0] for rel in transfers if "weather" in rel] == ["sources"]
    left = [path for path in remote.root.scratch().rglob("*") if path.is_file()]
    assert [path for path in left if path.stat().st_size > 1000] == []


def test_errors_and_slow_answers_are_outlasted(remote: Made, lake: Made, proxy: FlakyProxy) -> None:
    names = NAMES[:1]
    failed = proxy.failed
    proxy.fail_every, proxy.dawdle_every = 5, 3
    fetch_for(remote.root, remote.catalog, names)
    build_many(remote.root, remote.catalog, names)
    same_as_local(remote.root, lake, names)
    assert proxy.failed - failed > 3, "the proxy did fail"


def test_a_killed_build_goes_on_there_too(remote: Made, tmp_path: Path) -> None:
    name = "imagenet_1k/val"
    fetch_for(remote.root, remote.catalog, [name])
    process = start_build(remote, name, "--die-after", "9", "--samples", "3")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == -9, output
    finished = [path for path in remote.root.list(f"shards/{name}") if path.endswith(".tar")]
    times = {path: remote.root.fs.info(remote.root.at(path))["LastModified"] for path in finished}
    assert len(finished) == 3
    assert sealed_datasets(remote.root) == []
    size = ShardSize(samples=3)
    manifest = build(remote.root, remote.catalog, name, size=size)
    after = {path: remote.root.fs.info(remote.root.at(path))["LastModified"] for path in finished}
    assert after == times
    assert len(remote.root.list(f"shards/{name}")) == len(manifest.shards) + 1
    assert verify(remote.root, name, hash=True).problems == ()
    before = remote.root.fs.info(remote.root.at(f"shards/{name}/manifest.json"))["LastModified"]
    assert build(remote.root, remote.catalog, name, size=size) == manifest
    again = remote.root.fs.info(remote.root.at(f"shards/{name}/manifest.json"))["LastModified"]
    assert again == before


def test_a_damaged_object_is_named(remote: Made) -> None:
    name = "imagenet_1k/val"
    fetch_for(remote.root, remote.catalog, [name])
    manifest = build(remote.root, remote.catalog, name, size=ShardSize(samples=6))
    victim = manifest.shards[1]
    path = f"shards/{name}/{victim.name}"
    whole = remote.root.read_bytes(path)
    remote.root.write_bytes(path, whole[:-512])
    with pytest.raises(ShardDamaged, match=victim.name):
        samples_of(remote.root, name)
    remote.root.remove(path)
    assert "no file" in verify(remote.root, name).problems[0]
    build(remote.root, remote.catalog, name, size=ShardSize(samples=6))
    assert remote.root.read_bytes(path) == whole
