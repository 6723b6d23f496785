"""A model that came with results of another place starts no evaluation."""

from __future__ import annotations

import dagster as dg
from made_lake import Lake as MadeLake

from assets.lake import Lake
from ops.models import read_model
from ops.storage import open_root, paths
from pipelines.sensors import new_models


def test_the_sensor_passes_over_it_until_it_is_registered(tmp_path):
    root = open_root(tmp_path)
    lake = MadeLake(root)
    lake.model("ours", "w0")
    lake.model("theirs", "w1", imported=True)
    with dg.DagsterInstance.ephemeral() as instance:

        def look(cursor=None):
            context = dg.build_sensor_context(instance=instance, cursor=cursor)
            return new_models(context, lake=Lake(root=str(tmp_path))), context.cursor

        first, cursor = look()
        assert [request.run_key.rpartition("-")[0] for request in first.run_requests] == ["ours"]
        assert first.dynamic_partitions_requests[0].partition_keys == ["ours"]
        entry = read_model(root, "theirs").model_copy(update={"imported": False})
        root.write_json(paths.model("theirs"), entry.model_dump(mode="json"))
        second, _ = look(cursor)
        assert [r.run_key.rpartition("-")[0] for r in second.run_requests] == ["theirs"]
