"""The server speaks HTTP as real hosts do, and fails as they do when told to."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.miniature import Fault, MiniatureServer, MiniatureUpstream, serve

PATH = "/imagenet-a/imagenet-a.tar"
HTTP = urllib3.PoolManager(retries=False, timeout=5)


@pytest.fixture
def server(miniature: MiniatureUpstream) -> Iterator[MiniatureServer]:
    with serve(miniature.folder) as running:
        yield running


@pytest.fixture
def content(miniature: MiniatureUpstream) -> bytes:
    return miniature.path("imagenet-a", "imagenet_a_tar").read_bytes()


def get(server: MiniatureServer, path: str = PATH, **headers: str) -> urllib3.BaseHTTPResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HTTP.request("GET", server.url + path, headers=named, redirect=False)


def test_every_file_is_served_whole(server: MiniatureServer) -> None:
    for facts in server.upstream.files:
        answer = get(server, f"/{facts['benchmark']}/{facts['name']}")
        assert hashlib.sha256(answer.data).hexdigest() == facts["sha256"]
    assert server.bytes_served == sum(facts["bytes"] for facts in server.upstream.files)
    assert get(server, "/imagenet-a/../truth").status == 404


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=st.integers(0, 200_000), length=st.integers(1, 200_000))
def test_any_range_is_the_slice(
    server: MiniatureServer, content: bytes, first: int, length: int
) -> None:
    answer = get(server, Range=f"bytes={first}-{first + length - 1}")
    if first >= len(content):
        assert answer.status == 416
        assert answer.headers["Content-Range"] == f"bytes */{len(content)}"
    else:
        part = content[first : first + length]
        assert answer.status == 206
        assert answer.data == part
        end = first + len(part) - 1
        assert answer.headers["Content-Range"] == f"bytes {first}-{end}/{len(content)}"


def test_open_and_suffix_ranges(server: MiniatureServer, content: bytes) -> None:
    assert get(server, Range="bytes=100-").data == content[100:]
    assert get(server, Range="bytes=-100").data == content[-100:]


def test_if_range_answers_with_all_when_the_file_is_another(
    server: MiniatureServer, content: bytes
) -> None:
    etag = get(server).headers["ETag"]
    assert get(server, Range="bytes=9-", If_Range=etag).status == 206
    answer = get(server, Range="bytes=9-", If_Range='"old"')
    assert (answer.status, answer.data) == (200, content)


def test_head_has_the_length_and_no_body(server: MiniatureServer, content: bytes) -> None:
    answer = HTTP.request("HEAD", server.url + PATH)
    assert answer.headers["Content-Length"] == str(len(content))
    assert answer.data == b""
    assert server.bytes_served == 0


def test_redirect_leads_to_the_file(server: MiniatureServer, content: bytes) -> None:
    assert get(server, f"/redirect{PATH}").status == 302
    followed = HTTP.request("GET", f"{server.url}/redirect{PATH}", retries=urllib3.Retry(1))
    assert followed.data == content


def test_zenodo_record_names_size_checksum_and_address(server: MiniatureServer) -> None:
    record = get(server, "/api/records/2235448").json()
    files = {each["key"]: each for each in record["files"]}
    assert set(files) == {f"{n}.tar" for n in ("noise", "blur", "weather", "digital", "extra")}
    answer = HTTP.request("GET", files["blur.tar"]["links"]["self"])
    assert len(answer.data) == files["blur.tar"]["size"]
    assert files["blur.tar"]["checksum"] == "md5:" + hashlib.md5(answer.data).hexdigest()


def test_status_fault_strikes_the_chosen_requests_only(server: MiniatureServer) -> None:
    server.inject(Fault("status", PATH, first=2, times=2, status=503, retry_after=1))
    answers = [get(server) for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 503, 503, 200]
    assert answers[1].headers["Retry-After"] == "1"
    assert get(server, "/imagenet-o/imagenet-o.tar").status == 200
    assert [request.status for request in server.requests(PATH)] == [200, 503, 503, 200]


def test_cut_announces_all_and_sends_a_part(server: MiniatureServer, content: bytes) -> None:
    server.inject(Fault("cut", PATH, after=5000))
    answer = HTTP.request("GET", server.url + PATH, preload_content=False)
    assert answer.headers["Content-Length"] == str(len(content))
    with pytest.raises(urllib3.exceptions.ProtocolError):
        answer.read()
    assert server.log[-1].bytes == 5000
    assert get(server, Range="bytes=5000-").data == content[5000:]


def test_short_body_looks_complete(server: MiniatureServer, content: bytes) -> None:
    server.inject(Fault("short", PATH, after=700))
    assert get(server).data == content[:700]


@pytest.mark.parametrize("first", [0, 12345])
def test_wrong_bytes_have_the_right_length(
    server: MiniatureServer, content: bytes, first: int
) -> None:
    server.inject(Fault("wrong_bytes", PATH))
    data = get(server, Range=f"bytes={first}-").data
    wrong = [
        n + first for n, (a, b) in enumerate(zip(data, content[first:], strict=True)) if a != b
    ]
    assert wrong == [n for n in range(0, len(content), 997) if n >= first]


def test_no_ranges_sends_everything(server: MiniatureServer, content: bytes) -> None:
    server.inject(Fault("no_ranges", PATH, times=None))
    answer = get(server, Range="bytes=10-")
    assert (answer.status, answer.data) == (200, content)
    assert "Accept-Ranges" not in answer.headers


def test_html_page_comes_with_status_200(server: MiniatureServer) -> None:
    server.inject(Fault("html", "/imagenet-sketch/*"))
    answer = get(server, "/imagenet-sketch/ImageNet-Sketch.zip")
    assert answer.status == 200
    assert answer.data.startswith(b"<")
    assert get(server, "/imagenet-sketch/ImageNet-Sketch.zip").data.startswith(b"PK")


def test_equal_faults_count_apart(server: MiniatureServer) -> None:
    server.inject(Fault("status", PATH))
    assert [get(server).status for _ in range(2)] == [503, 200]
    server.inject(Fault("status", PATH))
    assert [get(server).status for _ in range(2)] == [503, 200]


def test_rate_slows_the_body(miniature: MiniatureUpstream, content: bytes) -> None:
    rate = len(content) / 0.5
    with serve(miniature.folder, rate=rate) as server:
        start = time.monotonic()
        assert get(server).data == content
        assert time.monotonic() - start >= 0.4


def test_serving_nothing_says_how_to_build(tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="Build it first"), serve(tmp_path):
        pass
