"""The views: only sealed runs count, and every accuracy equals the one plain numpy gives."""

import numpy as np
import pytest
from made_lake import (
    Lake,
    decode_error,
    made_logits,
    perturbed,
    rows_of,
    sequence_rows,
    val_name,
)

from ops.catalog.classes import subset
from ops.metrics import clean_companion, clopper_pearson, masked_prediction, real_correct
from ops.results import compute_metrics, connect
from ops.results.connection import TABLES, VIEWS
from ops.storage import open_root


def test_every_view_of_an_empty_root_is_empty_and_has_its_columns(tmp_path):
    root = open_root(tmp_path / "nothing")
    with connect(root) as con:
        for view in (*VIEWS, *TABLES):
            found = con.execute(f"SELECT * FROM {view}")
            assert len(found.description) > 3 or view == "real_labels"
            assert (found.fetchall() == []) == (view != "class_lists")
        names = [row[0] for row in con.execute("DESCRIBE predictions").fetchall()]
    assert {"sample_key", "labels", "masks", "frame_offset", "stale"} <= set(names)
    assert not (tmp_path / "nothing").exists()  # a mistyped root is not made by looking


def test_exactly_the_sealed_runs_count(lake):
    entry, manifest = lake.model("m"), lake.dataset("imagenet_sketch/clean")
    labels = list(range(10))
    rows = rows_of(labels, made_logits(labels, 0))
    lake.run(entry, manifest, rows, sealed=False)
    with connect(lake.root) as con:
        assert con.execute("SELECT count(*) FROM predictions").fetchone() == (0,)
        assert con.execute("SELECT count(*) FROM accuracy").fetchone() == (0,)
    lake.run(entry, manifest, rows)
    with connect(lake.root) as con:
        assert con.execute(
            "SELECT count(*), count(DISTINCT sample_key) FROM predictions"
        ).fetchone() == (10, 10)


def test_a_sealed_run_with_a_missing_file_does_not_count(lake, catalog):
    entry, manifest = lake.model("m"), lake.dataset("imagenet_sketch/clean")
    key = lake.run(entry, manifest, rows_of([1, 2], made_logits([1, 2], 0)))
    lake.root.remove(f"predictions/m/imagenet_sketch/clean/{key}/part-000001.parquet")
    with connect(lake.root) as con:
        assert con.execute("SELECT count(*) FROM predictions").fetchone() == (0,)
        found = con.execute(
            "SELECT state, reason FROM status WHERE run_id IS NULL AND state = 'damaged'"
        )
        assert found.fetchone() == (
            "damaged",
            "part-000001.parquet is missing; evaluate again: whole shards are kept",
        )


def test_one_run_of_a_model_and_dataset_is_current(lake):
    entry, manifest = lake.model("m"), lake.dataset("imagenet_sketch/clean")
    rows = rows_of([1, 2, 3], made_logits([1, 2, 3], 0))
    old = lake.run(entry, manifest, rows, ended_at="2026-03-01T00:00:00+00:00")
    entry = lake.model("m", weights="better")
    with connect(lake.root) as con:
        # Nothing else is sealed, so the old run is shown, and said to be stale.
        found = con.execute("SELECT DISTINCT run_id, stale FROM predictions").fetchall()
        assert found == [(old, True)]
    new = lake.run(entry, manifest, rows, ended_at="2026-02-01T00:00:00+00:00")
    with connect(lake.root) as con:
        # The run that agrees with the model counts, though the other ended later.
        assert con.execute("SELECT DISTINCT run_id, stale FROM predictions").fetchall() == [
            (new, False)
        ]
        found = con.execute(
            "SELECT run_id, current, stale_reason FROM runs ORDER BY current"
        ).fetchall()
        assert found == [(old, False, "weights changed"), (new, True, None)]


def test_two_names_for_the_same_weights_are_two_models(lake):
    manifest = lake.dataset("imagenet_sketch/clean")
    rows = rows_of([1, 2, 3], made_logits([1, 2, 3], 0))
    keys = {lake.run(lake.model(name), manifest, rows) for name in ("a", "b")}
    assert len(keys) == 1  # the key does not hold the name
    with connect(lake.root) as con:
        assert con.execute(
            "SELECT model, n FROM accuracy WHERE metric = 'top1' ORDER BY ALL"
        ).fetchall() == [
            ("a", 3),
            ("b", 3),
        ]


def test_unreadable_and_missing_rows_stay_in_the_denominator(lake):
    entry, manifest = lake.model("m"), lake.dataset("imagenet_sketch/clean")
    labels = list(range(10))
    rows = rows_of(labels, made_logits(labels, 0, skill=50))
    rows[3] = decode_error(rows[3])
    lake.run(entry, manifest, rows, expected=12)
    with connect(lake.root) as con:
        assert con.execute("SELECT k, n FROM accuracy WHERE metric = 'top1'").fetchone() == (9, 12)
        assert con.execute(
            "SELECT sample_key, error FROM predictions WHERE status <> 'ok'"
        ).fetchall() == [("s00000003", "cannot identify image file")]


def test_the_largest_logit_is_the_first_of_the_five(lake):
    labels = [1, 2, 3]
    logits = made_logits(labels, 0)
    rows = rows_of(labels, logits)
    rows[1] = decode_error(rows[1])
    lake.run(lake.model("m"), lake.dataset("imagenet_sketch/clean", 3), rows)
    with connect(lake.root) as con:
        found = con.execute("SELECT max_logit FROM predictions ORDER BY sample_key").fetchall()
    assert found == [(float(logits[0].max()),), (None,), (float(logits[2].max()),)]


def test_flips_and_distances_of_a_sequence_are_sums_over_its_pairs(lake):
    a, b, c = [1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [9, 8, 7, 6, 1]
    for name in ("tilt", "gaussian_noise"):
        dataset = lake.dataset(f"imagenet_p/{name}", 2, parameters=perturbed(name, 4))
        lake.run(lake.model("m"), dataset, sequence_rows([[a, b, b, c], [a, [], a, a]]))
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT condition, flips, pairs, unreadable, top5_distance, zipf_distance * 8, "
            "zipf_pairs FROM flips ORDER BY condition, frame_set"
        ).fetchall()
        means = con.execute(
            "SELECT condition, avg(flips / pairs) FROM flips GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        rows = con.execute(
            "SELECT condition, avg(flipped::INTEGER) FROM predictions GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    # Against the first frame a, then against the frame before: b differs from a by 2 in all, and
    # shares no class with c but 1, which a ranks first, b second and c fifth.
    assert found == [
        ("gaussian_noise", 3, 3, 0, 2 + 2 + 14, 18, 3),
        ("gaussian_noise", 1, 3, 1, 15, 0, 2),
        ("tilt", 2, 3, 0, 2 + 0 + 14, 16, 3),
        ("tilt", 2, 3, 1, 30, 0, 1),
    ]
    assert means == rows == [("gaussian_noise", 4 / 6), ("tilt", 4 / 6)]


@pytest.fixture(scope="module")
def validation(tmp_path_factory):
    """A validation run with its logits, labels and ReaL sets."""
    lake = Lake(open_root(tmp_path_factory.mktemp("val") / "lake"))
    rng = np.random.default_rng(1)
    labels = [*rng.choice(subset("imagenet_a"), 150).tolist(), *rng.integers(0, 1000, 150).tolist()]
    logits = made_logits(labels, 2, skill=3.5)
    sets = [[] if i % 7 == 0 else [c, (c + 1) % 1000][: 1 + i % 2] for i, c in enumerate(labels)]
    lake.real({val_name(i): own for i, own in enumerate(sets)})
    rows = rows_of(labels, logits, masks=("imagenet_a", "imagenet_o", "imagenet_r"))
    rows = [{**row, "source_key": val_name(i)} for i, row in enumerate(rows)]
    lake.run(lake.model("m"), lake.dataset("imagenet_1k/val", len(labels)), rows)
    return lake, np.array(labels), logits, sets


def test_accuracy_equals_numpy_with_its_exact_interval(validation):
    lake, labels, logits, _ = validation
    right = int((logits.argmax(1) == labels).sum())
    five = sum(c in row for c, row in zip(labels, np.argsort(-logits, 1)[:, :5], strict=True))
    lo, hi = clopper_pearson(right, len(labels))
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT metric, k, n, value, ci_lo, ci_hi FROM accuracy "
            "WHERE variant = 'unmasked' ORDER BY metric"
        ).fetchall()
    assert found[0] == ("top1", right, 300, right / 300, float(lo), float(hi))
    assert found[1][:3] == ("top5", five, 300)


def test_real_accuracy_leaves_out_empty_sets(validation):
    lake, _, logits, sets = validation
    correct, counted = real_correct(logits.argmax(1), sets)
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT k, n FROM accuracy WHERE benchmark = 'imagenet_real' AND metric = 'top1'"
        ).fetchall()
    assert found == [(correct[counted].sum(), counted.sum())]
    assert counted.sum() == 300 - 43


def test_real_labels_are_cached_by_the_version_of_their_dataset(validation):
    lake, *_ = validation
    with connect(lake.root):
        pass
    first = [name for name in lake.root.list("results") if "real_labels" in name]
    assert len(first) == 1
    other = Lake(lake.root)
    shards = [name for name in lake.root.list("shards/imagenet_real/clean") if name.endswith("tar")]
    saved = lake.root.read_bytes(shards[0])
    try:
        # The cache stands in for the shards...
        other.root.remove(shards[0])
        with connect(lake.root) as con:
            assert con.execute("SELECT count(*) FROM real_labels").fetchone() == (300,)
    finally:
        other.root.write_bytes(shards[0], saved)
    # ...but never for another version of them.
    original = other.root.read_bytes("shards/imagenet_real/clean/manifest.json")
    other.real({val_name(0): [5]})
    with connect(lake.root) as con:
        assert con.execute("SELECT * FROM real_labels").fetchall() == [(val_name(0), [5])]
    other.root.write_bytes("shards/imagenet_real/clean/manifest.json", original)


@pytest.mark.parametrize("mask", ["imagenet_a", "imagenet_o", "imagenet_r"])
def test_the_clean_200_companion_uses_the_same_mask(validation, mask):
    lake, labels, logits, _ = validation
    inside = clean_companion(labels, subset(mask))
    right = masked_prediction(logits, subset(mask))[inside] == labels[inside]
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT k, n FROM accuracy WHERE variant = ?", [f"clean_200/{mask}"]
        ).fetchall()
    assert found == [(right.sum(), inside.sum())]


def test_masked_accuracy_is_never_below_unmasked(full_lake):
    with connect(full_lake.root) as con:
        found = con.execute(
            """
            SELECT m.k, u.k, m.n, u.n FROM accuracy AS m
            JOIN accuracy AS u USING (model, benchmark, condition, metric)
            WHERE m.variant = 'masked' AND u.variant = 'unmasked'
            """
        ).fetchall()
    assert len(found) == 4
    assert all(masked >= unmasked and n == m for masked, unmasked, n, m in found)


def test_imagenet_o_has_no_accuracy(full_lake):
    with connect(full_lake.root) as con:
        assert con.execute("SELECT * FROM accuracy WHERE benchmark = 'imagenet_o'").fetchall() == []


def test_video_frames_have_no_plain_accuracy(full_lake):
    with connect(full_lake.root) as con:
        found = con.execute("SELECT DISTINCT benchmark FROM accuracy").fetchall()
        frames = con.execute(
            "SELECT count(*) FROM predictions WHERE benchmark = 'imagenet_vid_robust'"
        ).fetchone()
    assert ("imagenet_vid_robust",) not in found
    assert frames == (66,)


def test_a_condition_with_a_slash_comes_back_whole(full_lake):
    with connect(full_lake.root) as con:
        found = con.execute(
            "SELECT DISTINCT benchmark, condition, dataset FROM predictions "
            "WHERE condition = 'fog/3' ORDER BY ALL"
        ).fetchall()
    sets = ("imagenet_c", "imagenet_c_rendered")
    assert found == [(name, "fog/3", f"{name}/fog/3") for name in sets]


def test_results_can_be_read_where_nothing_can_be_written(tmp_path, monkeypatch, catalog):
    lake = Lake(open_root(tmp_path / "lake"))
    labels = [1, 2, 3]
    rows = rows_of(labels, made_logits(labels, 0))
    rows = [{**row, "source_key": val_name(i)} for i, row in enumerate(rows)]
    lake.run(lake.model("m"), lake.dataset("imagenet_1k/val", 3), rows)
    lake.real({val_name(i): [c] for i, c in enumerate(labels)})
    compute_metrics(lake.root, catalog)
    for name in lake.root.list("results"):
        if "real_labels" in name:
            lake.root.remove(name)

    def refuse(*_):
        raise PermissionError("read-only credentials")

    monkeypatch.setattr(type(lake.root), "write_bytes", refuse)
    with connect(lake.root) as con:
        found = con.execute("SELECT n FROM accuracy WHERE benchmark = 'imagenet_real'").fetchall()
    assert found == [(3,), (3,)]


def test_a_plain_path_opens_the_same_views(full_lake):
    question = "SELECT count(*), count(DISTINCT sample_key) FROM predictions"
    with connect(full_lake.root.url) as by_path, connect(full_lake.root) as by_root:
        (found,) = by_path.execute(question).fetchall()
        assert found[0] > 100
        assert by_root.execute(question).fetchall() == [found]
