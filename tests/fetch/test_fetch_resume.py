"""Whatever breaks, only the missing bytes are asked for again, and the bytes stay right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_server import QUICK, FaultServer, known, noise, source

from ops.fetch import fetch
from ops.storage import Root

MIB = 1 << 20
DATA = noise(5 * MIB)

FETCH_IN_A_PROCESS = """
import sys
from ops.catalog import SourceFile
from ops.fetch import fetch
from ops.storage import open_root
fetch(open_root(sys.argv[1]), SourceFile.model_validate_json(sys.argv[2]), log=print)
"""


def start_process(root: Root, file) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FETCH_IN_A_PROCESS, root.url, file.model_dump_json()],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def partials(root: Root) -> list[Path]:
    return sorted((root.scratch() / "fetch").glob("*.part"))


class CtrlC(BaseException):
    """Stands for the user's interrupt."""


def interrupt_after(size: int):
    def progress(done: int, total: int | None) -> None:
        if done >= size:
            raise CtrlC

    return progress


def fetch_part(root: Root, file, size: int) -> int:
    """Break off once `size` bytes are there; returns the bytes kept."""
    with pytest.raises(CtrlC):
        fetch(root, file, progress=interrupt_after(size))
    return partials(root)[0].stat().st_size


def test_a_cut_connection_is_continued(server: FaultServer, root: Root, log: list[str]) -> None:
    url = server.put("/noise.tar", DATA, spoil=[{"cut": 2 * MIB + 17}, {"cut": 4 * MIB}])
    receipt = fetch(root, known(url, DATA), log=log.append, patience=QUICK)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA
    assert receipt.attempts == 3
    starts = [request.headers.get("Range") for request in server.requests]
    assert starts == [None, f"bytes={2 * MIB + 17}-", f"bytes={4 * MIB}-"]
    assert server.requests[1].headers["If-Range"] == '"v1"'
    assert sum(request.sent for request in server.requests) == len(DATA)
    assert any("continued at" in line for line in log)


def test_kill_9_in_the_middle_costs_only_the_missing_bytes(server: FaultServer, root: Root) -> None:
    url = server.put("/noise.tar", DATA, pause=0.02)
    file = known(url, DATA)
    process = start_process(root, file)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (found := partials(root)) and found[0].stat().st_size >= MIB:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = partials(root)[0].stat().st_size
    assert MIB <= kept < len(DATA)
    assert not root.exists(file.path), "an unfinished file is never published"
    server.answers["/noise.tar"].pause = 0
    fetch(root, file)
    assert root.read_bytes(file.path) == DATA
    last = server.requests[-1]
    assert last.headers["Range"] == f"bytes={kept}-"
    assert last.sent == len(DATA) - kept
    assert partials(root) == []


def test_two_processes_download_once(server: FaultServer, root: Root) -> None:
    file = known(server.put("/noise.tar", DATA, pause=0.005), DATA)
    both = [start_process(root, file), start_process(root, file)]
    output = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], output
    assert sum(request.sent for request in server.requests) == len(DATA)
    assert root.read_bytes(file.path) == DATA


def test_a_server_without_ranges_sends_it_again(server: FaultServer, root: Root) -> None:
    url = server.put("/noise.tar", DATA, ranges=False, spoil=[{"cut": 3 * MIB}])
    fetch(root, known(url, DATA), patience=QUICK)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA
    assert [request.sent for request in server.requests] == [3 * MIB, len(DATA)]


@pytest.mark.parametrize("with_hash", [True, False])
def test_a_changed_etag_starts_over(server: FaultServer, root: Root, with_hash: bool) -> None:
    new = noise(5 * MIB, seed=1)
    url = server.put("/noise.tar", DATA)
    file = known(url, new) if with_hash else source(url)
    fetch_part(root, file, 2 * MIB)
    server.put("/noise.tar", new, etag='"v2"')
    fetch(root, file)
    assert root.read_bytes(file.path) == new


def test_a_server_that_ignores_if_range_does_not_mix_two_files(
    server: FaultServer, root: Root
) -> None:
    new = noise(5 * MIB, seed=1)
    file = source(server.put("/noise.tar", DATA))
    fetch_part(root, file, 2 * MIB)
    server.put("/noise.tar", new, etag='"v2"', honours_if_range=False)
    fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == new


def test_without_hash_and_validator_nothing_is_joined(server: FaultServer, root: Root) -> None:
    url = server.put("/noise.tar", DATA, etag=None, spoil=[{"cut": 3 * MIB}])
    fetch(root, source(url), patience=QUICK)
    assert [request.headers.get("Range") for request in server.requests] == [None, None]
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA


def test_a_range_from_elsewhere_is_not_appended(server: FaultServer, root: Root) -> None:
    url = server.put("/noise.tar", DATA, spoil=[{"cut": 2 * MIB}, {"shift": 5}])
    fetch(root, known(url, DATA), patience=QUICK)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA


def test_another_mirror_continues_what_the_first_began(server: FaultServer, root: Root) -> None:
    first = server.put(
        "/a.tar", DATA, spoil=[{"cut": 3 * MIB}, *[{"status": 503, "headers": {}}] * 3]
    )
    second = server.put("/b.tar", DATA, etag='"other"')
    receipt = fetch(root, known(first, DATA, second), patience=QUICK)
    assert receipt.url == second
    assert server.asked("/b.tar")[0].sent == len(DATA) - 3 * MIB
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA


def test_a_damaged_partial_is_found_and_replaced(
    server: FaultServer, root: Root, log: list[str]
) -> None:
    file = known(server.put("/noise.tar", DATA), DATA)
    fetch_part(root, file, 2 * MIB)
    with partials(root)[0].open("r+b") as damaged:
        damaged.write(b"oops")
    fetch(root, file, log=log.append)
    assert root.read_bytes(file.path) == DATA
    assert any("do not fit together" in line for line in log)


def test_bytes_without_a_note_are_not_trusted(server: FaultServer, root: Root) -> None:
    file = source(server.put("/noise.tar", DATA))
    fetch_part(root, file, 2 * MIB)
    next((root.scratch() / "fetch").glob("*.state.json")).unlink()
    fetch(root, file)
    assert root.read_bytes(file.path) == DATA
    assert "Range" not in server.requests[-1].headers


def test_a_finished_partial_needs_no_request(server: FaultServer, root: Root) -> None:
    file = known(server.put("/noise.tar", DATA), DATA)
    assert fetch_part(root, file, len(DATA)) == len(DATA)
    asked = len(server.requests)
    assert fetch(root, file).bytes == len(DATA)
    assert len(server.requests) == asked


def test_a_finished_partial_of_unknown_length_is_recognised(
    server: FaultServer, root: Root
) -> None:
    file = source(server.put("/noise.tar", DATA, declared=False))
    assert fetch_part(root, file, len(DATA)) == len(DATA)
    fetch(root, file)
    assert root.read_bytes(file.path) == DATA
    assert sum(request.sent for request in server.requests) == len(DATA)


@pytest.mark.parametrize("with_hash", [True, False])
def test_a_cut_chunked_body_is_noticed(server: FaultServer, root: Root, with_hash: bool) -> None:
    url = server.put("/noise.tar", DATA, declared=False, spoil=[{"cut": 3 * MIB}])
    file = known(url, DATA) if with_hash else source(url)
    fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == DATA


def test_a_changed_local_mirror_starts_over(tmp_path: Path, root: Root) -> None:
    mirror = tmp_path / "noise.tar"
    mirror.write_bytes(DATA)
    file = source(mirror.as_uri())
    fetch_part(root, file, 2 * MIB)
    new = noise(4 * MIB, seed=1)
    mirror.write_bytes(new)
    fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == new
