"""The leaderboard: one headline a benchmark, its variant named, synthetic images owned up to."""

import io

from made_lake import made_logits, rows_of
from rich.console import Console

from ops.results import compute_metrics, connect, leaderboard


def _shown(root):
    console = Console(file=io.StringIO(), width=160)
    console.print(leaderboard(root))
    return console.file.getvalue()


def test_one_row_a_model_and_condition_with_the_headline_of_its_benchmark(full_lake):
    with connect(full_lake.root) as con:
        rows = con.execute("SELECT model, benchmark, condition FROM leaderboard").fetchall()
        headline = dict(
            con.execute(
                "SELECT benchmark, metric || ' ' || variant FROM leaderboard "
                "WHERE model = 'vit_b_16'"
            ).fetchall()
        )
    assert len(rows) == len(set(rows))
    assert headline["imagenet_a"] == "top1 masked"
    assert headline["imagenet_o"] == "aupr max softmax"
    assert headline["imagenet_c"] == "mce_alexnet_pct alexnet"
    assert headline["imagenet_real"] == "top1 real"
    assert headline["imagenet_vid_robust"] == "pm10 with anchor"


def test_values_are_percent_whatever_the_unit_of_the_metric(full_lake):
    with connect(full_lake.root) as con:
        found = con.execute(
            """
            SELECT l.value_pct / m.value, l.ci_hi_pct / m.ci_hi, m.metric LIKE '%!_pct' ESCAPE '!'
            FROM leaderboard AS l
            JOIN metrics AS m USING (model, benchmark, condition, metric, variant)
            WHERE m.value > 0
            """
        ).fetchall()
    assert {round(value, 6) for value, _, pct in found if pct} == {1}
    assert {round(value, 6) for value, _, pct in found if not pct} == {100}


def test_the_terminal_shows_interval_chance_and_synthetic_images(full_lake):
    text = _shown(full_lake.root)
    with connect(full_lake.root) as con:
        (inside,) = con.execute(
            "SELECT n FROM accuracy WHERE model = 'vit_b_16' AND variant = 'clean_200/imagenet_o'"
        ).fetchone()
        (lo, hi) = con.execute(
            "SELECT ci_lo_pct, ci_hi_pct FROM leaderboard "
            "WHERE model = 'vit_b_16' AND benchmark = 'imagenet_a'"
        ).fetchone()
    assert f"chance {100 * 50 / (50 + inside):.2f}" in text
    assert f"[{lo:.2f}, {hi:.2f}]" in text
    assert "resnet50 *" in text  # ImageNet-C is generated in this lake
    assert "generated images" in text
    assert "stale" not in text


def test_the_terminal_says_what_is_stale_or_not_measured(lake, catalog):
    assert "nothing has been measured yet" in _shown(lake.root)
    rows = rows_of([1, 2], made_logits([1, 2], 0))
    lake.run(lake.model("m"), lake.dataset("imagenet_sketch/clean"), rows)
    compute_metrics(lake.root, catalog)
    entry = lake.model("m", weights="other")
    assert "m !" in _shown(lake.root)
    lake.run(entry, lake.dataset("imagenet_sketch/clean"), rows)
    assert "1 runs are newer than the metrics" in _shown(lake.root)
