"""ImageNet-P: flip probabilities from rows, in the table of metrics and in SQL alike."""

import numpy as np
import pytest
from made_lake import perturbed, sequence_rows
from scipy.stats import binom

from ops.metrics import clustered_bootstrap, mean_over_normaliser_pct
from ops.metrics.flips import PERTURBATIONS_10
from ops.report.cast import cast_of
from ops.report.figures.flips import figure_flips
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
    bounds = [binom.ppf(level, 40, 0.5) / 40 for level in (0.025, 0.975)]
    assert (row["value"], row["n"]) == (0.5, 40)
    assert [row["ci_lo"], row["ci_hi"]] == pytest.approx(bounds, abs=1 / 40)


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
    # All ten perturbations of a photograph are drawn together.
    _, lo, hi = clustered_bootstrap(per_photo)
    assert [row["ci_lo"], row["ci_hi"]] == pytest.approx([lo, hi])
    assert row["n"] == 6
    distances = [found["imagenet_p_rendered", name, "ut5d"]["value"] for name in PERTURBATIONS_10]
    mean = found["imagenet_p_rendered", "all", "mean_ut5d_10"]["value"]
    assert mean == pytest.approx(np.mean(distances))
    # The report finds them under the names they are measured by: the ten, two more, and the mean.
    with connect(lake.root, catalog=catalog) as con:
        assert cast_of(con).models == ("m",)
        figure = figure_flips(con, "imagenet_p_rendered")
    assert len(figure.axes[0].get_yticklabels()) == 13


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


def test_a_registered_alexnet_gives_flip_rates(lake, catalog):
    calm, restless = [A, A, A, B], [A, B, A, B]
    for model, normaliser, sequences in (
        ("our_alexnet", True, [restless, restless]),
        ("m", False, [calm, restless]),
    ):
        entry = lake.model(model, weights=model, normaliser=normaliser)
        for name in PERTURBATIONS_10:
            manifest = lake.dataset(
                f"imagenet_p/{name}", 2, n_shards=1, parameters=perturbed(name, 4)
            )
            lake.run(entry, manifest, sequence_rows(sequences))
    rows = compute_metrics(lake.root, catalog).to_pylist()
    found = {(r["model"], r["condition"], r["metric"]): r for r in rows}
    # AlexNet flips at 3 of 3 pairs, at 2 of 3 where all are compared with the first; the other
    # model at 4 of 6, and 3 of 6.
    assert found["m", "tilt", "fr_pct"]["value"] == pytest.approx(100 * (4 / 6) / (3 / 3))
    assert found["m", "gaussian_noise", "fr_pct"]["value"] == pytest.approx(100 * (3 / 6) / (2 / 3))
    probability = {
        model: {n: found[model, n, "flip_probability"]["value"] for n in PERTURBATIONS_10}
        for model in ("m", "our_alexnet")
    }
    mfr = found["m", "all", "mfr_pct"]
    assert mfr["value"] == pytest.approx(
        mean_over_normaliser_pct(probability["m"], probability["our_alexnet"])
    )
    # Every flip moves two classes by one rank: distances stand to each other as flips do.
    assert found["m", "all", "mt5d_pct"]["value"] == pytest.approx(mfr["value"])
    assert found["our_alexnet", "all", "mfr_pct"]["value"] == pytest.approx(100)
    assert (mfr["variant"], mfr["n"]) == ("over our_alexnet", 2)
    assert mfr["ci_lo"] < mfr["value"] < mfr["ci_hi"]
    assert len(mfr["normaliser_runs"]) == 10


def test_nothing_is_divided_by_a_network_that_never_flips(lake, catalog):
    manifest = lake.dataset("imagenet_p/tilt", 1, n_shards=1, parameters=perturbed("tilt", 3))
    for model, normaliser in (("still", True), ("m", False)):
        entry = lake.model(model, weights=model, normaliser=normaliser)
        lake.run(entry, manifest, sequence_rows([[A, A, A]]))
    assert "fr_pct" not in {
        row["metric"] for row in compute_metrics(lake.root, catalog).to_pylist()
    }


def test_zipf_distances_are_averaged_over_the_pairs_that_were_read(lake, catalog):
    distances = [None, 0.5, 0.25, 1.0, None, 0.125, None, 0.0]
    rows = sequence_rows([[A, B, A, B], [A, B, UNREADABLE, B]])
    for row, distance in zip(rows, distances, strict=True):
        row["zipf_distance"] = distance
    manifest = lake.dataset("imagenet_p/tilt", 2, n_shards=1, parameters=perturbed("tilt", 4))
    lake.run(lake.model("m"), manifest, rows)
    row = _metrics(lake, catalog)["imagenet_p", "tilt", "uzipf"]
    assert row["value"] == pytest.approx((0.5 + 0.25 + 1.0 + 0.125 + 0.0) / 5)
    assert (row["variant"], row["n"]) == ("relative to previous", 2)


def test_rows_of_an_older_release_are_compared_when_they_are_measured(lake, catalog):
    rng = np.random.default_rng(2)
    choice = [A, B, C, UNREADABLE]
    unknown = dict.fromkeys(("flipped", "top5_distance", "zipf_distance"))
    for name in ("gaussian_noise", "rotate"):
        tops = [[choice[i] for i in row] for row in rng.integers(0, 4, (8, 5))]
        _run(lake, "imagenet_p", name, tops)
        manifest = lake.dataset(
            f"imagenet_p_rendered/{name}", 8, n_shards=1, parameters=perturbed(name, 5)
        )
        rows = [row | unknown for row in sequence_rows(tops)]
        lake.run(lake.model("m"), manifest, rows)
    found = _metrics(lake, catalog)
    for name in ("gaussian_noise", "rotate"):
        assert ("imagenet_p", name, "uzipf") in found
        assert ("imagenet_p_rendered", name, "uzipf") not in found
        for metric in ("flip_probability", "ut5d"):
            new, old = (
                found[benchmark, name, metric]
                for benchmark in ("imagenet_p", "imagenet_p_rendered")
            )
            for column in ("value", "ci_lo", "ci_hi", "n"):
                assert new[column] == old[column]
