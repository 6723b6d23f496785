"""What was measured once stays, with what it was measured with."""

import pytest
from made_lake import made_logits, rows_of

from ops.errors import ShiftlakeError
from ops.results import compute_metrics, connect, query

DATASET = "imagenet_sketch/clean"
LABELS = [1, 2, 3, 4]
ASKED = (
    "SELECT value, current, weights_sha256, torch, pillow, device, evaluated_at FROM history "
    "WHERE metric = 'top1' ORDER BY evaluated_at"
)


def _evaluate(lake, catalog, weights, right, at, torch):
    said = [label if i < right else 9 for i, label in enumerate(LABELS)]
    key = lake.run(
        lake.model("net", weights=weights),
        lake.dataset(DATASET, 4),
        rows_of(LABELS, made_logits(said, 3, skill=30)),
        versions={"torch": torch, "pillow": "11.0", "numpy": "2.0"},
        ended_at=f"2026-0{at}-01T00:00:00+00:00",
    )
    compute_metrics(lake.root, catalog)
    return key


def _asked(lake, sql=ASKED):
    with connect(lake.root) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def changed(lake, catalog):
    """A lake in which a model was given new weights, and the key of its former run."""
    key = _evaluate(lake, catalog, "w1", 4, 1, "2.5")
    _evaluate(lake, catalog, "w2", 2, 2, "2.6")
    return lake, key


def test_new_weights_supersede_a_number_and_do_not_erase_it(changed):
    lake, _ = changed
    (first, second) = _asked(lake)
    assert first[:2] == (1.0, False)
    assert second[:2] == (0.5, True)
    assert first[2] != second[2]
    assert [row[3] for row in (first, second)] == ["2.5", "2.6"]
    assert first[4:6] == ("11.0", "cpu")
    assert first[6] < second[6]


def test_numbers_stay_where_superseded_predictions_and_metrics_are_deleted(changed, catalog):
    lake, key = changed
    before = _asked(lake)
    lake.root.remove_folder(f"predictions/net/{DATASET}/{key}")
    lake.root.remove("results/metrics.parquet")
    compute_metrics(lake.root, catalog)
    assert _asked(lake) == before
    assert _asked(lake, "SELECT count(*) FROM runs") == [(1,)]


def test_former_weights_that_come_back_are_current_again(changed, catalog):
    lake, _ = changed
    lake.model("net", weights="w1")
    compute_metrics(lake.root, catalog)
    assert [row[:2] for row in _asked(lake)] == [(1.0, True), (0.5, False)]


def test_what_is_current_is_what_the_table_of_metrics_holds(full_lake):
    same = _asked(
        full_lake,
        "SELECT count(*), count(h.model), count_if(h.value IS NOT DISTINCT FROM m.value) "
        "FROM metrics AS m LEFT JOIN history AS h ON h.current AND h.run_id = m.run_id "
        "AND (h.model, h.benchmark, h.condition, h.metric, h.variant) "
        "= (m.model, m.benchmark, m.condition, m.metric, m.variant)",
    )
    ((rows, joined, equal),) = same
    assert rows == joined == equal > 100


def test_several_environments_behind_one_number_are_all_named(lake, catalog):
    entry = lake.model("net")
    for dataset, torch in (("imagenet_1k/val", "2.5"), ("imagenet_o/clean", "2.6")):
        labels = LABELS if dataset.endswith("val") else [None] * 4
        rows = rows_of(labels, made_logits([1, 2, 3, 4], 3))
        lake.run(entry, lake.dataset(dataset, 4), rows, versions={"torch": torch})
    compute_metrics(lake.root, catalog)
    found = _asked(lake, "SELECT DISTINCT metric, torch FROM history ORDER BY ALL")
    assert ("top1", "2.5") in found
    assert ("aupr", "2.5, 2.6") in found


def test_a_lake_of_an_older_release_begins_with_what_it_has(changed, catalog):
    lake, _ = changed
    lake.root.remove_folder("results/history")
    compute_metrics(lake.root, catalog)
    assert [row[:2] for row in _asked(lake)] == [(0.5, True)]


def test_a_damaged_part_is_named_and_closes_no_other_view(changed):
    lake, _ = changed
    part = lake.root.list("results/history")[0]
    lake.root.write_bytes(part, b"PAR1")
    assert _asked(lake, "SELECT count(*) FROM runs") == [(2,)]
    with pytest.raises(ShiftlakeError, match=r"(?s)history.*" + part.rpartition("/")[2]):
        query(lake.root, "FROM history")
