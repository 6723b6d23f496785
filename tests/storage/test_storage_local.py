"""A name in a local root holds the whole content or does not exist."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.storage import Root, open_root, paths

KILLED_WHILE_WRITING = """
import os, signal, sys
from ops.storage import open_root
with open_root(sys.argv[1]).writer("shards/a/b.tar") as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _fail_while_writing(root: Root) -> None:
    with root.writer("a/b") as file:
        file.write(b"half")
        raise RuntimeError("stop")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.delenv("SHIFTLAKE_SCRATCH", raising=False)
    return open_root(tmp_path / "lake")


def unfinished(root: Root) -> list[Path]:
    return list(Path(root.url).rglob("*.part"))


def test_bytes_and_json_come_back(root: Root) -> None:
    root.write_bytes("a/b.bin", b"\0\1")
    root.write_json("a/c.json", {"z": 1, "a": "größer"})
    assert root.read_bytes("a/b.bin") == b"\0\1"
    assert root.read_bytes("a/c.json") == '{\n "a": "größer",\n "z": 1\n}\n'.encode()
    assert root.read_json("a/c.json") == {"a": "größer", "z": 1}
    with root.open("a/b.bin") as file:
        assert file.read(1) == b"\0"
    assert (root.size("a/b.bin"), root.exists("a/b.bin")) == (2, True)
    assert root.local_copy("a/b.bin") == root.local_path("a/b.bin")


def test_folders_and_absent_names_are_no_files(root: Root) -> None:
    root.write_bytes("a/b", b"")
    assert (root.size("a"), root.size("a/c"), root.size("a/b/c")) == (None, None, None)
    with pytest.raises(FileNotFoundError):
        root.read_bytes("a/c")


def test_damaged_json_is_told(root: Root) -> None:
    root.write_bytes("results/x.json", b"{")
    with pytest.raises(ShiftlakeError, match="JSON") as caught:
        root.read_json("results/x.json")
    assert "results/x.json" in str(caught.value.where)


@pytest.mark.parametrize("durable", [True, False])
def test_nothing_is_seen_before_the_end(root: Root, durable: bool) -> None:
    root.write_bytes("a/b", b"old")
    with root.writer("a/b", durable=durable) as file:
        file.write(b"new")
        file.flush()
        assert root.read_bytes("a/b") == b"old"
        assert root.list("a") == ["a/b"]
    assert root.read_bytes("a/b") == b"new"
    assert unfinished(root) == []


def test_an_error_leaves_the_old_content(root: Root) -> None:
    root.write_bytes("a/b", b"old")
    with pytest.raises(RuntimeError, match="stop"):
        _fail_while_writing(root)
    assert root.read_bytes("a/b") == b"old"
    assert unfinished(root) == []


def test_a_killed_writer_leaves_nothing_visible(root: Root) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, root.url], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not root.exists("shards/a/b.tar")
    assert root.list("shards") == []
    (left,) = unfinished(root)
    root.sweep("shards/a")
    assert left.exists(), "it might be a file that is only just being made"
    old = time.time() - 3600
    os.utime(left, (old, old))
    root.sweep("shards/a")
    assert not left.exists()


def test_a_file_that_is_being_written_is_not_swept(root: Root) -> None:
    with root.writer("a/b") as file:
        (part,) = unfinished(root)
        old = time.time() - 3600
        os.utime(part, (old, old))
        root.sweep("a")
        file.write(b"whole")
    assert root.read_bytes("a/b") == b"whole"


def test_many_writers_of_one_name(root: Root) -> None:
    contents = [bytes([n]) * 100_000 for n in range(8)]
    threads = [
        threading.Thread(target=root.write_bytes, args=("a/b", content)) for content in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert root.read_bytes("a/b") in contents
    assert unfinished(root) == []


@pytest.mark.parametrize("elsewhere", [False, True])
def test_publishing_moves_a_file(root: Root, tmp_path: Path, elsewhere: bool) -> None:
    shared = Path("/dev/shm")
    if elsewhere and (not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev):
        pytest.skip("no second disk")
    local = (shared if elsewhere else tmp_path) / f"publish-{os.getpid()}"
    local.write_bytes(b"content")
    root.publish(local, "sources/x/y.tar")
    assert root.read_bytes("sources/x/y.tar") == b"content"
    assert not local.exists()


def test_lists_are_sorted_and_whole(root: Root) -> None:
    for name in ("b/2", "b/1", "b/c/3", "a"):
        root.write_bytes(name, b"")
    assert root.list("b") == ["b/1", "b/2", "b/c/3"]
    assert root.list("") == ["a", "b/1", "b/2", "b/c/3"]
    assert root.list("none") == []
    root.remove("b/1")
    root.remove("b/1")
    root.remove_folder("b/c")
    root.remove_folder("b/c")
    assert root.list("b") == ["b/2"]


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a/.."])
def test_no_path_leaves_the_root(root: Root, name: str) -> None:
    for attempt in (root.read_bytes, root.remove, root.list, root.exists, root.local_path):
        with pytest.raises(ShiftlakeError, match="leaves the storage root"):
            attempt(name)
    with pytest.raises(ShiftlakeError), root.writer(name) as file:
        file.write(b"")
    assert not (Path(root.url).parent / "x").exists()


@given(st.text("a./\\", max_size=12))
def test_whatever_the_name_the_address_is_below_the_root(name: str) -> None:
    root = open_root("somewhere/lake")
    try:
        path = root.local_path(name)
    except ShiftlakeError:
        return
    assert Path(os.path.normpath(path)).is_relative_to(root.url)


def test_a_root_travels_to_other_processes(root: Root) -> None:
    assert pickle.loads(pickle.dumps(root)).url == root.url
    assert open_root(root) is root


def test_where_the_root_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "named"))
    assert open_root().url == str(tmp_path / "named")
    monkeypatch.delenv("SHIFTLAKE_ROOT")
    monkeypatch.chdir(tmp_path)
    assert open_root().url == str(tmp_path / "lake")
    remote = open_root("s3://bucket/prefix/")
    assert remote.at("a/b") == "s3://bucket/prefix/a/b"
    with pytest.raises(ShiftlakeError, match="remote root"):
        remote.local_path("a")


def test_scratch_is_apart_for_every_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    one, two = open_root(tmp_path / "one"), open_root("s3://bucket/two")
    assert one.scratch() != two.scratch()
    assert one.scratch().parent == two.scratch().parent == tmp_path / "scratch"
    monkeypatch.delenv("SHIFTLAKE_SCRATCH")
    assert one.scratch().is_relative_to(one.url)


def test_users_of_one_machine_do_not_share_the_scratch_of_a_remote_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SHIFTLAKE_SCRATCH", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = open_root("s3://bucket/lake")
    folders = []
    for user in (1000, 1001):
        monkeypatch.setattr("os.getuid", lambda user=user: user)
        folders.append(root.scratch().relative_to(tmp_path).parts[0])
    assert folders[0] != folders[1]


def test_paths_are_those_of_the_contract() -> None:
    assert paths.source("imagenet-a", "imagenet-a.tar") == "sources/imagenet-a/imagenet-a.tar"
    assert paths.manifest("imagenet_c/fog/3") == "shards/imagenet_c/fog/3/manifest.json"
    assert paths.shard("imagenet_a/clean", "x.tar") == "shards/imagenet_a/clean/x.tar"
    assert paths.run_record("net", "imagenet_a/clean", "k") == (
        "predictions/net/imagenet_a/clean/k/run.json"
    )


def test_a_folder_removed_while_mkdir_looks_at_it(tmp_path, monkeypatch):
    root, tries, mkdir = open_root(tmp_path), [], Path.mkdir

    def raced(self, *args, **kwargs):
        tries.append(self)
        if len(tries) == 1:
            raise FileExistsError(str(self))
        mkdir(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", raced)
    root.write_bytes("notes/a.json", b"1")
    assert len(tries) > 1
    assert root.read_bytes("notes/a.json") == b"1"


def test_when_a_file_was_published(tmp_path):
    root = open_root(tmp_path)
    assert root.modified("a") is None
    before = time.time() - 2
    root.write_bytes("a", b"1")
    assert before < root.modified("a") < time.time() + 2


def test_dropping_a_local_copy_leaves_the_file_of_a_local_root(tmp_path):
    root = open_root(tmp_path)
    root.write_bytes("a", b"1")
    root.drop_copy("a")
    assert root.local_copy("a").read_bytes() == b"1"
