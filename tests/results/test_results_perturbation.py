"""ImageNet-P: flip probabilities from rows, in the table of metrics and in SQL alike."""

import numpy as np
import pytest
from made_lake import perturbed, sequence_rows

from ops.metrics.flips import PERTURBATIONS_10
from ops.results import compute_metrics, connect

A, B, C = [1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [6, 1, 2, 3, 4]
UNREADABLE: list[int] = []


def _run(lake, benchmark, name, sequences):
    frames = len(sequences[0])
    manifest = lake.dataset(
        f"{benchmark}/{name}", len(sequences), n_shards=1, parameters=perturbed(name, frames)
    )
    return lake.run(lake.model("m"), manifest, sequence_rows(sequences))


def _metrics(lake, catalog):
    rows = compute_metrics(lake.root, catalog).to_pylist()
    return {(r["benchmark"], r["condition"], r["metric"]): r for r in rows}


def test_each_perturbation_is_compared_as_its_dataset_says(lake, catalog):
    sequences = [[A, B, B, B], [A, B, A, B]]
    _run(lake, "imagenet_p", "gaussian_noise", sequences)
    _run(lake, "imagenet_p", "tilt", sequences)
    found = _metrics(lake, catalog)
    noise = found["imagenet_p", "gaussian_noise", "flip_probability"]
    tilt = found["imagenet_p", "tilt", "flip_probability"]
    # First: 3 and 2 of 3 pairs differ; previous: 1 and 3 of 3.
    assert (noise["value"], noise["variant"]) == (pytest.approx(5 / 6), "relative to first")
    assert (tilt["value"], tilt["variant"]) == (pytest.approx(4 / 6), "relative to previous")
    assert noise["n"] == 2
    # A and B differ by 2: 6 and 4 over three pairs each.
    assert found["imagenet_p", "gaussian_noise", "ut5d"]["value"] == pytest.approx(10 / 6)
    assert found["imagenet_p", "tilt", "ut5d"]["value"] == pytest.approx(8 / 6)
    assert not [key for key in found if key[2] in ("top1", "mean_flip_probability_10")]


def test_the_interval_resamples_sequences_and_not_pairs(lake, catalog):
    # Half of 40 sequences flip at every pair, the others never: 1,200 pairs know no more than 40.
    still, restless = [A] * 31, [A, B] * 15 + [A]
    _run(lake, "imagenet_p", "tilt", [still, restless] * 20)
    row = _metrics(lake, catalog)["imagenet_p", "tilt", "flip_probability"]
    half = 1.96 * np.sqrt(0.25 / 39)
    assert (row["value"], row["n"]) == (0.5, 40)
    assert row["ci_hi"] - row["value"] == pytest.approx(half, rel=1e-3)


def test_an_interval_of_few_sequences_does_not_go_below_nothing(lake, catalog):
    _run(lake, "imagenet_p", "tilt", [[A] * 4, [A] * 4, [A, A, A, B]])
    row = _metrics(lake, catalog)["imagenet_p", "tilt", "flip_probability"]
    assert row["ci_lo"] == 0
    assert row["ci_lo"] < row["value"] < row["ci_hi"]


def test_the_mean_needs_all_ten_and_adds_them_by_photograph(lake, catalog):
    rng = np.random.default_rng(0)
    probability, per_photo = [], np.zeros(6)
    for name in (*PERTURBATIONS_10, "shear", "shot_noise_3"):
        tops = [[A if kept else B for kept in row] for row in rng.random((6, 5)) < 0.7]
        _run(lake, "imagenet_p_rendered", name, tops)
        if name in PERTURBATIONS_10:
            pred = np.array(tops)[..., 0]
            changed = pred[:, 1:] != (pred[:, :1] if "noise" in name else pred[:, :-1])
            probability.append(changed.mean())
            per_photo += changed.mean(axis=1) / 10
        if name == "tilt":
            found = _metrics(lake, catalog)
            assert ("imagenet_p_rendered", "all", "mean_flip_probability_10") not in found
    found = _metrics(lake, catalog)
    row = found["imagenet_p_rendered", "all", "mean_flip_probability_10"]
    assert row["value"] == pytest.approx(np.mean(probability))
    half = 1.96 * per_photo.std(ddof=1) / np.sqrt(6)
    assert row["ci_hi"] - row["value"] == pytest.approx(half, rel=1e-3)
    assert row["n"] == 6
    distances = [found["imagenet_p_rendered", name, "ut5d"]["value"] for name in PERTURBATIONS_10]
    mean = found["imagenet_p_rendered", "all", "mean_ut5d_10"]["value"]
    assert mean == pytest.approx(np.mean(distances))


def test_the_view_of_flips_agrees_with_the_table(lake, catalog):
    rng = np.random.default_rng(1)
    choice = [A, B, C, UNREADABLE]
    for name in ("shot_noise", "rotate"):
        tops = [[choice[i] for i in row] for row in rng.integers(0, 4, (9, 6))]
        _run(lake, "imagenet_p_on_the_fly", name, tops)
    found = _metrics(lake, catalog)
    with connect(lake.root) as con:
        rows = con.execute(
            "SELECT condition, avg(flips / pairs), count(*), sum(unreadable) > 0, min(pairs) "
            "FROM flips GROUP BY condition ORDER BY condition"
        ).fetchall()
    assert [row[0] for row in rows] == ["rotate", "shot_noise"]
    for name, mean, n, unreadable, pairs in rows:
        row = found["imagenet_p_on_the_fly", name, "flip_probability"]
        assert mean == pytest.approx(row["value"], rel=1e-12)
        assert (n, unreadable, pairs) == (9, True, 5)


def test_frames_are_counted_in_no_accuracy(lake, catalog):
    for benchmark in ("imagenet_p", "imagenet_p_rendered", "imagenet_p_on_the_fly"):
        _run(lake, benchmark, "tilt", [[A, B], [A, A]])
    with connect(lake.root) as con:
        assert con.execute("SELECT count(*) FROM accuracy").fetchone() == (0,)
        assert con.execute("SELECT count(*) FROM flips").fetchone() == (6,)


def test_the_order_of_the_runs_does_not_change_a_bit(lake, catalog):
    for name in PERTURBATIONS_10:
        tops = [[A, B, C, A, A], [A, A, B, A, A], [C, A, A, A, A]]
        _run(lake, "imagenet_p", name, tops)
    compute_metrics(lake.root, catalog)
    before = lake.root.read_bytes("results/metrics.parquet")
    lake.root.remove("results/metrics.parquet")
    compute_metrics(lake.root, catalog)
    assert lake.root.read_bytes("results/metrics.parquet") == before
