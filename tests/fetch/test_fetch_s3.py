"""An S3 root and an S3 source behave as a local root and a web server do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fault_server import QUICK, FaultServer, known, noise, source

from ops.catalog import load
from ops.fetch import AllUrlsFailed, add, fetch, local_source, read_receipt, verify_source
from ops.storage import Root, open_root

DATA = noise(3 << 20)


@pytest.fixture
def remote(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    return open_root(f"s3://lake/{tmp_path.name}")


def test_a_remote_root_gets_file_and_receipt(
    server: FaultServer, remote: Root, tmp_path: Path
) -> None:
    file = known(server.put("/a.tar", DATA, spoil=[{"cut": 1 << 20}]), DATA)
    receipt = fetch(remote, file, patience=QUICK)
    assert remote.read_bytes(file.path) == DATA
    assert read_receipt(remote, file) == receipt
    verify_source(remote, file)
    asked = len(server.requests)
    assert fetch(remote, file) == receipt
    assert len(server.requests) == asked
    local = local_source(remote, file)
    assert local.read_bytes() == DATA
    assert tmp_path / "scratch" in local.parents
    local.unlink()
    assert local_source(remote, file).read_bytes() == DATA, "scratch is safe to delete"


def test_a_failed_upload_does_not_cost_the_download(
    server: FaultServer, remote: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = known(server.put("/a.tar", DATA), DATA)

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("the bucket is gone")

    with monkeypatch.context() as broken:
        broken.setattr(remote.fs, "put_file", fail)
        with pytest.raises(OSError, match="bucket"):
            fetch(remote, file)
    fetch(remote, file)
    assert len(server.requests) == 1
    assert remote.read_bytes(file.path) == DATA


def test_refused_files_go_aside_on_a_remote_root(server: FaultServer, remote: Root) -> None:
    wrong = noise(len(DATA), seed=1)
    with pytest.raises(AllUrlsFailed):
        fetch(remote, known(server.put("/a.tar", wrong), DATA), patience=QUICK)
    kept, note = sorted(remote.list("sources/refused"), key=len)
    assert remote.read_bytes(kept) == wrong
    assert remote.read_json(note)["benchmark"] == "imagenet-c"


def test_a_file_by_hand_goes_to_a_remote_root(remote: Root, tmp_path: Path) -> None:
    given = tmp_path / "ILSVRC2017_VID.tar.gz"
    given.write_bytes(DATA)
    add(remote, load(), given)
    assert remote.read_bytes("sources/imagenet-vid/ILSVRC2017_VID.tar.gz") == DATA
    assert given.exists()


def test_an_s3_source_is_read_and_continued(s3: Any, root: Root, log: list[str]) -> None:
    s3.put_object(Bucket="lake", Key="mirror/a b.tar", Body=DATA)
    file = known(None, DATA, "s3://lake/mirror/a%20b.tar")

    def interrupt(done: int, total: int | None) -> None:
        assert total == len(DATA)
        if done >= 1 << 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(root, file, progress=interrupt)
    receipt = fetch(root, file, log=log.append)
    assert root.read_bytes(file.path) == DATA
    assert receipt.url == "s3://lake/mirror/a%20b.tar"
    assert any("continued at" in line for line in log)


def test_a_changed_s3_object_starts_over(s3: Any, root: Root) -> None:
    s3.put_object(Bucket="lake", Key="changing.tar", Body=DATA)
    file = source(None, "s3://lake/changing.tar")

    def interrupt(done: int, total: int | None) -> None:
        if done >= 1 << 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(root, file, progress=interrupt)
    new = noise(len(DATA), seed=1)
    s3.put_object(Bucket="lake", Key="changing.tar", Body=new)
    fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == new


def test_an_absent_s3_object_is_not_asked_for_again(s3: Any, root: Root, log: list[str]) -> None:
    file = known(None, DATA, "s3://lake/nothing.tar")
    with pytest.raises(AllUrlsFailed, match="NoSuchKey"):
        fetch(root, file, patience=QUICK, log=log.append)
    assert not any("again in" in line for line in log)
