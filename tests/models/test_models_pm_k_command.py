"""``shiftlake finetune``: from a sealed source to a registered model and a comparison."""

from __future__ import annotations

import pytest
import typer
from frame_set_parts import Brightness, add_model, seal_sets
from typer.testing import CliRunner

from ops.errors import ShiftlakeError
from ops.models import list_models, read_model
from ops.models.fine_tuned import seen_in_training
from ops.storage import open_root
from pipelines.cli import finetune as commands


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "lake"))
    monkeypatch.setenv("SHIFTLAKE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    commands.add_commands(app)
    monkeypatch.setattr(commands.out, "_width", 200)

    def invoke(*words):
        answer = CliRunner().invoke(app, [*words])
        if answer.exception is not None and not isinstance(answer.exception, SystemExit):
            raise answer.exception
        assert answer.exit_code == 0, answer.output
        return answer.output

    return invoke


def test_a_model_is_trained_compared_and_not_replaced_by_accident(run, tmp_path):
    root = open_root(tmp_path / "lake")
    sets = {
        f"clip{n}": ([n % 2], {o: (220 if n % 2 == 0 else 40) + o * 9 for o in (-2, -1, 0, 1, 2)})
        for n in range(8)
    }
    seal_sets(root, sets)
    add_model(root, "base", Brightness(0.3))
    words = ("base", "frame_sets/made", "--name", "worst", "--epochs", "2", "--held-out", "0.25")
    told = run(*words)
    assert list_models(root) == ["base", "worst"]
    entry = read_model(root, "worst")
    assert entry.weights.sha256 in told
    assert "base fine-tuned here on the worst frames of frame_sets/made" in entry.note
    assert "2 sets of 2 unseen videos" in told
    assert "flips of right anchors" in told
    assert "100.0 % (15.8 to 100.0), 2 of 2" in told
    sets = ["frame_sets/made", "reviewed_frame_sets/made", "frame_sets/other"]
    assert entry.fine_tuned_on == ("frame_sets/made",)
    assert seen_in_training(entry.fine_tuned_on, sets) == sets[:2]
    assert seen_in_training(["imagenet_vid_robust/clean"], sets) == []
    assert seen_in_training(["imagenet_vid_robust/clean"], ["imagenet_vid_robust/clean"])
    again = run(*words)
    assert entry.weights.sha256 in again
    with pytest.raises(ShiftlakeError, match="another model's"):
        run(*words, "--loss", "plain")
    run(*words, "--loss", "plain", "--force")
    assert "on anchors of" in read_model(root, "worst").note
