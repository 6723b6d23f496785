"""Only trouble that may pass is retried, as long and as often as asked."""

from __future__ import annotations

import socket
import time

import pytest
from fault_server import QUICK, FaultServer, known, noise

from ops.fetch import AllUrlsFailed, Patience, fetch
from ops.storage import Root

DATA = noise(3 << 20)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_passing_trouble_is_retried(server: FaultServer, root: Root, status: int) -> None:
    url = server.put("/a.tar", DATA, spoil=[{"status": status}] * 2)
    assert fetch(root, known(url, DATA), patience=QUICK).attempts == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_definite_no_is_asked_once(server: FaultServer, root: Root, status: int) -> None:
    url = server.put("/a.tar", DATA, spoil=[{"status": status}] * 9)
    with pytest.raises(AllUrlsFailed, match=f"HTTP {status}"):
        fetch(root, known(url, DATA), patience=QUICK)
    assert len(server.requests) == 1


def test_retry_after_is_honoured(server: FaultServer, root: Root, log: list[str]) -> None:
    spoil = [{"status": 503, "headers": {"Retry-After": "1"}}]
    url = server.put("/a.tar", DATA, spoil=spoil)
    begun = time.monotonic()
    fetch(root, known(url, DATA), patience=QUICK, log=log.append)
    assert time.monotonic() - begun >= 1.0
    assert any("again in 1.0 s" in line for line in log)


def test_retry_after_has_a_bound(server: FaultServer, root: Root) -> None:
    spoil = [
        {"status": 429, "headers": {"Retry-After": "86400"}},
        {"status": 429, "headers": {"Retry-After": "Fri, 01 Jan 2199 00:00:00 GMT"}},
    ]
    url = server.put("/a.tar", DATA, spoil=spoil)
    begun = time.monotonic()
    fetch(root, known(url, DATA), patience=Patience(tries=3, first=0.01, asked=0.2))
    assert 0.4 <= time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "asked", ["soon", "-1", "\xb2", "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"]
)
def test_a_retry_after_that_means_nothing_is_passed_over(
    server: FaultServer, root: Root, asked: str
) -> None:
    spoil = [{"status": 503, "headers": {"Retry-After": asked}}]
    url = server.put("/a.tar", DATA, spoil=spoil)
    assert fetch(root, known(url, DATA), patience=QUICK).attempts == 2


def test_waits_double(server: FaultServer, root: Root, log: list[str]) -> None:
    url = server.put("/a.tar", DATA, spoil=[{"status": 500}] * 4)
    patience = Patience(tries=5, first=0.1, longest=0.4)
    fetch(root, known(url, DATA), patience=patience, log=log.append)
    waits = [line.rpartition("again in ")[2] for line in log if "again in" in line]
    assert waits == ["0.1 s", "0.2 s", "0.4 s", "0.4 s"]


def test_progress_refills_the_patience(server: FaultServer, root: Root) -> None:
    cuts = [{"cut": part * (1 << 18)} for part in range(1, 12)]
    url = server.put("/a.tar", DATA, spoil=cuts)
    assert fetch(root, known(url, DATA), patience=QUICK).attempts == 12


def test_the_same_short_body_again_and_again_is_given_up(server: FaultServer, root: Root) -> None:
    url = server.put("/a.tar", DATA, ranges=False, spoil=[{"cut": 1 << 20}] * 99)
    with pytest.raises(AllUrlsFailed):
        fetch(root, known(url, DATA), patience=QUICK)
    assert len(server.requests) == 1 + QUICK.tries


def test_nobody_listening_is_retried_and_named(root: Root, log: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    file = known(f"http://127.0.0.1:{port}/a.tar", DATA)
    with pytest.raises(AllUrlsFailed, match="refused"):
        fetch(root, file, patience=QUICK, log=log.append)
    assert sum("again in" in line for line in log) == QUICK.tries - 1


def test_a_silent_server_does_not_hang_a_fetch(root: Root) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        file = known(f"http://127.0.0.1:{silent.getsockname()[1]}/a.tar", DATA)
        patience = Patience(tries=2, first=0.01, timeout=0.2)
        with pytest.raises(AllUrlsFailed, match="timed out"):
            fetch(root, file, patience=patience)


def test_endless_redirects_end(server: FaultServer, root: Root) -> None:
    url = server.put("/a.tar", status=302, headers={"Location": "/a.tar"})
    with pytest.raises(AllUrlsFailed, match="redirects"):
        fetch(root, known(url, DATA), patience=QUICK)


def test_a_redirect_to_a_local_file_is_not_followed(
    server: FaultServer, root: Root, tmp_path
) -> None:
    private = tmp_path / "private"
    private.write_bytes(DATA)
    url = server.put("/a.tar", status=302, headers={"Location": private.as_uri()})
    with pytest.raises(AllUrlsFailed, match="not http"):
        fetch(root, known(url, DATA), patience=QUICK)
