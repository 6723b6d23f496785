"""What is not the published file is refused by name, kept aside, and the next URL tried."""

from __future__ import annotations

import gzip

import pytest
from fault_server import QUICK, FaultServer, known, noise, sha256, source

from ops.fetch import AllUrlsFailed, fetch
from ops.storage import Root

DATA = noise(200_000)
PAGE = b"\xef\xbb\xbf\n <!DOCTYPE html><html><head><title>Sign in\n please</title></head></html>"


def refused(root: Root) -> tuple[bytes, dict[str, object]]:
    """The one file that was put aside, and the note beside it."""
    names = root.list("sources/refused")
    kept, note = sorted(names, key=len)
    assert note == f"{kept}.reason.json"
    return root.read_bytes(kept), root.read_json(note)


@pytest.mark.parametrize(
    ("wrong", "content_type", "shown"),
    [
        (noise(200_000, seed=1), "application/octet-stream", "sha256"),
        (DATA[:-1], "application/octet-stream", "199,999 bytes"),
        (PAGE, "text/html; charset=utf-8", "'Sign in please'"),
        (PAGE, "application/octet-stream", "HTML page"),
        (b"please wait", "text/html", "HTML page"),
    ],
    ids=["hash", "size", "page", "page under a wrong type", "text page"],
)
def test_the_next_mirror_is_tried(
    server: FaultServer, root: Root, wrong: bytes, content_type: str, shown: str
) -> None:
    bad = server.put("/bad.tar", wrong, content_type=content_type)
    good = server.put("/good.tar", DATA)
    receipt = fetch(root, known(bad, DATA, good), patience=QUICK)
    assert receipt.url == good
    assert root.read_bytes("sources/imagenet-c/noise.tar") == DATA
    kept, note = refused(root)
    assert kept == wrong
    assert shown in str(note["found"])
    assert (note["url"], note["benchmark"], note["file"]) == (bad, "imagenet-c", "noise")
    assert note["sha256_of_kept"] == sha256(wrong)


def test_one_error_lists_every_url_with_its_reason(server: FaultServer, root: Root) -> None:
    bad = server.put("/bad.tar", noise(len(DATA), seed=1))
    login = server.put("/login.tar", PAGE, content_type="text/html")
    file = known(bad, DATA, login, f"{server.url}/missing.tar", f"{server.url}/more.tar")
    with pytest.raises(AllUrlsFailed) as failed:
        fetch(root, file, patience=QUICK)
    lines = str(failed.value).splitlines()
    reasons = {url: line for line in lines for url in file.urls if f" {url}:" in line}
    assert list(reasons) == file.urls
    assert sha256(DATA) in reasons[bad]
    assert "HTML page" in reasons[login]
    assert "404" in reasons[file.urls[2]]
    assert not root.exists(file.path)
    assert not root.exists("sources/imagenet-c/noise.tar.receipt.json")


def test_a_page_does_not_cost_the_bytes_already_here(server: FaultServer, root: Root) -> None:
    data = noise(3 << 20)
    first = server.put("/a.tar", data, spoil=[{"cut": 2 << 20}, *[{"status": 500}] * 3])
    page = server.put("/b.tar", PAGE, content_type="text/html")
    third = server.put("/c.tar", data)
    receipt = fetch(root, known(first, data, page, third), patience=QUICK)
    assert receipt.url == third
    assert server.asked("/c.tar")[0].sent == len(data) - (2 << 20)


def test_a_document_may_begin_with_markup_if_the_catalog_says_so(
    server: FaultServer, root: Root
) -> None:
    url = server.put("/index.html", PAGE, content_type="text/html")
    fetch(root, source(url, name="index.html", archive_format="html page"))
    assert root.read_bytes("sources/imagenet-c/index.html") == PAGE


def test_an_archive_labelled_as_html_is_still_an_archive(server: FaultServer, root: Root) -> None:
    data = b"PK\3\4\0\0" + noise(1000)
    fetch(root, source(server.put("/a.tar", data, content_type="text/html")))
    assert root.read_bytes("sources/imagenet-c/noise.tar") == data


def test_an_answer_longer_than_the_file_is_cut_off(server: FaultServer, root: Root) -> None:
    url = server.put("/a.tar", noise(40 << 20), declared=False)
    with pytest.raises(AllUrlsFailed, match="200,000 bytes"):
        fetch(root, known(url, DATA), patience=QUICK)
    assert len(refused(root)[0]) < 4 << 20


@pytest.mark.parametrize(
    "location", ["http://[bad/a.tar", "http://127.0.0.1:99999/a.tar", "http://exa mple/a.tar"]
)
def test_a_redirect_to_a_malformed_address_leaves_the_next_mirror(
    server: FaultServer, root: Root, location: str
) -> None:
    bad = server.put("/bad.tar", status=302, headers={"Location": location})
    good = server.put("/good.tar", DATA)
    assert fetch(root, known(bad, DATA, good), patience=QUICK).url == good


def test_a_page_with_a_malformed_link_is_a_page(server: FaultServer, root: Root) -> None:
    page = PAGE + b'<a href="http://[bad">a</a>'
    bad = server.put("/bad.tar", page, content_type="text/html")
    good = server.put("/good.tar", DATA)
    assert fetch(root, known(bad, DATA, good), patience=QUICK).url == good
    assert refused(root)[0] == page


def test_what_was_packed_on_the_way_is_not_trusted_on_first_use(
    server: FaultServer, root: Root
) -> None:
    table = b"model,top1\n" * 100
    packed = server.put("/packed.csv", gzip.compress(table), headers={"Content-Encoding": "gzip"})
    plain = server.put("/plain.csv", table)
    file = source(packed, plain, name="results.csv")
    assert fetch(root, file, patience=QUICK).url == plain
    assert root.read_bytes(file.path) == table


def test_a_gz_that_a_server_calls_encoded_is_the_file(server: FaultServer, root: Root) -> None:
    data = gzip.compress(DATA[:1000])
    url = server.put("/a.csv.gz", data, headers={"Content-Encoding": "x-gzip"})
    file = source(url, name="a.csv.gz")
    fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == data
