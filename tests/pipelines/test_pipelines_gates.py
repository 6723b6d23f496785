"""The commands about two models: what they print, what they write, and the exit code."""

import csv
import io
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from ops.errors import ShiftlakeError
from ops.storage import open_root, paths
from pipelines.cli import gates

sys.path.insert(0, str(Path(__file__).parents[1] / "results"))

N = 800
GATES = """
gates:
  release:
    baseline: {model: old}
    candidates: ["new-*"]
    margins: {imagenet_1k: 0.5, imagenet_sketch: 5.0}
  other:
    baseline: {model: new-twin}
    candidates: [old]
    margins: {imagenet_1k: 0.1}
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    from made_lake import Lake, made_logits, rows_of

    made = Lake(open_root(tmp_path_factory.mktemp("gates") / "lake"))
    labels = [i % 20 for i in range(N)]
    logits = made_logits(labels, 0, 50.0, classes=20)
    right = rows_of(labels, logits)
    # Lost are 10 tiger sharks and 15 juncos.
    logits[[i for i in range(N) if i % 20 == 3 and i % 80 < 20] + list(range(13, 300, 20)), 5] += (
        200
    )
    wrong = rows_of(labels, logits)
    val, sketch = (made.dataset(f"imagenet_{name}", N) for name in ("1k/val", "sketch/clean"))
    for name in ("old", "new-twin", "new-worse"):
        entry = made.model(name, weights=name)
        made.run(entry, val, wrong if name == "new-worse" else right)
        made.run(entry, sketch, right)
    return made


@pytest.fixture
def run(lake, tmp_path, monkeypatch):
    """Run a command on the lake; its answer has exit_code, stdout and the exception."""
    monkeypatch.setenv("SHIFTLAKE_ROOT", lake.root.url)
    monkeypatch.setenv("SHIFTLAKE_STATE", str(tmp_path / "state"))
    for name in ("SHIFTLAKE_DEMO", "SHIFTLAKE_CATALOG", "DAGSTER_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    app = typer.Typer()
    gates.add_commands(app)
    monkeypatch.setattr(gates.out, "_width", 200)
    lake.root.write_bytes(paths.gates(), GATES.encode())
    return lambda *words: CliRunner().invoke(app, words)


def test_a_closed_gate_is_an_exit_code_and_names_what_was_lost(run):
    answer = run("gate", "release")
    assert answer.exit_code == 1
    assert "fail" in answer.stdout
    assert "The gate is closed." in answer.stdout
    assert "points lost, more than the margin of 0.50, significant" in answer.stdout
    assert "images lost, surest first: s0" in answer.stdout
    assert "junco: 15 lost, 0 gained of 40" in answer.stdout
    assert "tiger_shark: 10 lost, 0 gained of 40" in answer.stdout
    assert run("gate").exit_code == 1


def test_an_open_gate_is_none_and_says_loudly_what_it_could_not_show(run):
    answer = run("gate", "release", "--candidate", "new-twin")
    assert answer.exit_code == 0, answer.stdout
    assert "The gate is open." in answer.stdout
    assert "INCONCLUSIVE" not in answer.stdout
    # 0.1 points of 800 images cannot be shown even of the same answers.
    answer = run("gate", "other")
    assert answer.exit_code == 0
    assert "INCONCLUSIVE" in answer.stdout
    assert run("gate", "other", "--strict").exit_code == 1


def test_verdicts_as_json_and_junit_for_a_machine(run, tmp_path):
    words = ("--json", str(tmp_path / "gate.json"), "--junit", str(tmp_path / "gate.xml"))
    assert run("gate", "release", *words, "--today", "2026-07-01").exit_code == 1
    rows = json.loads((tmp_path / "gate.json").read_text())
    assert [row["verdict"] for row in rows] == ["pass", "pass", "fail", "pass"]
    assert {row["gate"] for row in rows} == {"release"}
    suites = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert suites.attrib["failures"] == "1"


def test_init_writes_an_example_and_never_over_a_file(run, lake):
    answer = run("gate", "init")
    assert isinstance(answer.exception, ShiftlakeError)
    assert "already" in str(answer.exception)
    lake.root.remove(paths.gates())
    assert "gate init" in str(run("gate").exception)
    assert run("gate", "init").exit_code == 0
    assert b"baseline:" in lake.root.read_bytes(paths.gates())
    # Its models are not here: nothing was looked at, which is no green light.
    answer = run("gate")
    assert answer.exit_code == 1
    assert "No candidate was judged" in str(answer.exception)


def test_a_narrow_terminal_lacks_columns_and_breaks_no_word(run, monkeypatch):
    for width, lacks in ((200, False), (64, True)):
        monkeypatch.setattr(gates.out, "_width", width)
        compared = run("compare", "old", "new-worse").stdout
        judged = run("gate", "release").stdout
        for text in (compared, judged):
            assert "imagenet_sketch" in text
            assert ("no room for" in text) == lacks
        assert "top1 (unmasked)" in compared
        assert "new-worse" in judged
        assert ("gained" in compared.split("difference:")[0]) != lacks


def test_help_shows_how_a_gate_is_named(run):
    assert "init" in run("gate", "--help").stdout


def test_compare_tells_what_else_differs_before_any_number(run, lake):
    assert "Not only the models differ" not in run("compare", "old", "new-worse").stdout
    for path in lake.root.list("predictions/new-worse"):
        if path.endswith("run.json"):
            record = lake.root.read_json(path)
            lake.root.write_json(path, record | {"versions": {"torch": "3", "pillow": "12"}})
    told, _, numbers = run("compare", "old", "new-worse").stdout.partition("new-worse less old")
    assert "torch 2 to 3" in told
    assert "pillow none to 12" in told
    assert "imagenet_sketch" in numbers


def test_compare_prints_headlines_and_exports_everything(run):
    answer = run("compare", "old", "new-worse")
    assert answer.exit_code == 0, answer.exception
    assert "new-worse less old" in answer.stdout
    assert "imagenet_sketch" in answer.stdout
    assert "top5" not in answer.stdout
    assert "top5" in run("compare", "old", "new-worse", "--all").stdout
    rows = json.loads(run("compare", "old", "new-worse", "--format", "json").stdout)
    assert {row["metric"] for row in rows} == {"top1", "top5"}
    assert next(row for row in rows if row["headline"])["delta"] < 0
    text = run(
        "compare", "old", "new-worse", "--format", "csv", "--benchmark", "imagenet_1k"
    ).stdout
    exact = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["delta"]) for row in exact] == [
        row["delta"] for row in rows if row["benchmark"] == "imagenet_1k"
    ]
    assert "no such output format" in str(
        run("compare", "old", "new-worse", "--format", "x").exception
    )
