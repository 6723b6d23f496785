"""The hosts that publish the benchmarks, each with its own habits."""

from __future__ import annotations

import hashlib
import json

import pytest
from fault_server import QUICK, FaultServer, known, noise, sha256, source

from ops.fetch import AllUrlsFailed, fetch
from ops.storage import Root

DATA = noise(3 << 20)
CONFIRM_FORM = """<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head>
<body><form id="download-form" action="{action}" method="get">
<input type="submit" id="uc-download-link" value="Download anyway"/>
<input type="hidden" name="id" value="1Mj0"><input type="hidden" name="export" value="download">
<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="a-b&amp;c">
</form></body></html>"""
CONFIRM_LINK = """<html><a id="uc-download-link" class="goog"
 href="/uc?export=download&amp;confirm=AbCd&amp;id=1Mj0">Download anyway</a></html>"""
QUOTA = "<html><title>Google Drive - Quota exceeded</title>Sorry, Quota exceeded</html>"


def test_hf_url_asks_the_hub_with_its_token(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url + "/")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    path = "/datasets/owner/repo/resolve/v1.0/data/a%20b.tar"
    server.put("/cdn/blob?X-Amz-Signature=51gn", DATA)
    server.put(
        path,
        status=302,
        headers={
            "Location": f"{server.other_url}/cdn/blob?X-Amz-Signature=51gn",
            "X-Linked-ETag": f'"{sha256(DATA)}"',
        },
    )
    file = source(None, "hf://datasets/owner/repo@v1.0/data/a%20b.tar")
    receipt = fetch(root, file)
    assert receipt.verified_by == ["sha256: the host"]
    assert receipt.url == "hf://datasets/owner/repo@v1.0/data/a%20b.tar"
    hub, cdn = server.requests
    assert hub.headers["Authorization"] == "Bearer hf_secret"
    assert "Authorization" not in cdn.headers


def test_public_hub_links_move_to_the_endpoint(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    server.put("/datasets/o/r/resolve/main/a.tar?download=true", DATA)
    fetch(root, known("https://huggingface.co/datasets/o/r/resolve/main/a.tar?download=true", DATA))
    assert "Authorization" not in server.requests[0].headers


def test_what_one_hub_states_does_not_bind_the_next_mirror(server: FaultServer, root: Root) -> None:
    stated = {"X-Linked-ETag": sha256(b"something else")}
    first = server.put("/a.tar", DATA, headers=stated)
    receipt = fetch(root, source(first, server.put("/b.tar", DATA)), patience=QUICK)
    assert receipt.url == f"{server.url}/b.tar"


def test_a_gated_hub_file_says_what_to_set(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    server.put("/datasets/o/r/resolve/main/a.tar", DATA, allow=lambda request: False)
    with pytest.raises(AllUrlsFailed, match="set HF_TOKEN"):
        fetch(root, known(None, DATA, "hf://datasets/o/r/a.tar"), patience=QUICK)


def test_an_hf_url_without_file_is_refused(root: Root) -> None:
    with pytest.raises(AllUrlsFailed, match="not of the form"):
        fetch(root, known(None, DATA, "hf://datasets/owner"), patience=QUICK)


def test_drive_confirm_form_is_passed_also_on_resume(server: FaultServer, root: Root) -> None:
    form = CONFIRM_FORM.format(action="/download?hl=de").encode()
    url = server.put(
        "/uc?id=1Mj0&export=download",
        form,
        content_type="text/html; charset=utf-8",
        ranges=False,
        cookies=["NID=51; Path=/; HttpOnly"],
    )
    confirmed = "/download?hl=de&id=1Mj0&export=download&confirm=t&uuid=a-b%26c"
    server.put(confirmed, DATA, spoil=[{"cut": 1 << 20}])
    receipt = fetch(root, known(url, DATA), patience=QUICK)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA
    assert receipt.url == url
    asked = server.asked(confirmed)
    assert asked[0].headers["Cookie"] == "NID=51"
    assert asked[1].headers["Range"] == f"bytes={1 << 20}-"


def test_older_drive_confirm_link_needs_its_cookie(server: FaultServer, root: Root) -> None:
    url = server.put(
        "/uc?export=download&id=1Mj0",
        CONFIRM_LINK.encode(),
        content_type="text/html",
        cookies=["download_warning_1=AbCd; Path=/"],
    )
    server.put(
        "/uc?export=download&confirm=AbCd&id=1Mj0",
        DATA,
        allow=lambda request: request.headers.get("Cookie") == "download_warning_1=AbCd",
    )
    fetch(root, known(url, DATA), patience=QUICK)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA


def test_drive_quota_is_named(server: FaultServer, root: Root) -> None:
    url = server.put("/uc?id=1", QUOTA.encode(), content_type="text/html")
    with pytest.raises(AllUrlsFailed, match="quota"):
        fetch(root, known(url, DATA), patience=QUICK)


def zenodo(server: FaultServer, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """A record as Zenodo answers it, with the one file `noise.tar`."""
    monkeypatch.setenv("SHIFTLAKE_ZENODO_API", f"{server.url}/api")
    entry = {
        "key": "noise.tar",
        "size": len(data),
        "checksum": f"md5:{hashlib.md5(data).hexdigest()}",
        "links": {"self": f"{server.url}/api/records/3565846/files/noise.tar/content"},
    }
    record = json.dumps({"id": 3565846, "files": [{"key": "blur.tar"}, entry]}).encode()
    server.put("/api/records/3565846", record, content_type="application/json")
    server.put("/api/records/3565846/files/noise.tar/content", DATA)


ZENODO_URL = "https://zenodo.org/record/3565846/files/noise.tar"


def test_zenodo_fills_what_the_catalog_lacks(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    zenodo(server, monkeypatch, DATA)
    receipt = fetch(root, source(ZENODO_URL))
    assert receipt.verified_by == ["md5: zenodo", "size: zenodo"]
    assert receipt.md5 == hashlib.md5(DATA).hexdigest()


def test_zenodo_md5_is_enforced(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    zenodo(server, monkeypatch, noise(len(DATA), seed=1))
    server_file = f"{server.url}/api/records/3565846/files/noise.tar/content"
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with pytest.raises(AllUrlsFailed) as failed:
        fetch(root, source(ZENODO_URL), patience=QUICK)
    assert f"{server_file}: expected md5" in str(failed.value)
    assert "(zenodo)" in str(failed.value)


def test_zenodo_is_not_asked_when_all_is_known(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    zenodo(server, monkeypatch, DATA)
    mirror = server.put("/mirror.tar", DATA)
    fetch(root, known(ZENODO_URL, DATA, mirror_url=mirror))
    assert [request.path for request in server.requests] == ["/mirror.tar"]


@pytest.mark.parametrize("answer", [b"<html>busy</html>", b'{"files": []}', b'{"files": 3}', None])
def test_a_strange_zenodo_answer_does_not_stop_the_download(
    server: FaultServer,
    root: Root,
    monkeypatch: pytest.MonkeyPatch,
    log: list[str],
    answer: bytes | None,
) -> None:
    monkeypatch.setenv("SHIFTLAKE_ZENODO_API", f"{server.url}/api")
    if answer is not None:
        server.put("/api/records/3565846", answer)
    file = source(ZENODO_URL, mirror_url=server.put("/mirror.tar", DATA))
    assert fetch(root, file, log=log.append).verified_by == ["first use"]
    assert any("Zenodo" in line for line in log)
