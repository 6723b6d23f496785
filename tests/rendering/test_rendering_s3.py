"""Rendering from and to S3 gives what it gives on a disk, to the last bit."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from rendering_parts import (
    CHEAP,
    Lake,
    files_of,
    images_of,
    lake_of,
    start_render,
    val_samples,
)

from ops.rendering import build_many, read, render
from ops.shards import has_manifest, read_manifest, verify
from ops.storage import open_root

FLY = "imagenet_c_on_the_fly/contrast/4"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def remote(
    server: str, files: list[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Lake:
    """The sealed source in an empty bucket."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    bucket = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{bucket}/robustness")
    root.fs.mkdir(bucket)
    return lake_of(tmp_path, val_samples(files), per_shard=5, root=root)


def test_the_same_shards_as_on_a_disk(remote: Lake, rendered: Lake) -> None:
    mini = "mini_imagenet_c_rendered/contrast/5"
    build_many(remote.root, remote.catalog, [*CHEAP, mini, FLY, "imagenet_c_rendered/contrast/5"])
    for name in CHEAP:
        assert files_of(remote.root, name) == files_of(rendered.root, name)
    assert verify(remote.root, mini, hash=True).problems == ()
    left = [path for path in remote.root.scratch().rglob("*") if path.is_file()]
    assert [path for path in left if path.stat().st_size > 1000] == []
    manifest = read_manifest(remote.root, FLY)
    keys = [each.key for entry in manifest.shards for each in read(remote.root, manifest, entry)]
    assert sorted(keys) == sorted(images_of(remote.root, CHEAP[4]))


def test_a_killed_rendering_goes_on_there_too(remote: Lake, rendered: Lake) -> None:
    process = start_render(remote, CHEAP, "--die-after", "7")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == -9, output
    assert not any(has_manifest(remote.root, name) for name in CHEAP)

    def times() -> dict[str, object]:
        found = remote.root.list("shards/imagenet_c_rendered")
        return {
            path: remote.root.fs.info(remote.root.at(path))["LastModified"]
            for path in found
            if path.endswith(".tar")
        }

    before = times()
    assert len(before) == 7
    render(remote.root, remote.catalog, CHEAP)
    after = times()
    assert {path: after[path] for path in before} == before
    for name in CHEAP:
        assert files_of(remote.root, name) == files_of(rendered.root, name)
