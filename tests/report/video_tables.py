"""Hand-made tables of video results, in a DuckDB of their own."""

from __future__ import annotations

import duckdb

from ops.metrics import clopper_pearson

SKILL = {"resnet50": 0.80, "vit_b_16": 0.86, "alexnet": 0.55}
OFFICIAL = (("imagenet_vid_robust", "clean", 1109), ("ytbb_robust", "clean", 2030))
MINED = (("frame_sets", "street_scenes", 214), ("reviewed_frame_sets", "street_scenes", 171))
ALL = (*OFFICIAL, *MINED)

_PMK = """model VARCHAR, benchmark VARCHAR, condition VARCHAR, frames_around INTEGER,
    metric VARCHAR, variant VARCHAR, reading VARCHAR, subset VARCHAR, widest BOOLEAN,
    value DOUBLE, k BIGINT, n BIGINT, ci_lo DOUBLE, ci_hi DOUBLE, ci_method VARCHAR,
    synthetic BOOLEAN, stale BOOLEAN, seen_in_training BOOLEAN, run_id VARCHAR,
    dataset_version VARCHAR"""
_OFFSETS = """model VARCHAR, benchmark VARCHAR, condition VARCHAR, frame_offset INTEGER,
    given VARCHAR, subset VARCHAR, value DOUBLE, k BIGINT, n BIGINT, ci_lo DOUBLE, ci_hi DOUBLE,
    seen_in_training BOOLEAN"""
_DATASETS = """dataset VARCHAR, benchmark VARCHAR, condition VARCHAR, version VARCHAR,
    joined_to VARCHAR, parameters VARCHAR"""
_REFERENCE = """source VARCHAR, revision VARCHAR, model VARCHAR, model_kind VARCHAR,
    image_size INTEGER, benchmark VARCHAR, condition VARCHAR, metric VARCHAR, variant VARCHAR,
    value DOUBLE"""


def made(sets=ALL, skill=None, published=30):
    """A connection with `metrics`, `pmk`, `pmk_offsets` and `reference_results`."""
    skill = SKILL if skill is None else skill
    connection = duckdb.connect()
    for name, columns in (
        ("pmk", _PMK),
        ("pmk_offsets", _OFFSETS),
        ("reference_results", _REFERENCE),
        ("datasets", _DATASETS),
    ):
        connection.execute(f"CREATE TABLE {name} ({columns})")
    for benchmark, condition, n in sets:
        for model, level in skill.items():
            add_model(connection, model, benchmark, condition, n, level)
    for benchmark, condition, _ in sets:
        if benchmark in ("imagenet_vid_robust", "ytbb_robust"):
            for i in range(published):
                x = 0.35 + 0.6 * i / published
                for metric, value in (("pm0", x), ("pm10", x - 0.17 + 0.1 * x + 0.01 * (i % 3))):
                    connection.execute(
                        "INSERT INTO reference_results VALUES "
                        "('testbed', 'abc', ?, 'standard', 224, ?, ?, ?, 'with anchor', ?)",
                        [f"published {i}", benchmark, condition, metric, value],
                    )
    connection.execute("CREATE VIEW metrics AS FROM pmk")
    return connection


def add_model(connection, model, benchmark, condition, n, level, reach=10, seen=False):
    """One model's pm-0 to pm-k, drop, flip rate and errors by offset."""
    far = f"pm{reach}"
    drop, share = f"pm0 - {far}", f"drop / pm0, k = {reach}"
    # What reviewers threw out were the frames that are hardest.
    slope = 0.012 if benchmark == "reviewed_frame_sets" else 0.016
    right = [round(n * level * (1 - slope * k)) for k in range(reach + 1)]
    rows = [(k, f"pm{k}", "with anchor", count, n) for k, count in enumerate(right)]
    rows.append((None, "pm_drop", drop, right[0] - right[reach], n))
    rows.append((None, "pm_flip_rate", share, right[0] - right[reach], right[0]))
    if benchmark == "reviewed_frame_sets":
        for subset, more in (("all pairs", 1.35), ("all mined", 1.5)):
            worst = round(right[0] - (right[0] - right[reach]) * more)
            for metric, reading, count, of in (
                ("pm0", "with anchor", right[0], n),
                (far, "with anchor", worst, n),
                ("pm_drop", drop, right[0] - worst, n),
                ("pm_flip_rate", share, right[0] - worst, right[0]),
            ):
                around = {"pm0": 0, far: reach}.get(metric)
                rows.append((around, metric, f"{reading}; {subset}", count, of))
    for k, metric, variant, count, of in rows:
        reading, _, subset = variant.partition("; ")
        lo, hi = clopper_pearson(count, of)
        connection.execute(
            "INSERT INTO pmk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'Clopper-Pearson', "
            "false, false, ?, 'r', 'v')",
            [model, benchmark, condition, k, metric, variant, reading, subset or "all frames",
             metric == far, count / of, count, of, float(lo), float(hi), seen],
        )  # fmt: skip
    subsets = {"all frames": 1.0}
    if benchmark == "reviewed_frame_sets":
        subsets["all pairs"] = 1.4
    for subset, more in subsets.items():
        for offset in range(-reach, reach + 1):
            there = right[0] - n * abs(offset) // 300
            wrong = round(there * (1.05 - level) * more * (abs(offset) / 10) ** 0.6 * 0.5)
            lo, hi = clopper_pearson(wrong, there)
            connection.execute(
                "INSERT INTO pmk_offsets VALUES (?, ?, ?, ?, 'anchor right', ?, ?, ?, ?, ?, ?, ?)",
                [model, benchmark, condition, offset, subset, wrong / there, wrong, there,
                 float(lo), float(hi), seen],
            )  # fmt: skip
