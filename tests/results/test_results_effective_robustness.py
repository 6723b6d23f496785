"""The live fit in SQL: the line of `ops.metrics`, who it is fitted through, and who lies where."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ops.metrics.effective_robustness import effective_robustness, fit_line
from ops.results import connect
from ops.results.metrics_file import METRICS, Measured, write_metrics
from ops.results.reference import REFERENCE, write_reference

VAL = ("imagenet_1k", "val", "top1", "unmasked")
SKETCH = ("imagenet_sketch", "clean", "top1", "unmasked")


def reference(model, quantity, value, kind="standard", source="testbed", **fields):
    benchmark, condition, metric, variant = quantity
    row = dict.fromkeys(REFERENCE.names) | {
        "source": source,
        "revision": "r1",
        "model": model,
        "setting": f"{benchmark}/{condition} {variant}",
        "benchmark": benchmark,
        "condition": condition,
        "metric": metric,
        "variant": variant,
        "value": float(value),
        "model_kind": kind,
        "synthetic": False,
    }
    return row | fields


def store(lake, rows):
    write_reference(lake.root, pa.Table.from_pylist(rows, schema=REFERENCE))


def own(lake, *cells):
    """Store a table of metrics with (model, quantity, value, lo, hi)."""
    rows = []
    for model, (benchmark, condition, metric, variant), value, lo, hi in cells:
        row = dict.fromkeys(METRICS.names) | {
            "run_id": "0" * 16,
            "model": model,
            "benchmark": benchmark,
            "condition": condition,
            "metric": metric,
            "variant": variant,
            "value": value,
            "n": 50000,
            "ci_lo": lo,
            "ci_hi": hi,
            "ci_method": "Clopper-Pearson",
            "synthetic": False,
            "run_ids": ["0" * 16],
            "inputs": "x",
        }
        rows.append(row)
    write_metrics(lake.root, Measured(pa.Table.from_pylist(rows, schema=METRICS)))


def pool(n=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.56, 0.9, n)
    y = 1 / (1 + np.exp(-(1.07 * np.log(x / (1 - x)) - 2.37 + rng.normal(0, 0.1, n))))
    return x, y


def of_pool(x, y, **fields):
    rows = [reference(f"net{i:02}", VAL, v, **fields) for i, v in enumerate(x)]
    return rows + [reference(f"net{i:02}", SKETCH, v, **fields) for i, v in enumerate(y)]


def read(lake, sql):
    with connect(lake.root) as connection:
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_the_line_is_that_of_the_metric(lake):
    x, y = pool()
    store(lake, of_pool(x, y))
    own(lake, ("mine", VAL, 0.7, 0.69, 0.71), ("mine", SKETCH, 0.3, 0.29, 0.32))
    rows = read(lake, "SELECT * FROM effective_robustness ORDER BY origin, model")
    fit = fit_line(x, y)
    assert len(rows) == 31
    for row in rows:
        assert (row["slope"], row["intercept"]) == pytest.approx((fit.slope, fit.intercept))
        assert (row["n_pool"], row["pool"], row["pool_revision"]) == (30, "testbed", "r1")
        expected = effective_robustness(fit, row["accuracy_id"], row["accuracy"])
        assert row["effective_robustness"] == pytest.approx(float(expected))
    mine = rows[0]
    assert (mine["origin"], mine["model"], mine["in_pool"]) == ("lake", "mine", False)
    assert mine["accuracy_id"] == 0.7
    for end in ("lo", "hi"):
        own_end = 100 * (mine[f"ci_{end}"] - mine["expected"])
        assert mine[f"effective_robustness_{end}"] == pytest.approx(own_end)
    assert mine["effective_robustness_lo"] < mine["effective_robustness"]
    assert {row["origin"] for row in rows[1:]} == {"testbed"}
    assert all(row["in_pool"] for row in rows[1:])


def test_only_standard_models_of_55_percent_make_the_line(lake):
    x, y = pool()
    rows = of_pool(x, y)
    for i, (kind, clean) in enumerate(
        [("more data", 0.9), ("robustness intervention", 0.8), (None, 0.7), ("standard", 0.549)]
    ):
        rows += [
            reference(f"other{i}", VAL, clean, kind),
            reference(f"other{i}", SKETCH, 0.9, kind),
        ]
    rows += [reference("zero", VAL, 0.76), reference("zero", SKETCH, 0.0)]
    store(lake, rows)
    found = read(lake, "SELECT * FROM effective_robustness")
    assert len(found) == 35, "they have a place beside the line all the same"
    fit = fit_line(x, y)
    assert found[0]["slope"] == pytest.approx(fit.slope)
    assert found[0]["n_pool"] == 30
    assert {r["model"] for r in found if not r["in_pool"]} == {
        "other0", "other1", "other2", "other3", "zero",
    }  # fmt: skip
    (zero,) = [row for row in found if row["model"] == "zero"]
    assert zero["effective_robustness"] == pytest.approx(-100 * zero["expected"])


def test_fewer_than_ten_models_give_no_rows(lake):
    own(lake, ("mine", VAL, 0.7, 0.69, 0.71), ("mine", SKETCH, 0.3, 0.29, 0.32))
    assert read(lake, "SELECT * FROM effective_robustness") == []
    x, y = pool(9)
    store(lake, of_pool(x, y))
    assert read(lake, "SELECT * FROM effective_robustness") == []
    x, y = pool(10)
    store(lake, of_pool(x, y))
    assert len(read(lake, "SELECT * FROM effective_robustness")) == 11


def test_only_models_of_the_same_revision_are_in_the_pool(lake):
    x, y = pool()
    store(lake, of_pool(x, y) + of_pool(x[:10], y[:10], revision="r2"))
    rows = read(lake, "SELECT * FROM effective_robustness WHERE in_pool")
    assert sorted((row["pool_revision"], row["n_pool"]) for row in rows) == (
        [("r1", 30)] * 30 + [("r2", 10)] * 10
    )


def test_a_model_at_two_sizes_is_compared_with_itself(lake):
    x, y = pool()
    rows = of_pool(x, y)
    for size, clean, sketch in ((224, 0.75, 0.25), (288, 0.8, 0.3)):
        rows += [
            reference("net", VAL, clean, None, "timm", image_size=size),
            reference("net", SKETCH, sketch, None, "timm", image_size=size),
        ]
    store(lake, rows)
    found = read(lake, "SELECT * FROM effective_robustness WHERE origin = 'timm'")
    assert {(r["image_size"], r["accuracy_id"], r["accuracy"]) for r in found} == {
        (224, 0.75, 0.25),
        (288, 0.8, 0.3),
    }
    assert {row["pool"] for row in found} == {"testbed"}


def test_made_up_models_are_told_apart(lake):
    store(lake, of_pool(*pool(), synthetic=True))
    own(lake, ("mine", VAL, 0.7, 0.69, 0.71), ("mine", SKETCH, 0.3, 0.29, 0.32))
    rows = read(lake, "SELECT * FROM effective_robustness")
    assert len(rows) == 31
    assert all(row["synthetic"] for row in rows)


PAIRS = {
    **{("imagenetv2", c, "top1", "unmasked"): VAL for c in ("matched_frequency", "top_images")},
    ("imagenetv2", "threshold07", "top1", "unmasked"): VAL,
    SKETCH: VAL,
    ("imagenet_a", "clean", "top1", "masked"): (*VAL[:3], "clean_200/imagenet_a"),
    ("imagenet_r", "clean", "top1", "masked"): (*VAL[:3], "clean_200/imagenet_r"),
    ("imagenet_vid_robust", "clean", "pm0", "with anchor"): (
        *VAL[:3],
        "clean_30/imagenet_vid_robust",
    ),
    ("imagenet_vid_robust", "clean", "pm10", "with anchor"): (
        *("imagenet_vid_robust", "clean"),
        *("pm0", "with anchor"),
    ),
    ("ytbb_robust", "clean", "pm0", "with anchor"): (*VAL[:3], "clean_24/ytbb_robust"),
    ("ytbb_robust", "clean", "pm10", "with anchor"): (
        *("ytbb_robust", "clean"),
        *("pm0", "with anchor"),
    ),
}


def test_pairs(lake):
    """Every shift beside its own accuracy without shift, each quantity with values of its own."""
    quantities = sorted({*PAIRS, *PAIRS.values()})
    values = {quantity: pool(12, seed)[0] for seed, quantity in enumerate(quantities)}
    rows = [
        reference(f"net{i:02}", quantity, value)
        for quantity, own_values in values.items()
        for i, value in enumerate(own_values)
    ]
    store(lake, rows)
    found = read(
        lake,
        "SELECT DISTINCT benchmark, condition, metric, variant, "
        "id_benchmark, id_condition, id_metric, id_variant, slope FROM effective_robustness",
    )
    lines = {tuple(row.values())[:4]: (tuple(row.values())[4:8], row["slope"]) for row in found}
    assert {quantity: line[0] for quantity, line in lines.items()} == PAIRS
    for quantity, (without, slope) in lines.items():
        assert slope == pytest.approx(fit_line(values[without], values[quantity]).slope)


def test_relative_robustness_is_the_difference_under_shift(lake):
    own(
        lake,
        ("base", VAL, 0.76, 0.75, 0.77),
        ("base", SKETCH, 0.25, 0.24, 0.26),
        ("better", VAL, 0.75, 0.74, 0.76),
        ("better", SKETCH, 0.31, 0.30, 0.32),
    )
    (row,) = read(lake, "FROM relative_robustness('base')")
    assert (row["model"], row["benchmark"]) == ("better", "imagenet_sketch")
    assert row["relative_robustness"] == pytest.approx(6.0)
