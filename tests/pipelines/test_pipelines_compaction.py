"""``shiftlake compact``: what it did, in a line, and nothing of the lake is spoiled."""

import typer
from typer.testing import CliRunner

from ops.storage import open_root
from pipelines.cli import compaction


def test_an_empty_lake_has_nothing_to_compact(tmp_path, monkeypatch):
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "lake"))
    app = typer.Typer()
    compaction.add_commands(app)
    found = CliRunner().invoke(app, [])
    assert found.exit_code == 0, found.output
    assert "0 runs of 0 models" in " ".join(found.output.split())
    unknown = CliRunner().invoke(app, ["nobody"])
    assert unknown.exit_code == 1
    assert "evaluate the model first" in str(unknown.exception)
    assert open_root(tmp_path / "lake").list("") == []
