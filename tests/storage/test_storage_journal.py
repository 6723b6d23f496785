"""What a journal acknowledged is there, whoever dies, writes at once, or runs out of disk."""

from __future__ import annotations

import errno
import json
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

import ops.storage.journal as journal_module
from ops.errors import ShiftlakeError
from ops.storage import Root, open_root
from ops.storage.journal import Journal

FOLDER = "video/things/reviews/0123456789abcdef"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def remote(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Root:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    bucket = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{bucket}/team/one")
    root.fs.mkdir(bucket)
    return root


@pytest.fixture
def local(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture(params=["local", "remote"])
def root(request: pytest.FixtureRequest) -> Root:
    return request.getfixturevalue(request.param)


def files(root: Root) -> list[Path]:
    return sorted(root.local_path(FOLDER).glob("*.jsonl"))


def numbers(records: list[dict[str, Any]]) -> list[int]:
    return [record["n"] for record in records]


def test_records_come_back_in_the_order_they_were_added(root: Root) -> None:
    journal = Journal(root, FOLDER)
    assert journal.read() == []
    hostile = {"n": 1, "note": 'new\nline, \r\u2028 "quotes" \ud800 größer \0'}
    journal.append([{"n": 0}, hostile])
    journal.append([])
    journal.append([{"n": 2}])
    assert Journal(root, FOLDER).read() == [{"n": 0}, hostile, {"n": 2}]


def test_a_reader_is_given_what_is_new_once(root: Root) -> None:
    reader, one, two = (Journal(root, FOLDER) for _ in range(3))
    one.append([{"n": 1}])
    assert numbers(reader.read_new()) == [1]
    assert reader.read_new() == []
    two.append([{"n": 2}])
    one.append([{"n": 3}, {"n": 4}])
    assert sorted(numbers(reader.read_new())) == [2, 3, 4]
    assert sorted(numbers(reader.read())) == [1, 2, 3, 4]


def test_what_is_no_json_adds_nothing(root: Root) -> None:
    journal = Journal(root, FOLDER)
    for wrong in ({"n": float("nan")}, {"n": object()}):
        with pytest.raises((TypeError, ValueError)):
            journal.append([{"n": 0}, wrong])
    assert journal.read() == []


def test_threads_share_a_journal(local: Root) -> None:
    journal = Journal(local, FOLDER)

    def add(first: int) -> None:
        for n in range(first, first + 50):
            journal.append([{"n": n}])

    threads = [threading.Thread(target=add, args=(50 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers(journal.read())) == list(range(200))
    assert len(files(local)) == 1


def test_a_remote_writer_fills_objects_and_overwrites_nothing_of_others(
    remote: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_OBJECT_BYTES", 30)
    one, two, reader = (Journal(remote, FOLDER) for _ in range(3))
    seen = []
    for n in range(12):
        (one, two)[n % 2].append([{"n": n}])
        seen += numbers(reader.read_new())
    assert seen == list(range(12))
    names = remote.list(FOLDER)
    assert 2 < len(names) < 12
    assert all((remote.size(name) or 0) <= 30 for name in names)


def test_an_upload_that_failed_is_never_continued(
    remote: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, reader = Journal(remote, FOLDER), Journal(remote, FOLDER)
    journal.append([{"n": 0}])
    write = remote.write_bytes

    def arrives_but_is_not_answered(rel: str, data: bytes) -> None:
        write(rel, data)
        raise TimeoutError("no answer")

    monkeypatch.setattr(remote, "write_bytes", arrives_but_is_not_answered)
    with pytest.raises(TimeoutError):
        journal.append([{"n": 1}])
    monkeypatch.undo()
    assert numbers(reader.read_new()) == [0, 1]
    journal.append([{"n": 2}])
    assert numbers(reader.read_new()) == [2]


def test_a_line_without_its_end_is_no_record(local: Root) -> None:
    journal = Journal(local, FOLDER)
    journal.append([{"n": 0}])
    (path,) = files(local)
    whole = path.read_bytes()
    second = json.dumps({"n": 1}).encode() + b"\n"
    reader = Journal(local, FOLDER)
    for cut in range(len(second)):
        path.write_bytes(whole + second[:cut])
        assert numbers(Journal(local, FOLDER).read()) == [0]
        assert numbers(reader.read_new()) == ([0] if cut == 0 else [])
    path.write_bytes(whole + second)
    assert numbers(reader.read_new()) == [1]


def test_damage_within_a_file_is_told_and_not_passed_over(local: Root) -> None:
    journal = Journal(local, FOLDER)
    journal.append([{"n": 0}, {"n": 1}])
    (path,) = files(local)
    for damage in (b"{\n", b"\0\0\0\n", b"[1]\n"):
        path.write_bytes(b'{"n": 0}\n' + damage + b'{"n": 2}\n')
        with pytest.raises(ShiftlakeError, match="damaged") as caught:
            Journal(local, FOLDER).read()
        assert "line 2" in str(caught.value)
        assert path.name in str(caught.value)


def test_damage_in_one_file_does_not_hide_what_is_new_in_another(local: Root) -> None:
    one, two, reader = (Journal(local, FOLDER) for _ in range(3))
    one.append([{"n": 0}])
    two.append([{"n": 1}])
    whole = files(local)[1].read_bytes()
    files(local)[1].write_bytes(b"}\n")
    for _ in range(2):
        with pytest.raises(ShiftlakeError, match="damaged"):
            reader.read_new()
    files(local)[1].write_bytes(whole)
    assert sorted(numbers(reader.read_new())) == [0, 1]


def test_a_full_disk_is_explained_and_the_journal_goes_on(
    local: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(local, FOLDER)
    journal.append([{"n": 0}])
    write = os.write

    def full(file: int, data: Any) -> int:
        if len(data) < 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, bytes(data)[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ShiftlakeError, match="disk is full"):
        journal.append([{"n": 1, "note": "x" * 100}])
    monkeypatch.undo()
    assert numbers(journal.read()) == [0]
    journal.append([{"n": 1, "note": "x" * 100}])
    assert numbers(journal.read()) == [0, 1]
    assert numbers(Journal(local, FOLDER).read()) == [0, 1]


def test_records_and_their_file_are_forced_to_disk_before_they_count(
    local: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[str] = []
    fsync = os.fsync

    def note(file: int) -> None:
        forced.append(Path(f"/proc/self/fd/{file}").readlink().name)
        fsync(file)

    monkeypatch.setattr(os, "fsync", note)
    journal = Journal(local, FOLDER)
    journal.append([{"n": 0}])
    (path,) = files(local)
    assert forced[-2:] == [path.name, "0123456789abcdef"]
    assert {"video", "things", "reviews"} <= set(forced)
    forced.clear()
    journal.append([{"n": 1}])
    assert forced == [path.name]
