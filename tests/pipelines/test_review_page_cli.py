"""The commands about reviews: each says what it did, and refuses what makes no sense."""

import json
import signal
import socket
import subprocess

import pytest
from mined_by_hand import mined_by_hand
from review_server import ReviewServer
from typer.testing import CliRunner

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.storage import open_root
from ops.video.review import Review
from pipelines.cli.main import app
from pipelines.cli.video import tell_of_decisions
from pipelines.review_page.recording import record_all


@pytest.fixture
def lake(tmp_path, monkeypatch):
    for name in ("SHIFTLAKE_STATE", "DAGSTER_HOME", "COLUMNS"):
        monkeypatch.setenv(name, "140" if name == "COLUMNS" else str(tmp_path / name))
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "lake"))
    root = open_root(tmp_path / "lake")
    mined_by_hand(root, n_sets=3)
    return root


def run(*arguments):
    result = CliRunner().invoke(app, ["reviews", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def decide(root, share=1.0):
    review = Review.open(root, "clips")
    subjects = [("anchor", item.frame_set, "usable") for item in review.anchors]
    subjects += [("pair", item.sample_key, "similar") for item in review.pairs]
    events = [
        {"id": f"{n:032x}", "kind": kind, "subject": subject, "verdict": verdict, "reviewer": "Ann"}
        for n, (kind, subject, verdict) in enumerate(subjects[: int(share * len(subjects))])
    ]
    assert record_all(review, review.mined_version, events)[1] == []


def test_status_freeze_and_seal(lake):
    decide(lake, 0.8)
    with pytest.raises(ShiftlakeError):
        run("freeze", "clips")
    assert "Frozen: clips" in run("freeze", "clips", "--allow-pending", "--no-seal")
    decide(lake)
    output = run("status", "clips")
    assert "accepted 12" in output
    assert "Ann 12" in output
    assert "15 frames" in run("freeze", "clips")
    assert read_manifest(lake, "reviewed_frame_sets/clips").n_samples == 15


def test_what_is_exported_is_imported_elsewhere_and_twice_adds_nothing(lake, tmp_path, monkeypatch):
    decide(lake)
    run("export", "clips", tmp_path / "all.csv")
    run("export", "clips", tmp_path / "official", "--form", "pmsets")
    sets = json.loads((tmp_path / "official" / "pmsets.json").read_text())
    assert sorted(len(neighbours) for neighbours in sets.values()) == [4, 4, 4]
    other = open_root(tmp_path / "other")
    mined_by_hand(other, n_sets=3)
    monkeypatch.setenv("SHIFTLAKE_ROOT", other.url)
    assert "15 decisions recorded" in run("import", "clips", tmp_path / "all.csv")
    assert "0 decisions recorded" in run("import", "clips", tmp_path / "all.csv")
    again = run("import", "clips", tmp_path / "official", "--form", "pmsets", "--reviewer", "them")
    assert "15 decisions recorded" in again
    names = {event.reviewer for event in Review.open(other, "clips").events}
    assert names == {"Ann", "them"}


def test_decisions_are_carried_to_a_mining_with_the_same_pictures(lake, capsys):
    decide(lake)
    old = read_manifest(lake, "frame_sets/clips").version
    with pytest.raises(ShiftlakeError, match="Nothing was decided on an older mining"):
        run("carry", "clips")
    mined_by_hand(lake, n_sets=4)
    new = read_manifest(lake, "frame_sets/clips").version
    capsys.readouterr()
    tell_of_decisions(lake, "clips", new)
    assert "15 events of its review" in capsys.readouterr().out
    assert f"mining {old}, older: 15 events" in run("status", "clips")
    assert f"{old}: 15 decisions taken over" in run("carry", "clips")
    capsys.readouterr()
    tell_of_decisions(lake, "clips", new)
    assert capsys.readouterr().out == ""
    assert "0 decisions taken over, 15 were known" in run("carry", "clips", old)


def test_decisions_go_to_a_mining_of_its_own_elsewhere(lake, tmp_path, monkeypatch):
    decide(lake)
    run("export", "clips", tmp_path / "all.csv")
    run("export", "clips", tmp_path / "any.csv", "--any-mining")
    mined_by_hand(lake, n_sets=4)
    with pytest.raises(ShiftlakeError, match="older mining"):
        run("import", "clips", tmp_path / "all.csv")
    assert "15 decisions recorded" in run("import", "clips", tmp_path / "any.csv")


def test_a_spreadsheet_that_saves_another_encoding_is_refused_by_place(lake, tmp_path):
    table = tmp_path / "table.csv"
    table.write_bytes(
        "kind,reviewer,subject,verdict\nanchor,Jörg,a/000001,usable\n".encode("cp1252")
    )
    with pytest.raises(ShiftlakeError, match="no CSV of decisions") as caught:
        run("import", "clips", table)
    assert caught.value.found == "the byte 0xf6 at 38"
    with pytest.raises(ShiftlakeError) as caught:
        run("import", "clips", tmp_path)
    assert "--form pmsets" in caught.value.remedy


def test_what_makes_no_sense_is_told(lake, tmp_path):
    for arguments in (
        ("export", "clips", tmp_path / "x", "--form", "xlsx"),
        ("import", "clips", tmp_path / "missing.csv"),
        ("status", "nothing"),
        ("carry", "clips", "0123456789abcdef"),
    ):
        with pytest.raises((ShiftlakeError, FileNotFoundError)):
            run(*arguments)
    with pytest.raises(ShiftlakeError) as caught:
        run("status", "nothing")
    assert caught.value.remedy == "mine it: shiftlake video mine nothing"
    for arguments in (("nothing",), ("clips", "--reviewer", "<b>"), ("--host", "203.0.113.77")):
        result = CliRunner().invoke(app, ["review", *arguments])
        assert isinstance(result.exception, ShiftlakeError)


def test_a_port_that_is_taken_is_said(lake):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        result = CliRunner().invoke(app, ["review", "--port", port])
    assert isinstance(result.exception, ShiftlakeError)
    assert port in str(result.exception)


def test_at_another_address_it_warns_and_an_interrupt_ends_it(lake, tmp_path):
    server = ReviewServer(lake, tmp_path / "state", "--host", "0.0.0.0", "--allow-host", "lab.org")
    server.start(stderr=subprocess.PIPE)
    try:
        assert server.ask("GET", "/", headers={"Host": "lab.org"})[0] == 307
        assert server.ask("GET", "/", headers={"Host": "other.org"})[0] == 403
        server.signal(signal.SIGINT)
        said = server.process.communicate(timeout=20)[1]
        assert "can review under any name" in said
        assert "lab.org" in said
        assert "Traceback" not in said
    finally:
        server.kill()
