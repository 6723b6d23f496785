"""Two models on the same images: every number against the table of metrics and against pandas."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from made_lake import made_logits, rows_of, val_name
from scipy.stats import binomtest

from ops.catalog.classes import subset
from ops.errors import ShiftlakeError
from ops.results import compare, compute_metrics, connect
from ops.results.comparison import COMPARISON, HEADLINES, PairOfRuns, incomparable
from ops.results.comparison.answers import lay_side_by_side

A, B = "resnet50", "vit_b_16"


@pytest.fixture(scope="module")
def table(full_lake, catalog):
    return compare(full_lake.root, catalog, A, B)


@pytest.fixture(scope="module")
def rows(table):
    keys = ("benchmark", "condition", "metric", "variant")
    return {tuple(row[name] for name in keys): row for row in table.to_pylist()}


def samples(lake, dataset, models=(A, B)):
    """Rows of both models in pandas, indexed by sample key."""
    found = []
    for model in models:
        folder = lake.root.local_path(f"predictions/{model}/{dataset}")
        parts = [pq.read_table(path).to_pandas() for path in sorted(folder.rglob("part-*.parquet"))]
        found.append(pd.concat(parts).set_index("sample_key").sort_index())
    assert list(found[0].index) == list(found[1].index)
    return found


def test_every_value_is_that_of_the_table_of_metrics(full_lake, catalog, table, rows):
    metrics = {
        (row["model"], row["benchmark"], row["condition"], row["metric"], row["variant"]): row
        for row in compute_metrics(full_lake.root, catalog).to_pylist()
    }
    assert table.schema.equals(COMPARISON)
    seen = set()
    for key, row in rows.items():
        for model, value in ((A, row["value_a"]), (B, row["value_b"])):
            expected = metrics[(model, *key)]
            if row["n"] == row["n_sources"] and row["ci_method"].startswith("Tango"):
                assert value == expected["value"], key
                assert row["n"] == expected["n"]
            assert value == pytest.approx(expected["value"], rel=1e-12, abs=1e-14), key
        assert row["delta"] == row["value_b"] - row["value_a"]
        assert row["ci_lo"] <= row["delta"] + 1e-12
        assert row["delta"] <= row["ci_hi"] + 1e-12
        seen.add(key[0])
    assert seen >= {"imagenet_1k", "imagenet_real", "imagenetv2", "imagenet_a", "imagenet_o"}
    assert seen >= {"imagenet_c", "mini_imagenet_c", "imagenet_p_rendered", "imagenet_vid_robust"}
    # Nothing the CIFAR model was run on, and nothing that one of the two was not.
    assert not {name for name in seen if "cifar" in name}


def test_a_headline_a_benchmark_is_the_leaderboards(full_lake, rows):
    with connect(full_lake.root) as connection:
        shown = connection.execute(
            "SELECT benchmark, condition, metric, variant FROM leaderboard WHERE model = $1", [A]
        ).fetchall()
    ours = {key for key, row in rows.items() if row["headline"]}
    assert ours == set(shown)


def test_accuracies_are_paired_image_by_image(full_lake, rows):
    for dataset, metric, variant, column in (
        ("imagenet_1k/val", "top1", "unmasked", "correct"),
        ("imagenetv2/matched_frequency", "top5", "unmasked", "correct5"),
        ("imagenet_a/clean", "top1", "masked", "correct_masked"),
        ("imagenet_r/clean", "top1", "unmasked", "correct"),
        ("imagenet_c/fog/3", "top1", "unmasked", "correct"),
    ):
        a, b = (side[column].astype(bool) for side in samples(full_lake, dataset))
        row = rows[(*dataset.split("/", 1), metric, variant)]
        assert row["lost"] == (a & ~b).sum()
        assert row["gained"] == (b & ~a).sum()
        assert row["n"] == len(a)
        discordant = row["lost"] + row["gained"]
        expected = binomtest(row["lost"], discordant).pvalue if discordant else 1
        assert row["p_value"] == pytest.approx(expected, rel=1e-9)
        assert row["p_method"] == "exact McNemar"


def test_corruptions_are_compared_photograph_by_photograph(full_lake, rows):
    row = rows["imagenet_c", "all", "mce_alexnet_pct", "alexnet"]
    assert (row["n"], row["n_sources"]) == (75 * 12, 12)
    assert row["p_method"] == "clustered McNemar"
    assert row["better"] == "lower"
    # 12 photographs, all with the same sign: one of 2 ** 12 patterns on either side.
    assert row["p_value"] == 2 / 2**12
    assert row["ci_method"] == "exact bound, few source images differ"
    with connect(full_lake.root) as connection:
        ((lost, gained),) = connection.execute(
            """
            SELECT count(*) FILTER (WHERE correct_a), count(*) FILTER (WHERE correct_b)
            FROM disagreements($1, $2)
            WHERE benchmark = 'imagenet_c' AND split_part(condition, '/', 1) NOT IN
                ('speckle_noise', 'gaussian_blur', 'spatter', 'saturate')
            """,
            [A, B],
        ).fetchall()
    assert (row["lost"], row["gained"]) == (lost, gained)


def test_imagenet_o_is_paired_as_a_detector(full_lake, rows):
    row = rows["imagenet_o", "clean", "aupr", "max softmax"]
    a, _ = samples(full_lake, "imagenet_o/clean")
    assert row["n"] > len(a)
    assert row["lost"] is None
    assert row["value_a"] < row["value_b"]
    assert 0 < row["ci_lo"] < row["delta"] < row["ci_hi"]
    assert 2 / 10_001 <= row["p_value"] < 0.01


def test_imagenet_o_has_the_same_scores_whatever_the_head_calls_a_probability(lake, catalog):
    # The second model is the first, but its p_max is a sigmoid, which ranks images otherwise.
    labels = sorted(subset("imagenet_o"))[:40]
    outside = lake.dataset("imagenet_o/clean", 40, mask="imagenet_o")
    val = lake.dataset("imagenet_1k/val", 40)
    for head in ("softmax", "sigmoid"):
        entry = lake.model(head, weights=head, head=head)
        for seed, (manifest, skill) in enumerate(((outside, 0.0), (val, 4.0))):
            rows = rows_of(labels, made_logits(labels, seed, skill), masks=("imagenet_o",))
            if head == "sigmoid":
                for row in rows:
                    (own,) = row["masks"]
                    own["p_max"] = float(1 / (1 + np.exp(-own["max_logit"])))
            lake.run(entry, manifest, rows)
    found = {
        (row["model"], row["variant"]): row["value"]
        for row in compute_metrics(lake.root, catalog).to_pylist()
        if row["metric"] == "aupr"
    }
    metrics = {name: found[name, "max softmax"] for name in ("softmax", "sigmoid")}
    assert abs(metrics["sigmoid"] - found["sigmoid", "max sigmoid"]) > 0.002
    (row,) = (
        row
        for row in compare(lake.root, catalog, "softmax", "sigmoid").to_pylist()
        if (row["metric"], row["variant"]) == ("aupr", "max softmax")
    )
    assert row["value_a"] == pytest.approx(metrics["softmax"], rel=1e-12)
    assert row["value_b"] == pytest.approx(metrics["sigmoid"], rel=1e-12)
    assert row["delta"] == pytest.approx(0, abs=1e-3)


def test_conditions_are_quoted(lake):
    with connect(lake.root) as connection:
        run = SimpleNamespace(model="it's", run_id="0'", benchmark="b'", condition="c'")
        pair = PairOfRuns(run, run)
        for answer in ("flips", "top1", "pm0"):
            lay_side_by_side(connection, answer, [pair])
            assert connection.execute("SELECT count(*) FROM answers").fetchall() == [(0,)]


def test_sequences_are_lost_where_they_flip_more_often(full_lake, rows):
    row = rows["imagenet_p_rendered", "all", "mean_flip_probability_10", "unnormalised"]
    assert (row["n"], row["n_sources"]) == (30, 3)
    with connect(full_lake.root) as connection:
        ((lost, gained),) = connection.execute(
            """
            SELECT count(*) FILTER (WHERE y.flips > x.flips),
                count(*) FILTER (WHERE y.flips < x.flips)
            FROM flips AS x JOIN flips AS y USING (benchmark, condition, frame_set)
            WHERE x.model = $1 AND y.model = $2
            """,
            [A, B],
        ).fetchall()
    assert (row["lost"], row["gained"]) == (lost, gained)


def test_each_family_is_corrected_by_itself(rows):
    heads = [row for row in rows.values() if row["family"] == HEADLINES]
    smallest = min(heads, key=lambda row: row["p_value"])
    assert smallest["p_holm"] == pytest.approx(smallest["p_value"] * len(heads))
    fog = rows["imagenet_c", "fog/3", "top1", "unmasked"]
    assert fog["family"] == "imagenet_c top1 unmasked"
    own = [row for row in rows.values() if row["family"] == fog["family"]]
    assert len(own) == 95
    assert all(row["p_holm"] >= row["p_value"] for row in rows.values())


def test_the_other_way_round_is_the_mirror_image(full_lake, catalog, rows):
    names = ["imagenet_a", "imagenet_c", "imagenet_o", "imagenet_p_rendered"]
    for other in compare(full_lake.root, catalog, B, A, benchmarks=names).to_pylist():
        row = rows[tuple(other[name] for name in ("benchmark", "condition", "metric", "variant"))]
        assert (other["lost"], other["gained"]) == (row["gained"], row["lost"])
        assert other["delta"] == -row["delta"]
        assert other["ci_lo"] == pytest.approx(-row["ci_hi"], abs=1e-12)
        assert other["p_value"] == row["p_value"]


def many(lake, model, dataset, sources, wrong, per_source=3):
    """`per_source` conditions of one benchmark; `wrong[i]` of them wrong for source image i."""
    for s in range(per_source):
        manifest = lake.dataset(f"{dataset}/{s + 1}", sources, n_shards=1)
        labels = [i % 1000 for i in range(sources)]
        logits = made_logits(labels, 0, 50.0)
        for i in range(sources):
            if s < wrong[i]:
                logits[i, labels[i]] -= 100
        rows = rows_of(labels, logits, source=val_name)
        lake.run(lake.model(model, weights=model), manifest, rows)


def test_renderings_of_one_photograph_widen_the_interval(lake, catalog):
    # 60 photographs of 200: all five severities lost at once, or one each of five times as many.
    rng = np.random.default_rng(0)
    for name, wrong in {"a": np.zeros(200), "b": 5 * (rng.permutation(200) < 60)}.items():
        many(lake, name, "imagenet_c/fog", 200, wrong, 5)
    rows = compare(lake.root, catalog, "a", "b", benchmarks=["imagenet_c"]).to_pylist()
    row = next(row for row in rows if row["metric"] == "mean_err_pct")
    assert row["delta"] == pytest.approx(30)
    assert row["ci_method"] == "paired bootstrap over source images, 10,000 resamples"
    half = (row["ci_hi"] - row["ci_lo"]) / 2
    clustered = 196 * np.sqrt(0.3 * 0.7 / 200)
    assert half == pytest.approx(clustered, rel=0.06)
    assert half > 2 * 196 * np.sqrt(0.3 * 0.7 / 1000)
    again = compare(lake.root, catalog, "a", "b", benchmarks=["imagenet_c"])
    assert again.to_pylist() == rows


def test_what_corruption_adds_is_taken_from_the_clean_images_that_were_corrupted(lake, catalog):
    for name, wrong, wrong_clean in (("a", 1, 5), ("b", 3, 10)):
        many(lake, name, "imagenet_c/fog", 20, np.full(20, wrong), 5)
        labels = [i % 1000 for i in range(60)]
        logits = made_logits(labels, 0, 50.0)
        for i in range(wrong_clean):
            # Of these only the first 20 were corrupted.
            logits[15 + i, labels[15 + i]] -= 100
        val = lake.dataset("imagenet_1k/val", 60, n_shards=1)
        lake.run(lake.model(name, weights=name), val, rows_of(labels, logits, source=val_name))
    metrics = {
        row["model"]: row["value"]
        for row in compute_metrics(lake.root, catalog).to_pylist()
        if (row["metric"], row["condition"]) == ("relative_ce_alexnet_pct", "fog")
    }
    (row,) = (
        row
        for row in compare(lake.root, catalog, "a", "b", benchmarks=["imagenet_c"]).to_pylist()
        if row["metric"] == "relative_ce_alexnet_pct"
    )
    assert row["value_a"] == pytest.approx(metrics["a"])
    assert row["value_b"] == pytest.approx(metrics["b"])
    # Images lost are those under fog; clean ones are no gain of it.
    assert (row["n_sources"], row["lost"], row["gained"]) == (20, 40, 0)


def test_what_else_differs_than_the_models_is_in_every_row(lake, catalog):
    labels = [1, 2, 3, 4]
    for name, torch in (("a", "2.5"), ("b", "2.6")):
        for dataset, version in (("imagenet_sketch/clean", torch), ("imagenet_a/clean", "2.5")):
            rows = rows_of(labels, made_logits(labels, 0))
            entry = lake.model(name, weights=name)
            lake.run(entry, lake.dataset(dataset, 4), rows, versions={"torch": version})
    told = {
        row["benchmark"]: row["environment_changes"]
        for row in compare(lake.root, catalog, "a", "b").to_pylist()
    }
    assert told == {"imagenet_sketch": ["torch 2.5 to 2.6"], "imagenet_a": []}


def test_only_runs_on_the_same_version_of_a_dataset_meet(lake, catalog):
    labels = [1, 2, 3, 4]
    rows = rows_of(labels, made_logits(labels, 0, 50.0))
    old = lake.dataset("imagenet_sketch/clean", 4, version="v1")
    for name in ("a", "b"):
        lake.run(lake.model(name, weights=name), old, rows)
    lake.run(
        lake.model("c", weights="c"), lake.dataset("imagenet_sketch/clean", 4, version="v2"), rows
    )
    stale = compare(lake.root, catalog, "a", "b").to_pylist()
    assert {row["stale"] for row in stale} == {True}
    assert compare(lake.root, catalog, "a", "c").num_rows == 0
    assert "different versions" in incomparable(lake.root, "a", "c")["imagenet_sketch/clean"]


def test_names_that_do_not_exist_are_refused(full_lake, catalog):
    with pytest.raises(ShiftlakeError, match="resnet50"):
        compare(full_lake.root, catalog, "resnet5", B)
    with pytest.raises(ShiftlakeError, match="twice"):
        compare(full_lake.root, catalog, A, A)
    with pytest.raises(ShiftlakeError, match="imagenet_a"):
        compare(full_lake.root, catalog, A, B, benchmarks=["imagenet_aa"])
