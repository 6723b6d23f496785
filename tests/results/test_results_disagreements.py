"""The macros about two models, and the functions that go with them, against pandas and scipy."""

import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest

from ops.metrics.paired_difference import paired_difference
from ops.results import connect

A, B = "resnet50", "vit_b_16"


@pytest.fixture(scope="module")
def connection(full_lake):
    with connect(full_lake.root) as opened:
        yield opened


def samples(lake, dataset):
    """Rows of both models in pandas, side by side by sample key."""
    sides = []
    for model in (A, B):
        folder = lake.root.local_path(f"predictions/{model}/{dataset}")
        parts = [pq.read_table(path).to_pandas() for path in sorted(folder.rglob("part-*.parquet"))]
        sides.append(pd.concat(parts).set_index("sample_key"))
    return sides[0].add_suffix("_a").join(sides[1].add_suffix("_b"), validate="1:1")


@pytest.mark.parametrize(
    ("dataset", "masked"),
    [("imagenet_1k/val", False), ("imagenet_r/clean", True), ("imagenet_c/fog/3", False)],
)
def test_disagreements_are_the_samples_one_has_right(full_lake, connection, dataset, masked):
    both = samples(full_lake, dataset)
    right = "correct_masked" if masked else "correct"
    both = both[both[f"{right}_a"].astype(bool) != both[f"{right}_b"].astype(bool)]
    found = connection.execute(
        f"SELECT * FROM disagreements($1, $2, masked := {masked}) WHERE dataset = $3 "
        "ORDER BY sample_key",
        [A, B, dataset],
    ).df()
    assert len(found) == len(both) > 0
    both = both.sort_index()
    suffix = "_masked" if masked else ""
    for ours, theirs in (
        ("sample_key", both.index),
        ("source_key", both["source_key_a"]),
        ("pred_a", both[f"pred{suffix}_a"]),
        ("pred_b", both[f"pred{suffix}_b"]),
        ("correct_a", both[f"{right}_a"]),
        ("correct_b", both[f"{right}_b"]),
    ):
        assert list(found[ours]) == list(theirs.astype(found[ours].dtype)), ours
    assert set(found["dataset"]) == {dataset}
    assert not found["stale"].any()


def test_flipped_classes_add_up_to_the_disagreements(full_lake, connection):
    both = samples(full_lake, "imagenet_1k/val")
    label = both["labels_a"].str[0]
    lost = (both["correct_a"] & ~both["correct_b"]).groupby(label).sum()
    gained = (both["correct_b"] & ~both["correct_a"]).groupby(label).sum()
    found = connection.execute(
        "SELECT * FROM flipped_classes($1, $2) WHERE dataset = 'imagenet_1k/val'", [A, B]
    ).df()
    found = found.set_index("class_index").sort_index()
    assert list(found.index) == list(lost.index)
    assert (found["lost"] == lost).all()
    assert (found["gained"] == gained).all()
    assert (found["net"] == gained - lost).all()
    assert (found["n"] == label.value_counts().sort_index()).all()
    names = dict(
        connection.execute(
            "SELECT class_index, name FROM class_lists WHERE list = 'ilsvrc1000'"
        ).fetchall()
    )
    assert dict(found["name"]) == {index: names[index] for index in found.index}
    video = connection.execute(
        "SELECT name FROM flipped_classes($1, $2) WHERE benchmark = 'imagenet_vid_robust'", [A, B]
    ).fetchall()
    assert video
    assert all(name for (name,) in video)


def test_the_macros_give_what_mcnemars_test_needs(connection):
    rows = connection.execute(
        """
        SELECT dataset, sum(lost), sum(gained), mcnemar(sum(lost)::BIGINT, sum(gained)::BIGINT),
            paired_difference(sum(lost)::BIGINT, sum(gained)::BIGINT, sum(n)::BIGINT) AS i, sum(n)
        FROM flipped_classes('resnet50', 'vit_b_16')
        WHERE benchmark IN ('imagenet_1k', 'imagenetv2')
        GROUP BY dataset ORDER BY dataset
        """
    ).fetchall()
    assert len(rows) == 3
    for _, lost, gained, p, interval, n in rows:
        lost, gained = int(lost), int(gained)
        expected = binomtest(lost, lost + gained).pvalue if lost + gained else 1
        assert p == pytest.approx(expected)
        lo, hi = paired_difference(lost, gained, int(n))
        assert (interval["lo"], interval["hi"]) == (float(lo), float(hi))


def plan(connection, query):
    return connection.execute(f"EXPLAIN ANALYZE {query}").fetchall()[0][1]


@pytest.mark.parametrize("macro", ["disagreements", "flipped_classes"])
@pytest.mark.parametrize(
    "where", ["dataset = 'imagenet_c/fog/3'", "benchmark = 'imagenet_c' AND condition = 'fog/3'"]
)
def test_the_two_sides_meet_in_a_hash_join_of_the_asked_files_alone(connection, macro, where):
    text = plan(connection, f"FROM {macro}('{A}', '{B}') WHERE {where}")
    assert "hash join" in text.lower().replace("_", " ")
    for slow in ("nested loop", "blockwise", "cross product"):
        assert slow not in text.lower().replace("_", " ")
    # One shard of each model, of the hundreds of files there are.
    assert text.count("condition=fog%2F3") == text.count("shiftlake://predictions/model=") == 2
