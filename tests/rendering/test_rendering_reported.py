"""What is said of a rendering while it runs and once it is done."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from rendering_parts import CHEAP, lake_of, photograph, val_samples
from typer.testing import CliRunner

from assets.lake import Lake
from ops.rendering import passes, render
from pipelines.cli.main import app
from pipelines.definitions import build_definitions
from pipelines.stages import Stage, run_stage

FLY = "imagenet_c_on_the_fly/contrast/1"
STORED = "imagenet_c_rendered/contrast/1"


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told_within_a_shard_and_never_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(passes, "_TELL", 0)
    lake = lake_of(tmp_path, val_samples([photograph(n) for n in range(6)]), per_shard=4)
    seen: dict[str, list[int]] = {name: [] for name in CHEAP[:2]}
    render(
        lake.root,
        lake.catalog,
        CHEAP[:2],
        workers=workers,
        progress=lambda name, done, total: seen[name].append(done),
    )
    assert set(map(tuple, seen.values())) == {(0, 1, 2, 3, 4, 4, 5, 6)}


def test_a_command_says_that_nothing_is_stored_of_what_is_made_on_the_fly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    monkeypatch.setenv("SHIFTLAKE_ROOT", lake.root.url)
    monkeypatch.setenv("SHIFTLAKE_CATALOG", str(lake.overlay))
    answer = CliRunner().invoke(app, ["build", FLY, STORED])
    assert answer.exit_code == 0, answer.output
    said = " ".join(answer.output.split())
    assert f"{FLY}: 1 samples, 1 classes, nothing stored, version" in said
    assert f"{STORED}: 1 samples, 1 classes, 1 shards, " in said


def test_a_recipe_has_no_rate(tmp_path: Path) -> None:
    made = lake_of(tmp_path, val_samples([photograph(number) for number in range(8)]))
    lake = Lake(root=made.root.url, catalog=str(made.overlay))
    rated = {}
    with dg.DagsterInstance.ephemeral() as instance:
        for family, kind in (
            ("imagenet_c_on_the_fly", "recipe"),
            ("imagenet_c_rendered", "shards"),
        ):
            stage = Stage(family, ((family, kind),), ("contrast", "contrast"))
            run = run_stage(build_definitions(lake=lake), instance, stage, lambda line: None)
            (metadata,) = (
                event.materialization.metadata
                for event in run.all_events
                if event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION
            )
            assert metadata["seconds"].value > 0
            rated[family] = {name for name in metadata if name.endswith("_per_second")}
    assert rated["imagenet_c_on_the_fly"] == set()
    assert rated["imagenet_c_rendered"] == {"images_per_second", "megabytes_per_second"}
