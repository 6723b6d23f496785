"""The review server, as a browser, a script and an intruder meet it."""

import json
import socket
import time
import uuid
from urllib.parse import quote

import pytest
from mined_by_hand import mined_by_hand
from review_server import ReviewServer

from ops.shards.manifest import read_manifest
from ops.shards.reader import read_shard
from ops.storage import open_root
from ops.video.review import Review
from pipelines.review_page.recording import record_all
from pipelines.review_page.serving import names_of

PAGES = ("/", "/review/clips", "/review/clips/pairs", "/api/clips", "/static/review.js")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = open_root(tmp_path_factory.mktemp("review") / "lake")
    mined_by_hand(root, n_sets=6, per_shard=10)
    return root


@pytest.fixture(scope="module")
def server(root, tmp_path_factory):
    started = ReviewServer(root, tmp_path_factory.mktemp("state")).start()
    yield started
    started.kill()


@pytest.fixture(scope="module")
def version(root):
    return read_manifest(root, "frame_sets/clips").version


def decision(kind, subject, verdict, reviewer="Ann", **more):
    fields = {"kind": kind, "subject": subject, "verdict": verdict, "reviewer": reviewer}
    return {"id": uuid.uuid4().hex, **fields, **more}


def undo(event, reviewer="Ann"):
    return {"id": uuid.uuid4().hex, "kind": "undo", "reviewer": reviewer, "subject": event["id"]}


def recorded(root):
    return Review.open(root, "clips").events


# -- who may speak to it -----------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1"]
)
def test_under_another_name_nothing_is_answered(server, path, host):
    status, _, data = server.ask("GET", path, headers={"Host": host.format(port=server.port)})
    assert status == 403
    assert b"clips" not in data


def test_without_or_with_two_hosts_nothing_is_answered(server):
    for hosts in (b"", b"Host: 127.0.0.1:%d\r\nHost: evil\r\n" % server.port):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
            line.sendall(b"GET /api/clips HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
            answer = line.makefile("rb").readline()
        assert answer.split()[1] in (b"403", b"400")


def test_its_own_names_are_answered(server):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert server.ask("GET", "/api/clips", headers={"Host": f"{name}:{server.port}"})[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1", "http://localhost:{other}", "file://"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_site_is_refused(server, root, version, origin, method):
    before = recorded(root)
    body = {"mined_version": version, "events": [decision("anchor", "clip0000/000100", "bad")]}
    path = "/api/clips/events" if method == "POST" else "/api/clips"
    headers = {"Origin": origin.format(other=server.port + 1)}
    assert server.ask(method, path, body, headers)[0] == 403
    assert recorded(root) == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": ""}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Length": "99999999"}, 413),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403),
    ],
)
def test_what_no_page_of_its_own_would_send_changes_nothing(server, root, version, headers, status):
    before = recorded(root)
    body = {"mined_version": version, "events": [decision("anchor", "clip0000/000100", "bad")]}
    assert server.ask("POST", "/api/clips/events", body, headers)[0] == status
    assert recorded(root) == before


def test_a_picture_is_not_lent_to_another_site_but_a_link_may_lead_here(server, root, version):
    key = Review.open(root, "clips").anchors[0].sample_key
    foreign = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.ask("GET", f"/images/clips/{version}/{key}", headers=foreign)[0] == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert server.ask("GET", "/review/clips", headers=link)[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(server, method):
    assert server.ask(method, "/api/clips/events", headers={"Origin": server.url})[0] == 405


@pytest.mark.parametrize("path", [*PAGES, "/nothing", "/api/clips/queue"])
def test_every_answer_says_that_scripts_come_from_here_alone(server, path):
    _, headers, _ = server.ask("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


def test_pages_hold_no_inline_script_or_style(server):
    for path in (
        "/review/clips",
        *(f"/review/clips/{name}" for name in ("anchors", "pairs", "joint")),
    ):
        _, _, page = server.ask("GET", path)
        assert page.count(b"<script") == page.count(b'<script type="module" src="/static/')
        for inline in (b"<style", b" style=", b" onclick", b" onerror", b"javascript:"):
            assert inline not in page


def test_names_of_a_page_by_where_it_listens():
    assert names_of(None, 3002) == ("127.0.0.1:3002", "localhost:3002", "[::1]:3002")
    assert "10.1.2.3:3002" in names_of("10.1.2.3", 3002)
    assert "[fd00::1]:3002" in names_of("fd00::1", 3002)
    assert {"127.0.0.1", "127.0.0.1:80"} <= set(names_of(None, 80))
    assert {"review.lab", "review.lab:3002"} <= set(names_of(None, 3002, ["Review.lab"]))
    everywhere = names_of("0.0.0.0", 3002)
    assert "0.0.0.0:3002" not in everywhere
    assert f"{socket.gethostname().lower()}:3002" in everywhere


# -- pictures ----------------------------------------------------------------------------------


def test_each_picture_is_served_as_it_was_mined_and_may_be_kept(server, root, version):
    manifest = read_manifest(root, "frame_sets/clips")
    for entry in manifest.shards:
        for sample in read_shard(root, manifest, entry):
            path = f"/images/clips/{version}/{quote(sample.key)}"
            status, headers, data = server.ask("GET", path)
            assert (status, data) == (200, sample.image)
            assert headers["content-type"] == "image/jpeg"
            assert "immutable" in headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "/images/clips/{version}/clip9999/000100/000100",
        "/images/clips/{version}/../../../../gates.yaml",
        "/images/clips/{version}/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/images/clips/{version}/%2e%2e/%2e%2e/etc/passwd",
        "/images/clips/{version}//etc/passwd",
        "/images/clips/{version}/%00",
        "/images/clips/{version}/clip0000/000100/000100.jpg",
        "/images/clips/0123456789abcdef/clip0000/000100/000100",
        "/images/..%2fclips/{version}/clip0000/000100/000100",
        "/images/nothing/{version}/clip0000/000100/000100",
        "/static/../pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e/templates/pass.html.j2",
        "/api/..%2f..%2fshards",
        "/review/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/review/clips/%3Cb%3E",
    ],
)
def test_what_is_no_address_is_not_found(server, version, path):
    status, _, data = server.ask("GET", path.format(version=version))
    assert status == 404
    for told in (b"root:", b"import", b"<script>alert", b"<b>"):
        assert told not in data


# -- decisions ---------------------------------------------------------------------------------


def test_a_decision_sent_twice_is_recorded_once(server, root, version):
    key = Review.open(root, "clips").pairs[0].sample_key
    event = decision(
        "pair", key, "dissimilar", reasons=["blur"], note="soft", ms_spent=900, shown=1
    )
    body = {"mined_version": version, "events": [event]}
    for _ in range(3):
        said = server.json("POST", "/api/clips/events", body)
        assert said == {"mined_version": version, "recorded": [event["id"]], "refused": []}
    found = [one for one in recorded(root) if one.id == event["id"]]
    assert [(one.verdict, one.reasons, one.note, one.ms_spent) for one in found] == [
        ("dissimilar", ("blur",), "soft", 900)
    ]


def test_bad_decisions_are_told_apart_and_hold_up_nothing(server, root, version):
    key = Review.open(root, "clips").pairs[1].sample_key
    good = decision("pair", key, "similar", "Bo")
    bad = [
        decision("pair", "clip9999/000100/000101", "similar", "Bo"),
        decision("pair", key, "usable", "Bo"),
        decision("anchor", "clip0000/000100", "usable", "Bo", labels=[999]),
        decision("pair", key, "similar", "<b>Bo</b>"),
        decision("pair", key, "similar", "Bo", mined_version=7, strange=1),
        decision("pair", key, "similar", "Bo", note="x" * 3_000),
        decision("pair", key, "similar", "Bo", ms_spent=10**30),
        decision("pair", key, "similar", "Bo", shown=-1),
        decision("pair", key, "similar", "Bo", note="half \ud800"),
        decision("pair", "half \ud800", "similar", "Bo"),
        undo({"id": "0" * 32}, "Bo"),
    ]
    body = {"mined_version": version, "events": [*bad[:3], good, *bad[3:], "no event", None]}
    said = server.json("POST", "/api/clips/events", body)
    assert said["recorded"] == [good["id"]]
    assert {one["id"] for one in said["refused"]} == {one["id"] for one in bad} | {None}
    assert all(one["error"] for one in said["refused"])
    assert {one.id for one in recorded(root) if one.reviewer == "Bo"} == {good["id"]}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"events": 1}', b"[" * 50_000, b"\xff", b"{}"]
)
def test_what_is_no_list_of_decisions_is_refused(server, body):
    status, _, data = server.ask("POST", "/api/clips/events", body)
    assert status == 400
    assert json.loads(data)["error"]


def test_decisions_made_offline_count_in_the_order_in_which_they_were_made(tmp_path):
    root = open_root(tmp_path / "lake")
    mined_by_hand(root)
    review = Review.open(root, "clips")
    for pair in review.pairs:
        first, second, third = (
            decision("pair", pair.sample_key, verdict)
            for verdict in ("similar", "unsure", "wrong_label")
        )
        sent = [first, second, third, undo(third)]
        recorded, refused = record_all(review, review.mined_version, sent)
        assert (len(recorded), refused) == (4, [])
        votes = review.decisions().votes.counting("pair", pair.sample_key)
        assert votes["Ann"].verdict == "unsure"


def test_the_queue_is_what_is_left_and_tells_no_offset(server, root):
    ask = {"stage": "pairs", "reviewer": "Cy", "limit": 500}
    said = server.json("GET", "/api/clips/queue", **ask)
    assert said["left"] == len(said["items"]) == len(Review.open(root, "clips").pairs)
    for item in said["items"]:
        assert set(item) == {
            "id", "subject", "kind", "votes_as", "frame_set", "suggested", "labels", "pictures",
        }  # fmt: skip
        assert item["votes_as"] == "pair"
        assert [one["name"] for one in item["pictures"]] == ["anchor", "neighbour"]
    first = said["items"][0]["subject"]
    body = {
        "mined_version": said["mined_version"],
        "events": [decision("pair", first, "similar", "Cy")],
    }
    server.json("POST", "/api/clips/events", body)
    after = server.json("GET", "/api/clips/queue", **ask)
    assert after["items"] == said["items"][1:]
    mine = server.json("GET", "/api/clips/mine", stage="pairs", reviewer="Cy")
    assert [one["subject"] for one in mine["items"]] == [first]
    assert mine["items"][0]["decision"]["verdict"] == "similar"


def test_a_hidden_repeat_is_an_item_like_any_other_and_no_second_vote(root, tmp_path):
    mined_by_hand(root, "again", n_sets=20)
    server = ReviewServer(root, tmp_path / "state", "again", "--repeats", "1").start()
    try:
        ask = {"stage": "pairs", "reviewer": "Cy", "limit": 500}
        said = server.json("GET", "/api/again/queue", **ask)
        assert len(said["items"]) == 80
        assert said["left"] == 80 + 50, "all but the last 30 will come again"
        first = said["items"][0]
        body = {"mined_version": said["mined_version"], "events": []}
        for some in (said["items"][:20], said["items"][20:50]):
            body["events"] = [decision("pair", one["subject"], "similar", "Cy") for one in some]
            server.json("POST", "/api/again/events", body)
        after = server.json("GET", "/api/again/queue", **ask)
        again = [item for item in after["items"] if item["votes_as"] == "repeat"]
        assert {one["subject"] for one in again} == {one["subject"] for one in said["items"][:20]}
        assert len({item["id"] for item in after["items"]}) == len(after["items"])
        (repeat,) = [item for item in again if item["subject"] == first["subject"]]
        differing = {name for name in first if first[name] != repeat[name]}
        assert differing == {"id", "votes_as"}, "it looks the same"
        body["events"] = [decision("repeat", first["subject"], "unsure", "Cy")]
        server.json("POST", "/api/again/events", body)
        review = Review.open(root, "again")
        assert review.decisions().pair(first["subject"]).why == "similar"
        mine = server.json("GET", "/api/again/mine", stage="pairs", reviewer="Cy")
        assert mine["total"] == 51
        assert mine["items"][-1]["id"] == repeat["id"]
        (person,) = server.json("GET", "/api/again/status", reviewer="Cy")["reviewers"]
        assert (person["pairs"], person["repeated"], person["steady"]) == (50, 1, 0.0)
    finally:
        server.kill()


@pytest.mark.parametrize(
    "version", ["", "0123456789abcdef", "x" * 999, "../..", "\ud800", "<script>alert(1)</script>"]
)
def test_decisions_about_no_mining_are_a_conflict(server, version):
    status, headers, data = server.ask(
        "POST", "/api/clips/events", {"mined_version": version, "events": []}
    )
    assert status == 409
    assert headers["content-type"].startswith("application/json")
    assert len(json.loads(data)["error"]) < 1_000


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/queue", {"stage": "pairs"}),
        ("/queue", {"stage": "pairs", "reviewer": "<script>"}),
        ("/queue", {"stage": "everything", "reviewer": "Ann"}),
        ("/queue", {"stage": "pairs", "reviewer": "Ann", "order": "best"}),
        ("/queue", {"stage": "pairs", "reviewer": "Ann", "limit": "-1"}),
        ("/mine", {"stage": "pairs", "reviewer": " "}),
        ("/votes", {"subject": "nothing"}),
        ("/status", {"reviewer": "a" * 41}),
    ],
)
def test_questions_that_make_no_sense_are_told_so(server, path, parameters):
    status, _, data = server.ask("GET", f"/api/clips{path}", **parameters)
    assert status == 400
    assert json.loads(data)["error"]


def test_frames_mined_again_are_a_conflict_that_says_what_to_do(tmp_path):
    root = open_root(tmp_path / "lake")
    old = mined_by_hand(root).version
    server = ReviewServer(root, tmp_path / "state", "clips").start()
    try:
        key = server.json("GET", "/api/clips/queue", stage="pairs", reviewer="Ann")["items"][0]
        new = mined_by_hand(root, salt=1).version
        event = decision("pair", key["subject"], "similar")
        body = {"mined_version": old, "events": [event]}
        status, _, data = server.ask("POST", "/api/clips/events", body)
        assert status == 409
        assert f"shiftlake reviews carry clips {old}" in json.loads(data)["error"]
        assert recorded(root) == ()
        status, _, _ = server.ask("POST", "/api/clips/freeze", {"mined_version": old})
        assert status == 409
        body = {"mined_version": new, "events": [event]}
        assert server.json("POST", "/api/clips/events", body)["recorded"] == [event["id"]]
        assert server.json("GET", "/api/clips")["mined_version"] == new
    finally:
        server.kill()


def test_another_process_decides_and_the_page_knows(server, root):
    review = Review.open(root, "clips")
    pair = review.pairs[-1].sample_key
    fields = decision("pair", pair, "unsure", "Elsewhere")
    assert record_all(review, review.mined_version, [fields])[1] == []

    def seen():
        said = server.json("GET", "/api/clips/votes", subject=pair)
        return [one["verdict"] for one in said["votes"] if one["reviewer"] == "Elsewhere"]

    for _ in range(40):
        if seen() == ["unsure"]:
            return
        time.sleep(0.1)
    raise AssertionError("the server does not see what another process recorded")
