"""An S3 root keeps the promises of a local one, against a server that speaks the protocol."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def _fail_while_writing(root: Root) -> None:
    with root.writer("a/b") as file:
        file.write(b"half")
        raise RuntimeError("stop")


@pytest.fixture
def root(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Root:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    bucket = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{bucket}/team/one")
    root.fs.mkdir(bucket)
    return root


def scratch_files(root: Root) -> list[Path]:
    return [path for path in root.scratch().rglob("*") if path.is_file()]


def test_content_comes_back(root: Root) -> None:
    root.write_bytes("a/b.bin", b"\0\1")
    root.write_json("a/c.json", {"a": 1})
    assert root.read_bytes("a/b.bin") == b"\0\1"
    assert root.read_json("a/c.json") == {"a": 1}
    with root.open("a/b.bin") as file:
        assert file.read() == b"\0\1"
    assert (root.size("a/b.bin"), root.size("a"), root.size("a/none")) == (2, None, None)
    with pytest.raises(FileNotFoundError):
        root.read_bytes("a/none")


def test_nothing_is_seen_before_the_end(root: Root) -> None:
    root.write_bytes("a/b", b"old")
    with root.writer("a/b") as file:
        file.write(b"new" * 1000)
        file.flush()
        assert root.read_bytes("a/b") == b"old"
    assert root.read_bytes("a/b") == b"new" * 1000
    with pytest.raises(RuntimeError, match="stop"):
        _fail_while_writing(root)
    assert root.read_bytes("a/b") == b"new" * 1000
    assert scratch_files(root) == []


def test_a_large_file_goes_in_parts(root: Root) -> None:
    content = os.urandom(1 << 20) * 60
    with root.writer("a/large") as file:
        file.write(content)
    assert root.size("a/large") == len(content)
    assert root.local_copy("a/large").read_bytes() == content


def test_lists_and_removal(root: Root) -> None:
    for name in ("b/2", "b/1", "b/c/3", "bb/4"):
        root.write_bytes(name, b"x")
    assert root.list("b") == ["b/1", "b/2", "b/c/3"]
    assert root.list("") == ["b/1", "b/2", "b/c/3", "bb/4"]
    assert root.list("none") == []
    root.remove("b/1")
    root.remove("b/1")
    root.remove_folder("b")
    root.remove_folder("b")
    assert root.list("") == ["bb/4"]


def test_a_local_copy_follows_its_object(root: Root) -> None:
    root.write_bytes("a/b", b"first")
    copy = root.local_copy("a/b")
    assert copy.read_bytes() == b"first"
    stat = copy.stat()
    assert root.local_copy("a/b") == copy
    assert copy.stat().st_mtime_ns == stat.st_mtime_ns, "downloaded once"
    root.write_bytes("a/b", b"other")
    changed = root.local_copy("a/b")
    assert changed.read_bytes() == b"other"
    assert changed != copy
    changed.unlink()
    assert root.local_copy("a/b").read_bytes() == b"other"


def test_publishing_uploads_a_file(root: Root, tmp_path: Path) -> None:
    local = tmp_path / "made"
    local.write_bytes(b"content")
    root.publish(local, "a/b")
    assert root.read_bytes("a/b") == b"content"
    assert not local.exists()


def test_what_a_killed_upload_left_is_swept(root: Root) -> None:
    left = root.scratch() / "upload-0123"
    left.write_bytes(b"half")
    old = time.time() - 3600
    os.utime(left, (old, old))
    root.sweep("shards")
    assert not left.exists()


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../../other-bucket/x"])
def test_no_path_leaves_the_root(root: Root, name: str) -> None:
    for attempt in (root.read_bytes, root.remove, root.list, root.exists):
        with pytest.raises(ShiftlakeError, match="leaves the storage root"):
            attempt(name)


def test_when_an_object_was_published(root: Root) -> None:
    assert root.modified("a") is None
    before = time.time() - 5
    root.write_bytes("a", b"1")
    modified = root.modified("a")
    assert modified is not None
    assert before < modified < time.time() + 5


def test_a_local_copy_can_be_dropped_and_brought_again(root: Root) -> None:
    root.write_bytes("a", b"12")
    copy = root.local_copy("a")
    assert copy.read_bytes() == b"12"
    root.drop_copy("a")
    assert not copy.exists()
    assert scratch_files(root) == []
    assert root.local_copy("a").read_bytes() == b"12"
    root.drop_copy("never there")
