"""Commands that take results out and in: bundles, tables, published results, golden numbers."""

import csv
import io
import sys
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from ops.errors import ShiftlakeError
from ops.results import compute_metrics
from ops.storage import open_root, paths
from pipelines.cli import exports, reference

sys.path.insert(0, str(Path(__file__).parents[1] / "results"))

LABELS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    from made_lake import Lake, made_logits, rows_of, val_name

    made = Lake(open_root(tmp_path_factory.mktemp("exports") / "lake"))
    val = made.dataset("imagenet_1k/val", len(LABELS))
    entry = made.model("r50")
    stored = entry.model_dump(mode="json")
    stored |= {"kind": "torchvision", "reference": "resnet50@IMAGENET1K_V1"}
    made.root.write_json(paths.model("r50"), stored)
    entry = type(entry).model_validate(stored)
    made.run(entry, val, rows_of(LABELS, made_logits(LABELS, 0), source=val_name))
    from ops.catalog import load

    compute_metrics(made.root, load())
    return made


@pytest.fixture
def run(lake, tmp_path, monkeypatch):
    """Run a command on the lake, or on another root."""
    app = typer.Typer()
    exports.add_commands(app)
    reference.add_commands(app)
    monkeypatch.setenv("SHIFTLAKE_STATE", str(tmp_path / "state"))
    for name in ("SHIFTLAKE_DEMO", "SHIFTLAKE_CATALOG", "DAGSTER_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)

    def invoke(*words, root=lake.root.url):
        monkeypatch.setenv("SHIFTLAKE_ROOT", str(root))
        return CliRunner().invoke(app, [str(word) for word in words])

    return invoke


def test_a_bundle_goes_out_and_comes_in(run, tmp_path):
    answer = run("bundle", tmp_path / "b", "--models", "r*")
    assert answer.exit_code == 0, answer.output
    assert "1 models, 1 runs" in answer.output
    assert "results.duckdb" in answer.output
    answer = run("import", tmp_path / "b", root=tmp_path / "other")
    assert answer.exit_code == 0, answer.output
    assert "1 runs imported, 0 were here" in answer.output
    assert "without its weights" in answer.output
    answer = run("import", tmp_path, root=tmp_path / "third")
    assert isinstance(answer.exception, ShiftlakeError)


def test_tables(run, tmp_path):
    answer = run("table", "--format", "timm", "--benchmarks", "imagenet_1k")
    (row,) = csv.DictReader(io.StringIO(answer.stdout))
    assert (row["model"], row["crop_pct"]) == ("r50", "0.875")
    answer = run("table", "--format", "latex", "--output", tmp_path / "table.tex")
    assert r"\toprule" in (tmp_path / "table.tex").read_text()
    answer = run("table", "--format", "timm", "--output", tmp_path / "timm")
    assert [path.name for path in (tmp_path / "timm").iterdir()] == ["results-imagenet.csv"]
    assert run("table").stdout.startswith("| model | imagenet_1k top-1 |")
    answer = run("table", "--output", tmp_path)
    assert isinstance(answer.exception, ShiftlakeError)


def test_a_golden_number_that_is_missed_is_exit_code_1(run):
    answer = run("reference", "golden")
    assert answer.exit_code == 1
    assert "failed" in answer.output
    assert "AlexNet of torchvision" in answer.output
    assert run("reference", "golden", root="/nowhere").exit_code == 0


def test_published_results_that_are_not_here_say_how_to_get_them(run, tmp_path, monkeypatch):
    answer = run("reference", "import", root=tmp_path / "lake")
    assert answer.exit_code == 0, answer.output
    assert "shiftlake fetch reference-timm reference-imagenet-testbed" in answer.output
    text = (
        "model,img_size,top1,top1_err,top5,top5_err,param_count,crop_pct,interpolation\n"
        "net,224,50.0,50.0,75.0,25.0,1.00,0.875,bicubic\n"
    )
    (tmp_path / "results-imagenet.csv").write_text(text)
    stated = [{"id": "reference-timm", "files": [{"id": "results_imagenet", "bytes": len(text)}]}]
    (tmp_path / "overlay.yaml").write_text(yaml.safe_dump({"benchmarks": stated}))
    monkeypatch.setenv("SHIFTLAKE_CATALOG", str(tmp_path / "overlay.yaml"))
    from ops.catalog import load
    from ops.fetch import add

    add(tmp_path / "lake", load(), tmp_path / "results-imagenet.csv")
    answer = run("reference", "import", root=tmp_path / "lake")
    assert "timm" in answer.stdout
    assert "8 files are not here" in answer.output
