"""The table of metrics: right values and intervals, no work where nothing changed."""

import re
from pathlib import Path

import numpy as np
import pytest
from made_lake import decode_error, made_logits, rows_of, video_rows
from scipy.stats import binom
from sklearn.metrics import average_precision_score

from ops.catalog.classes import subset
from ops.metrics import aurra, clopper_pearson, ece, rms_calib, rms_calib_legacy
from ops.metrics.corruption import alexnet_errors, corruptions_15, corruptions_19
from ops.results import compute_metrics, connect
from ops.results import metrics_table as module


def _metrics(lake, catalog):
    rows = compute_metrics(lake.root, catalog).to_pylist()
    return {(r["benchmark"], r["condition"], r["metric"], r["variant"]): r for r in rows}


def test_the_published_video_intervals_come_out_of_rows(lake, catalog):
    manifest = lake.dataset("imagenet_vid_robust/clean", label_space="imagenet_vid30")
    frames = []
    for i in range(1109):
        frames.append((f"a{i:04}", 0, i < 749))
        # 100 anchors have no neighbour and stay; 167 of those right alone are wrong nearby.
        if 100 <= i < 1109:
            frames += [(f"a{i:04}", -10, i >= 267), (f"a{i:04}", 4, True)]
    rows = video_rows(frames)
    lake.run(lake.model("resnet50"), manifest, rows)
    found = _metrics(lake, catalog)
    pm = {k: found["imagenet_vid_robust", "clean", f"pm{k}", "with anchor"] for k in range(11)}
    shown = [round(100 * pm[0][c], 2) for c in ("ci_lo", "ci_hi")]
    assert (pm[0]["k"], pm[0]["n"], shown) == (749, 1109, [64.69, 70.29])
    shown = [round(100 * pm[10][c], 2) for c in ("ci_lo", "ci_hi")]
    assert (pm[10]["k"], pm[10]["n"], shown) == (582, 1109, [49.49, 55.45])
    assert pm[9]["k"] == 749
    drop = found["imagenet_vid_robust", "clean", "pm_drop", "pm0 - pm10"]
    assert (drop["k"], drop["n"], drop["ci_method"]) == (167, 1109, "Clopper-Pearson")


def test_an_unreadable_neighbour_breaks_its_anchor(lake, catalog):
    manifest = lake.dataset("imagenet_vid_robust/clean", label_space="imagenet_vid30")
    rows = video_rows([("a", 0, True), ("a", 2, True), ("b", 0, True)])
    rows[1] = decode_error(rows[1])
    lake.run(lake.model("m"), manifest, rows)
    found = _metrics(lake, catalog)
    ks = [found["imagenet_vid_robust", "clean", f"pm{k}", "with anchor"]["k"] for k in (0, 1, 2)]
    assert ks == [2, 2, 1]


def test_imagenet_o_follows_its_protocol(lake, catalog):
    rng = np.random.default_rng(0)
    inside = rng.choice(subset("imagenet_o"), 120).tolist()
    others = [c for c in range(1000) if c not in subset("imagenet_o")][:80]
    clean = inside + others
    entry = lake.model("m")
    val = rows_of(clean, made_logits(clean, 1), masks=("imagenet_o",), prefix="v")
    lake.run(entry, lake.dataset("imagenet_1k/val"), val)
    fake = [0] * 40
    out = rows_of(fake, made_logits(fake, 2, 0.0), own="imagenet_o", labelled=False)
    lake.run(entry, lake.dataset("imagenet_o/clean", mask="imagenet_o"), out)
    found = _metrics(lake, catalog)
    # Negatives: only the 120 validation images of ImageNet-O's classes, never the other 80.
    score = [-row["p_max_masked"] for row in out] + [-row["masks"][0]["p_max"] for row in val[:120]]
    expected = average_precision_score([1] * 40 + [0] * 120, np.float32(score))
    aupr = found["imagenet_o", "clean", "aupr", "max softmax"]
    assert aupr["value"] == pytest.approx(expected)
    assert aupr["n"] == 160
    assert aupr["ci_lo"] < aupr["value"] < aupr["ci_hi"]
    assert "bootstrap" in aupr["ci_method"]
    assert found["imagenet_o", "clean", "aupr", "chance"]["value"] == 40 / 160
    assert len(aupr["run_ids"]) == 2
    # The other scores, from the same masked logits.
    for variant, column in {"max logit": "max_logit", "energy": "logsumexp"}.items():
        score = [-row["masks"][0][column] for row in (*out, *val[:120])]
        expected = average_precision_score([1] * 40 + [0] * 120, np.float32(score))
        assert found["imagenet_o", "clean", "aupr", variant]["value"] == pytest.approx(expected)
    variants = {key[3] for key in found if key[2] == "auroc"}
    assert variants == {"max softmax", "max logit", "energy", "max sigmoid"}
    by_logit, by_sigmoid = (
        found["imagenet_o", "clean", "fpr95", name]["value"]
        for name in ("max logit", "max sigmoid")
    )
    assert by_logit == by_sigmoid


def _corrupt(lake, entry, errors, names, prefix="imagenet_c", severities=range(1, 6)):
    """Runs of 20 images a cell, the first ones wrong."""
    for name in names:
        for s in severities:
            wrong = errors(name, s)
            rows = rows_of([1] * 20, made_logits([1] * 20, 0, 100.0))
            for row in rows[:wrong]:
                row |= {"correct": False, "pred": 2}
            lake.run(entry, lake.dataset(f"{prefix}/{name}/{s}", 20, n_shards=1), rows)


def test_the_four_quantities_called_mce_have_four_names(lake, catalog):
    wrong = {name: i % 4 for i, name in enumerate(corruptions_19())}
    _corrupt(lake, lake.model("m"), lambda name, s: wrong[name] + s, corruptions_19())
    found = _metrics(lake, catalog)
    error = {name: (wrong[name] + 3) / 20 for name in wrong}
    alexnet = alexnet_errors().mean
    of = lambda metric, variant, where="all": found["imagenet_c", where, metric, variant]["value"]  # noqa: E731
    ce = [error[name] / alexnet[name] for name in corruptions_15()]
    assert of("mce_alexnet_pct", "alexnet") == pytest.approx(100 * np.mean(ce))
    fifteen = [error[name] for name in corruptions_15()]
    assert of("mean_err_15_pct", "unnormalised") == pytest.approx(100 * np.mean(fifteen))
    assert of("mean_err_19_pct", "unnormalised") == pytest.approx(
        100 * np.mean(list(error.values()))
    )
    assert of("mean_err_pct", "unnormalised", "fog") == pytest.approx(100 * error["fog"])
    severity = [(wrong[name] + 5) / 20 for name in corruptions_15()]
    assert of("mean_err_15_pct", "severity 5") == pytest.approx(100 * np.mean(severity))


def test_corruption_intervals_resample_source_images(lake, catalog):
    # The same 8 of 20 photographs are wrong in every rendering: 1,500 rows know no more than 20.
    _corrupt(lake, lake.model("m"), lambda name, s: 8, corruptions_15())
    row = _metrics(lake, catalog)["imagenet_c", "all", "mean_err_15_pct", "unnormalised"]
    assert (row["value"], row["n"]) == (pytest.approx(40), 20)
    # 8 wrong photographs are few: the interval is that of 8 of 20.
    bounds = [100 * float(bound) for bound in clopper_pearson(8, 20)]
    assert [row["ci_lo"], row["ci_hi"]] == pytest.approx(bounds)
    assert row["ci_method"] == (
        "wider of Clopper-Pearson over source images and bootstrap over source images, "
        "10,000 resamples"
    )


def test_many_source_images_have_the_bootstrap_alone(lake, catalog):
    entry, labels = lake.model("m"), [1] * 80
    for s in range(1, 6):
        rows = rows_of(labels, made_logits(labels, 0, 100.0))
        for row in rows[:32]:
            row |= {"correct": False, "pred": 2}
        lake.run(entry, lake.dataset(f"imagenet_c/fog/{s}", 80, n_shards=1), rows)
    row = _metrics(lake, catalog)["imagenet_c", "fog", "mean_err_pct", "unnormalised"]
    # Of one proportion, resampled means are the binomial's.
    bounds = [100 / 80 * binom.ppf(level, 80, 0.4) for level in (0.025, 0.975)]
    assert [row["ci_lo"], row["ci_hi"]] == pytest.approx(bounds, abs=1.3)
    assert row["ci_method"] == "bootstrap over source images, 10,000 resamples"


def test_every_mean_over_corruptions_has_an_interval_around_it(full_lake):
    with connect(full_lake.root) as con:
        rows = con.execute(
            "SELECT metric, value, ci_lo, ci_hi FROM metrics "
            "WHERE benchmark = 'imagenet_c' AND condition = 'all'"
        ).fetchall()
    names = {row[0] for row in rows}
    assert names == {
        "mean_err_15_pct",
        "mean_err_19_pct",
        "mce_alexnet_pct",
        "relative_mce_alexnet_pct",
    }
    assert all(lo < value < hi for _, value, lo, hi in rows)


def test_means_need_every_corruption(lake, catalog):
    _corrupt(lake, lake.model("m"), lambda name, s: 3, corruptions_15()[:-1])
    found = _metrics(lake, catalog)
    assert ("imagenet_c", "fog", "mean_err_pct", "unnormalised") in found
    assert not [key for key in found if key[1] == "all"]


def test_mini_imagenet_c_is_divided_by_severity_5(lake, catalog):
    alexnet = alexnet_errors().by_severity
    _corrupt(
        lake, lake.model("m"), lambda *_: 10, corruptions_15(), "mini_imagenet_c", severities=[5]
    )
    found = _metrics(lake, catalog)
    row = found["mini_imagenet_c", "all", "mce_severity_5_alexnet_pct", "alexnet severity 5"]
    expected = 100 * np.mean([0.5 / alexnet[name][4] for name in corruptions_15()])
    assert row["value"] == pytest.approx(expected)
    assert found["mini_imagenet_c", "all", "mean_err_15_pct", "severity 5"]["value"] == 50
    fog = found["mini_imagenet_c", "fog", "ce_severity_5_alexnet_pct", "alexnet severity 5"]
    assert fog["value"] == pytest.approx(100 * 0.5 / alexnet["fog"][4])
    assert fog["ci_lo"] < fog["value"] < fog["ci_hi"]


def _normaliser(lake, wrong):
    """An AlexNet of one's own, on every corruption and clean."""
    entry = lake.model("our_alexnet", weights="alexnet", normaliser=True)
    _corrupt(lake, entry, wrong, corruptions_15())
    rows = rows_of([1] * 20, made_logits([1] * 20, 0, 100.0))
    for row in rows[:4]:
        row |= {"correct": False, "pred": 2}
    lake.run(entry, lake.dataset("imagenet_1k/val", 20), rows)
    return entry


def test_a_registered_alexnet_is_a_second_denominator(lake, catalog):
    wrong = {name: 8 + i % 3 for i, name in enumerate(corruptions_15())}
    _normaliser(lake, lambda name, s: wrong[name] + s)
    entry = lake.model("m")
    _corrupt(lake, entry, lambda name, s: 5, corruptions_15())
    rows = rows_of([1] * 20, made_logits([1] * 20, 0, 100.0))
    rows[0] |= {"correct": False, "pred": 2}
    lake.run(entry, lake.dataset("imagenet_1k/val", 20), rows)
    rows = compute_metrics(lake.root, catalog).to_pylist()
    found = {
        (r["model"], r["condition"], r["metric"]): r
        for r in rows
        if r["variant"] == "over our_alexnet"
    }
    assert {key[2] for key in found} == {"ce_pct", "mce_pct", "relative_ce_pct", "relative_mce_pct"}
    assert {found["our_alexnet", "all", name]["value"] for name in ("mce_pct",)} == {100}
    assert found["our_alexnet", "all", "relative_mce_pct"]["value"] == pytest.approx(100)
    ours = {name: (wrong[name] + 3) / 20 for name in wrong}
    assert found["m", "fog", "ce_pct"]["value"] == pytest.approx(100 * 0.25 / ours["fog"])
    mce = found["m", "all", "mce_pct"]
    assert mce["value"] == pytest.approx(100 * np.mean([0.25 / error for error in ours.values()]))
    assert mce["ci_lo"] < mce["value"] < mce["ci_hi"]
    added = [100 * (0.25 - 0.05) / (error - 0.2) for error in ours.values()]
    assert found["m", "all", "relative_mce_pct"]["value"] == pytest.approx(np.mean(added))
    # Its runs stand beside the row, and whatever happens to it makes the row stale.
    assert len(mce["run_ids"]) == 76
    assert {name.rpartition("/")[0] for name in mce["normaliser_runs"]} == {"our_alexnet"}
    with connect(lake.root) as con:
        query = """
            SELECT DISTINCT metric LIKE '%alexnet%', stale FROM metrics
            WHERE model = 'm' AND metric LIKE '%mce%'
        """
        assert sorted(con.execute(query).fetchall()) == [(False, False), (True, False)]
    lake.model("our_alexnet", weights="newer", normaliser=True)
    with connect(lake.root) as con:
        assert sorted(con.execute(query).fetchall()) == [(False, True), (True, False)]
        shown = con.execute("SELECT DISTINCT metric FROM mce WHERE variant = 'over our_alexnet'")
        assert {name for (name,) in shown.fetchall()} == {
            "ce_pct",
            "mce_pct",
            "relative_ce_pct",
            "relative_mce_pct",
        }


def test_a_normaliser_divides_what_was_run_on_the_very_same_images(lake, catalog):
    alexnet = lake.model("our_alexnet", weights="alexnet", normaliser=True)
    entry = lake.model("m")
    for own, wrong in ((alexnet, 16), (entry, 4)):
        _corrupt(lake, own, lambda *_, n=wrong: n, corruptions_15(), "mini_imagenet_c", (5,))
    rows = compute_metrics(lake.root, catalog).to_pylist()
    found = {r["metric"]: r for r in rows if r["model"] == "m" and r["variant"].startswith("over")}
    assert set(found) == {"ce_severity_5_pct", "mce_severity_5_pct"}
    mce = found["mce_severity_5_pct"]
    assert (mce["value"], mce["variant"]) == (pytest.approx(25), "over our_alexnet")
    assert mce["ci_lo"] < 25 < mce["ci_hi"]
    # Drawn anew, the images are others: what was run on the former ones divides nothing.
    for name in corruptions_15():
        fresh = lake.dataset(f"mini_imagenet_c/{name}/5", 20, n_shards=1, version="drawn anew")
        lake.run(entry, fresh, rows_of([1] * 20, made_logits([1] * 20, 0, 2.0)))
    rows = compute_metrics(lake.root, catalog).to_pylist()
    assert not [r for r in rows if r["model"] == "m" and r["variant"].startswith("over")]
    assert [r for r in rows if r["model"] == "m" and r["metric"] == "mce_severity_5_alexnet_pct"]


def test_without_the_row_of_an_expected_image_there_is_a_value_but_no_interval(lake, catalog):
    entry = lake.model("m")
    for s in range(1, 6):
        rows = rows_of([1] * 20, made_logits([1] * 20, s, 3.0))
        manifest = lake.dataset(f"imagenet_c/fog/{s}", 20, n_shards=1)
        lake.run(entry, manifest, rows[: 19 if s == 3 else 20], expected=20)
    row = _metrics(lake, catalog)["imagenet_c", "fog", "mean_err_pct", "unnormalised"]
    assert row["value"] > 0
    assert (row["n"], row["ci_lo"], row["ci_method"]) == (None, None, "none")


def test_calibration_of_every_plain_run_masked_and_unmasked(lake, catalog):
    labels = [int(c) for c in np.random.default_rng(1).choice(subset("imagenet_a"), 260)]
    rows = rows_of(labels, made_logits(labels, 3, 4.0), own="imagenet_a")
    # Ties, in another order than the keys: confidence alone must not decide.
    for row in rows[:150]:
        row |= {"p_max": 0.5, "p_max_masked": 0.5}
    rows[7] = decode_error(rows[7])
    lake.run(lake.model("m"), lake.dataset("imagenet_a/clean", mask="imagenet_a"), rows)
    found = _metrics(lake, catalog)
    known = sorted((row for row in rows if "p_max" in row), key=lambda row: row["sample_key"])
    for variant, suffix in {"unmasked": "", "masked": "_masked"}.items():
        confidence = np.float32([row["p_max" + suffix] for row in known])
        correct = np.array([row["correct" + suffix] for row in known])
        for metric in (aurra, ece, rms_calib, rms_calib_legacy):
            row = found["imagenet_a", "clean", metric.__name__, variant]
            assert row["value"] == metric(confidence, correct)
            assert row["n"] == 259
    with connect(lake.root) as con:
        assert con.execute("SELECT count(*) FROM calibration").fetchone() == (8,)


def test_few_images_have_no_legacy_calibration_and_unlabelled_ones_none(full_lake):
    with connect(full_lake.root) as con:
        rows = con.execute(
            "SELECT DISTINCT benchmark, metric FROM calibration WHERE model = 'resnet50'"
        ).fetchall()
    by = {name: {m for b, m in rows if b == name} for name, _ in rows}
    assert by["imagenet_1k"] == {"rms_calib", "rms_calib_legacy", "ece", "aurra"}
    assert by["imagenet_a"] == {"rms_calib", "ece", "aurra"}
    assert not {"imagenet_o", "imagenet_c", "imagenet_vid_robust", "imagenet_p_rendered"} & set(by)


def test_mean_per_class_weighs_classes_alike(lake, catalog):
    labels = [0] * 9 + [1]
    rows = rows_of(labels, made_logits(labels, 0, 100.0))
    rows[9] |= {"correct": False, "pred": 0}
    manifest = lake.dataset("caltech_101/clean", label_space="caltech101")
    lake.run(lake.model("m", label_space="caltech101"), manifest, rows)
    found = _metrics(lake, catalog)
    assert found["caltech_101", "clean", "mean_per_class", "unmasked"]["value"] == 0.5
    assert found["caltech_101", "clean", "top1", "unmasked"]["value"] == 0.9


def test_nothing_changed_means_no_work_and_the_same_bytes(full_lake, catalog, monkeypatch):
    before = full_lake.root.read_bytes("results/metrics.parquet")
    with monkeypatch.context() as patch:

        def forbidden(*_, **__):
            raise AssertionError("rows were read though nothing changed")

        patch.setattr(module, "open_views", forbidden)
        compute_metrics(full_lake.root, catalog)
    # From nothing, the bytes are the same again: every random number is keyed.
    full_lake.root.remove("results/metrics.parquet")
    compute_metrics(full_lake.root, catalog)
    assert full_lake.root.read_bytes("results/metrics.parquet") == before


def test_a_new_run_computes_only_what_depends_on_it(lake, catalog, monkeypatch):
    labels = list(range(20))
    rows = rows_of(labels, made_logits(labels, 0))
    for name in ("a", "b"):
        entry = lake.model(name, weights=name)
        lake.run(entry, lake.dataset("imagenet_sketch/clean"), rows)
    compute_metrics(lake.root, catalog)
    entry = lake.model("b", weights="newer")
    key = lake.run(entry, lake.dataset("imagenet_sketch/clean"), rows)
    seen = []
    accuracies = module.MEASURES["accuracy"]
    monkeypatch.setitem(
        module.MEASURES,
        "accuracy",
        lambda con, units: (seen.extend(units), accuracies(con, units))[1],
    )
    table = compute_metrics(lake.root, catalog).to_pylist()
    assert [unit.model for unit in seen] == ["b"]
    assert {row["run_id"] for row in table if row["model"] == "b"} == {key}
    assert {row["model"] for row in table} == {"a", "b"}


def test_rows_of_a_removed_run_go(lake, catalog):
    labels = [1, 2]
    key = lake.run(
        lake.model("m"),
        lake.dataset("imagenet_sketch/clean"),
        rows_of(labels, made_logits(labels, 0)),
    )
    assert compute_metrics(lake.root, catalog).num_rows > 0
    lake.root.remove_folder(f"predictions/m/imagenet_sketch/clean/{key}")
    assert compute_metrics(lake.root, catalog).num_rows == 0


def test_metrics_and_live_accuracy_agree(full_lake):
    with connect(full_lake.root) as con:
        live, stored = (
            con.execute(
                f"SELECT model, benchmark, condition, metric, variant, k, n, value, ci_lo, ci_hi "
                f"FROM {view} WHERE metric IN ('top1', 'top5') ORDER BY ALL"
            ).fetchall()
            for view in ("accuracy", "metrics")
        )
    assert len(live) > 400
    assert live == stored


def test_stale_metrics_say_so(lake, catalog):
    labels = [1, 2]
    rows = rows_of(labels, made_logits(labels, 0))
    lake.run(lake.model("m"), lake.dataset("imagenet_sketch/clean"), rows)
    compute_metrics(lake.root, catalog)
    with connect(lake.root) as con:
        assert con.execute("SELECT DISTINCT stale FROM metrics").fetchall() == [(False,)]
    lake.model("m", weights="other")
    with connect(lake.root) as con:
        assert con.execute("SELECT DISTINCT stale FROM metrics").fetchall() == [(True,)]
        assert con.execute("SELECT DISTINCT stale FROM leaderboard").fetchall() == [(True,)]


def test_every_metric_is_explained_by_name(full_lake):
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    explained = set(re.findall(r"`([a-z0-9_]+)`", text)) | {f"pm{k}" for k in range(11)}
    with connect(full_lake.root) as con:
        names = {name for (name,) in con.execute("SELECT DISTINCT metric FROM metrics").fetchall()}
    assert len(names) > 30
    assert names <= explained


def test_rows_kept_and_rows_computed_make_the_same_bytes_as_all_computed(lake, catalog):
    labels = list(range(20))
    for name in ("b", "a"):
        rows = rows_of(labels, made_logits(labels, len(name)))
        lake.run(lake.model(name, weights=name), lake.dataset("imagenet_sketch/clean"), rows)
        compute_metrics(lake.root, catalog)
    in_steps = lake.root.read_bytes("results/metrics.parquet")
    lake.root.remove("results/metrics.parquet")
    compute_metrics(lake.root, catalog)
    assert lake.root.read_bytes("results/metrics.parquet") == in_steps
