"""The same views over an S3 root, through a server that speaks the real protocol."""

import json
import uuid

import pytest
from made_lake import Lake, made_logits, rows_of, val_name
from moto.server import ThreadedMotoServer

from ops.results import compute_metrics, connect, query
from ops.results.compaction import compact
from ops.storage import Root, open_root


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    name = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{name}/team/one")
    root.fs.mkdir(name)
    yield root
    server.stop()


def test_views_and_metrics_over_s3(bucket, catalog):
    lake = Lake(bucket)
    labels = list(range(30))
    entry = lake.model("net")
    rows = rows_of(labels, made_logits(labels, 0), masks=("imagenet_a",))
    rows = [{**row, "source_key": val_name(i)} for i, row in enumerate(rows)]
    lake.run(entry, lake.dataset("imagenet_1k/val", 30), rows)
    lake.run(entry, lake.dataset("imagenet_sketch/clean", 30), rows, sealed=False)
    lake.real({val_name(i): [c] for i, c in enumerate(labels)})
    right = sum(row["correct"] for row in rows)
    with connect(bucket) as con:
        found = con.execute(
            "SELECT benchmark, k, n FROM accuracy WHERE metric = 'top1' "
            "AND variant IN ('unmasked', 'real') ORDER BY ALL"
        ).fetchall()
    assert found == [("imagenet_1k", right, 30), ("imagenet_real", right, 30)]
    first = compute_metrics(bucket, catalog)
    assert first.num_rows > 0
    assert bucket.exists("results/metrics.parquet")
    assert compute_metrics(bucket, catalog).equals(first)
    assert query(bucket, "SELECT count(*) AS n FROM predictions", "csv") == "n\n30"


def test_compaction_changes_no_answer_over_s3_and_opens_no_file_of_a_run(bucket, monkeypatch):
    lake = Lake(bucket)
    labels = list(range(12))
    for name in ("a", "b"):
        rows = rows_of(labels, made_logits(labels, len(name)))
        lake.run(lake.model(name), lake.dataset("imagenet_sketch/clean", 12, n_shards=3), rows)
    questions = (
        "SELECT * FROM predictions ORDER BY model, sample_key",
        "SELECT * EXCLUDE (compacted) FROM runs ORDER BY model",
    )
    before = [query(bucket, question, "json") for question in questions]
    assert (compact(bucket).merged, compact(bucket).merged) == (2, 0)
    opened = []
    for name in ("read_bytes", "local_copy"):
        original = getattr(Root, name)

        def recorded(self, rel, original=original):
            opened.append(rel)
            return original(self, rel)

        monkeypatch.setattr(Root, name, recorded)
    assert [query(bucket, question, "json") for question in questions] == before
    assert not [name for name in opened if name.startswith("predictions/")]
    key = lake.run(lake.model("b", weights="w2"), lake.dataset("imagenet_sketch/clean", 12), rows)
    found = json.loads(
        query(bucket, "SELECT run_id FROM runs WHERE model = 'b' AND current", "json")
    )
    assert found == [{"run_id": key}]
    assert query(bucket, "SELECT count(*) AS n FROM predictions", "csv") == "n\n24"


def test_an_empty_s3_root_has_empty_views(bucket):
    assert query(bucket, "SELECT count(*) AS n FROM predictions", "csv") == "n\n0"
