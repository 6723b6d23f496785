"""Mining onto S3 gives what it gives on a local disk, to the last bit, and goes on there, too."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from mined_source import MadeSource, dogs, stored
from moto.server import ThreadedMotoServer

from ops.catalog import load
from ops.shards import ShardRecord
from ops.storage import open_root
from ops.video.checks import check_frame_sets
from ops.video.mining import layout, mine, shard
from ops.video.mining.shard import MiningTask


def test_mining_onto_s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "SHIFTLAKE_SCRATCH": str(tmp_path / "scratch"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(layout, "SETS_A_SHARD", 1)
    try:
        # All servers of a process share their buckets.
        bucket = f"lake-{uuid.uuid4().hex[:8]}"
        remote, local = open_root(f"s3://{bucket}/team"), open_root(tmp_path / "lake")
        remote.fs.mkdir(bucket)
        source = MadeSource(dogs(tmp_path / "videos", "a", "b", "c"))
        made: list[str] = []
        mine_shard = shard.mine_shard

        def breaks_off(task: MiningTask) -> ShardRecord:
            if len(made) == 2:
                raise KeyboardInterrupt
            made.append(task.name)
            return mine_shard(task)

        monkeypatch.setattr(shard, "mine_shard", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            mine(remote, load(), source, workers=1)
        monkeypatch.setattr(shard, "mine_shard", mine_shard)
        lines: list[str] = []
        manifest = mine(remote, load(), source, workers=1, log=lines.append)
        assert "frame_sets/made: 2 of 3 shards were finished before" in lines
        assert mine(local, load(), source, workers=1) == manifest
        assert stored(remote) == stored(local)
        found = check_frame_sets(remote, "frame_sets/made")
        assert not any(problems for problems, _ in found.values())
    finally:
        server.stop()
