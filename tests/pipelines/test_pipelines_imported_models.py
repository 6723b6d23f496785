"""A model that came with results of another place starts no evaluation."""

from __future__ import annotations

import dagster as dg
from made_lake import Lake as MadeLake
from typer.testing import CliRunner

from assets.lake import Lake
from ops.models import read_model
from ops.storage import open_root, paths
from pipelines.cli import models
from pipelines.sensors import new_models


def test_the_sensor_passes_over_it_until_it_is_registered(tmp_path):
    root = open_root(tmp_path)
    lake = MadeLake(root)
    lake.model("ours", "w0")
    lake.model("theirs", "w1", imported=True)
    with dg.DagsterInstance.ephemeral() as instance:

        def look():
            context = dg.build_sensor_context(instance=instance)
            found = new_models(context, lake=Lake(root=str(tmp_path)))
            return [request.run_key.rpartition("-")[0] for request in found.run_requests], [
                key for each in found.dynamic_partitions_requests for key in each.partition_keys
            ]

        assert look() == (["ours"], ["ours"])
        instance.add_dynamic_partitions("model", ["ours"])
        entry = read_model(root, "theirs").model_copy(update={"imported": False})
        root.write_json(paths.model("theirs"), entry.model_dump(mode="json"))
        assert look() == (["theirs"], ["theirs"])


def test_the_list_says_which_cannot_be_run_here(tmp_path, monkeypatch):
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path))
    monkeypatch.setattr(models.out, "_width", 300)
    lake = MadeLake(open_root(tmp_path))
    lake.model("ours", "w0")
    lake.model("theirs", "w1", imported=True)
    lines = CliRunner().invoke(models.model, ["list"]).output.splitlines()
    said = {name: next(line for line in lines if name in line) for name in ("ours", "theirs")}
    assert "imported with its results, cannot be run here" in said["theirs"]
    assert "imported" not in said["ours"]
