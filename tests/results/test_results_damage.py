"""One damaged file closes no view: it is told in status, and everything else stays readable."""

import io

import numpy as np
import pyarrow.parquet as pq
import pytest
from made_lake import made_logits, rows_of, val_name

from ops.results import compute_metrics, connect, status
from ops.results.real import real_labels

NAME = "imagenet_sketch/clean"
OTHER = "imagenet_a/clean"
METRICS = "results/metrics.parquet"
LABELS = [1, 2, 3, 4]


def _rows(seed=0):
    return rows_of(LABELS, made_logits(LABELS, seed))


def _two_runs(lake):
    entry = lake.model("net")
    keys = [lake.run(entry, lake.dataset(name, 4), _rows()) for name in (NAME, OTHER)]
    return f"predictions/net/{NAME}/{keys[0]}"


def _damaged(lake, catalog):
    return [row for row in status(lake.root, catalog) if row.state == "damaged"]


def _counted(lake):
    with connect(lake.root) as con:
        return dict(
            con.execute("SELECT dataset, count(*) FROM predictions GROUP BY ALL").fetchall()
        )


@pytest.mark.parametrize("damage", ["cut", "copied over another"])
def test_a_file_of_another_size_than_sealed_is_not_counted(lake, catalog, damage):
    folder = _two_runs(lake)
    first, second = (f"{folder}/part-{i:06}.parquet" for i in (0, 1))
    data = lake.root.read_bytes(first)
    assert len(data) != len(lake.root.read_bytes(second))
    lake.root.write_bytes(second, data[:-9] if damage == "cut" else data)
    assert _counted(lake) == {OTHER: 4}
    (row,) = _damaged(lake, catalog)
    assert (row.model, row.dataset) == ("net", NAME)
    assert row.reason.startswith("part-000001.parquet has ")
    assert "evaluate again" in row.reason


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe\x00"])
@pytest.mark.parametrize("what", ["manifest", "model", "run", "receipt"])
def test_a_damaged_small_file_is_told_and_the_rest_can_be_read(lake, catalog, what, content):
    folder = _two_runs(lake)
    path = {
        "manifest": f"shards/{NAME}/manifest.json",
        "model": "models/other.json",
        "run": f"{folder}/run.json",
        "receipt": "sources/imagenet-a/imagenet-a.tar.receipt.json",
    }[what]
    lake.root.write_bytes(path, content)
    found = _damaged(lake, catalog)
    assert [row for row in found if path in row.reason and ":" in row.reason]
    assert _counted(lake)[OTHER] == 4
    with connect(lake.root) as con:
        told = con.execute("SELECT reason FROM status WHERE state = 'damaged'").fetchall()
    assert sorted(told) == sorted((row.reason,) for row in found)


def test_results_of_a_damaged_entry_or_manifest_stay_and_say_why_they_are_stale(lake, catalog):
    _two_runs(lake)
    lake.root.write_bytes("models/net.json", b"{")
    assert _counted(lake) == {NAME: 4, OTHER: 4}
    stale = [row for row in status(lake.root, catalog) if row.state == "stale"]
    assert {row.dataset for row in stale} == {NAME, OTHER}
    assert all("cannot be read: register it again" in row.reason for row in stale)
    lake.model("net")
    lake.root.write_bytes(f"shards/{NAME}/manifest.json", b"{")
    (row,) = (row for row in status(lake.root, catalog) if row.state == "stale")
    assert row.reason == "the dataset's manifest cannot be read: build it again"


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing PAR1", None])
def test_a_damaged_table_of_metrics_is_told_and_made_again(lake, catalog, content):
    _two_runs(lake)
    compute_metrics(lake.root, catalog)
    whole = lake.root.read_bytes(METRICS)
    lake.root.write_bytes(METRICS, whole[: len(whole) // 2] if content is None else content)
    with connect(lake.root) as con:
        assert con.execute("SELECT count(*) FROM metrics").fetchone() == (0,)
    (row,) = _damaged(lake, catalog)
    assert METRICS in row.reason
    assert "compute the metrics again" in row.reason
    compute_metrics(lake.root, catalog)
    assert lake.root.read_bytes(METRICS) == whole
    assert _damaged(lake, catalog) == []


def test_a_damaged_table_of_metrics_goes_even_where_nothing_is_to_be_measured(lake, catalog):
    lake.root.write_bytes(METRICS, b"?")
    compute_metrics(lake.root, catalog)
    assert pq.read_table(io.BytesIO(lake.root.read_bytes(METRICS))).num_rows == 0


def test_a_damaged_cache_of_reassessed_labels_is_made_again(lake):
    lake.real({val_name(0): [5], val_name(1): []})
    before = real_labels(lake.root)
    (cache,) = (name for name in lake.root.list("results") if "real_labels" in name)
    lake.root.write_bytes(cache, lake.root.read_bytes(cache)[:50])
    assert real_labels(lake.root).equals(before)
    assert pq.read_table(io.BytesIO(lake.root.read_bytes(cache))).equals(before)


def test_a_local_cache_of_reassessed_labels_is_never_half_there(lake, monkeypatch):
    lake.real({val_name(0): [5]})

    def refused(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr(type(lake.root), "write_bytes", refused)
    before = real_labels(lake.root)
    (cache,) = lake.root.scratch().glob("real_labels-*")
    assert [path for path in lake.root.scratch().iterdir() if path.suffix == ".part"] == []
    written = []
    original = type(cache).replace
    monkeypatch.setattr(
        type(cache), "replace", lambda self, to: written.append(to) or original(self, to)
    )
    cache.write_bytes(b"half")
    assert real_labels(lake.root).equals(before)
    assert written == [cache]


def test_measured_is_told_for_each_name_of_the_same_weights(lake, catalog):
    manifest = lake.dataset(NAME, 4)
    one = lake.run(lake.model("one"), manifest, _rows())
    compute_metrics(lake.root, catalog)
    assert lake.run(lake.model("two"), manifest, _rows()) == one
    rows = {row.model: row for row in status(lake.root, catalog) if row.dataset == NAME}
    assert (rows["one"].measured, rows["two"].measured) == (True, False)


def test_leftovers_of_former_weights_are_no_progress(lake, catalog):
    manifest = lake.dataset(NAME, 4)
    lake.run(lake.model("net"), manifest, _rows(), sealed=False, shards=1)
    lake.model("net", weights="other")
    (row,) = (row for row in status(lake.root, catalog) if row.dataset == NAME)
    assert (row.state, row.shards_done) == ("missing", 0)


def test_a_model_that_knows_no_class_of_a_mask_has_no_masked_accuracy(lake):
    entry = lake.model("few", class_map=(6, 11, 13))
    labels = [6, 11, 13]
    logits = np.full((3, 1000), -np.inf, np.float32)
    logits[:, labels] = np.eye(3) + 1
    lake.run(entry, lake.dataset("imagenet_1k/val", 3), rows_of(labels, logits, masks=()))
    with connect(lake.root) as con:
        variants = {v for (v,) in con.execute("SELECT variant FROM accuracy").fetchall()}
        listed = con.execute(
            "SELECT count(*) FROM class_lists WHERE list LIKE 'imagenet\\__' ESCAPE '\\' "
            "AND class_index IN (6, 11, 13)"
        ).fetchone()
    assert listed[0] > 0
    assert variants == {"unmasked"}
