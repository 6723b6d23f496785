"""The published set and what is rendered here are measured alike and never together."""

import numpy as np
import pytest
from made_lake import RENDERER, made_logits, perturbed, rows_of, sequence_rows, val_name

from ops.metrics import clustered_bootstrap
from ops.metrics.corruption import alexnet_errors, corruptions_15
from ops.metrics.flips import PERTURBATIONS_10
from ops.results import compute_metrics, connect, leaderboard, status


def _metrics(lake, catalog):
    rows = compute_metrics(lake.root, catalog).to_pylist()
    return {(r["benchmark"], r["condition"], r["metric"], r["variant"]): r for r in rows}


def _cell(lake, name, wrong, **fields):
    """A run on 20 renderings of the same photographs, the first ones wrong."""
    rows = rows_of([1] * 20, made_logits([1] * 20, 0, 100.0), source=val_name)
    for row in rows[:wrong]:
        row |= {"correct": False, "pred": 2}
    lake.run(lake.model("m"), lake.dataset(name, 20, n_shards=1, **fields), rows)


def test_each_set_has_its_own_mce(lake, catalog):
    wrong = {"imagenet_c": 4, "imagenet_c_rendered": 6, "imagenet_c_on_the_fly": 8}
    for benchmark, count in wrong.items():
        for name in corruptions_15():
            for severity in range(1, 6):
                _cell(lake, f"{benchmark}/{name}/{severity}", count)
    for benchmark, count in {"mini_imagenet_c": 2, "mini_imagenet_c_rendered": 10}.items():
        for name in corruptions_15():
            _cell(lake, f"{benchmark}/{name}/5", count)
    _cell(lake, "imagenet_1k/val", 1)
    found = _metrics(lake, catalog)
    alexnet = alexnet_errors().mean
    inverse = np.mean([1 / alexnet[name] for name in corruptions_15()])
    for benchmark, count in wrong.items():
        row = found[benchmark, "all", "mce_alexnet_pct", "alexnet"]
        assert row["value"] == pytest.approx(100 * count / 20 * inverse)
        assert row["n"] == 20
        assert (benchmark, "all", "relative_mce_alexnet_pct", "alexnet") in found
    assert found["mini_imagenet_c", "all", "mean_err_15_pct", "severity 5"]["value"] == 10
    assert found["mini_imagenet_c_rendered", "all", "mean_err_15_pct", "severity 5"]["value"] == 50
    with connect(lake.root) as con:
        shown = con.execute("SELECT DISTINCT benchmark FROM leaderboard").fetchall()
    assert {name for (name,) in shown} == {
        *wrong,
        "mini_imagenet_c",
        "mini_imagenet_c_rendered",
        "imagenet_1k",
    }


def test_the_average_over_levels_counts_the_clean_images(lake, catalog):
    clean = {"renderer": RENDERER | {"source": "caltech_101/clean"}}
    for level, wrong in enumerate([4, 6, 8, 10, 12, 14], start=1):
        _cell(lake, f"distorted_caltech_101/gaussian_noise/{level}", wrong, **clean)
    _cell(lake, "distorted_caltech_101/gaussian_blur/1", 20, **clean)
    found = _metrics(lake, catalog)
    key = ("distorted_caltech_101", "gaussian_noise", "avg_top1_7", "clean + 6 levels")
    assert key not in found
    _cell(lake, "caltech_101/clean", 2)
    found = _metrics(lake, catalog)
    row = found[key]
    assert row["value"] == pytest.approx(1 - (2 + 4 + 6 + 8 + 10 + 12 + 14) / 20 / 7)
    assert row["n"] == 20
    # The photographs differ in how many of the seven they are right at.
    right = [sum(i >= count for count in (2, 4, 6, 8, 10, 12, 14)) / 7 for i in range(20)]
    _, lo, hi = clustered_bootstrap(np.array(right))
    assert [row["ci_lo"], row["ci_hi"]] == pytest.approx([lo, hi])
    assert row["ci_lo"] < row["value"] < row["ci_hi"]
    assert found["distorted_caltech_101", "gaussian_noise/3", "top1", "unmasked"]["value"] == 0.6
    assert ("distorted_caltech_101", "gaussian_blur", "avg_top1_7", "clean + 6 levels") not in found
    with connect(lake.root) as con:
        board = con.execute(
            "SELECT condition, round(value_pct, 6), better FROM leaderboard "
            "WHERE benchmark = 'distorted_caltech_101'"
        ).fetchall()
    assert board == [("gaussian_noise", pytest.approx(60), "higher")]


def test_sql_tells_the_published_set_from_a_rendered_one(lake, catalog):
    lake.dataset("imagenet_c/fog/3", 20)
    lake.dataset("imagenet_c_rendered/fog/3", 20, renderer=RENDERER)
    fly = RENDERER | {"form": "on_the_fly", "mode": "exact", "seed": 7}
    lake.dataset("imagenet_c_on_the_fly/fog/3", 20, renderer=fly)
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT dataset, renderer_form, renderer_mode, renderer_seed, renderer_version "
            "FROM datasets ORDER BY dataset"
        ).fetchall()
    assert found == [
        ("imagenet_c/fog/3", "published", None, None, None),
        ("imagenet_c_on_the_fly/fog/3", "on_the_fly", "exact", 7, "1"),
        ("imagenet_c_rendered/fog/3", "stored", "fast", 0, "1"),
    ]


def test_sql_tells_the_protocol_of_a_run(lake):
    _cell(lake, "imagenet_c/fog/3", 1, parameters={"cropped": 224})
    _cell(lake, "imagenet_1k/val", 1)
    rows = sequence_rows([[[1, 2, 3, 4, 5]] * 31])
    tilt = lake.dataset("imagenet_p/tilt", 1, n_shards=1, parameters=perturbed("tilt"))
    lake.run(lake.model("m"), tilt, rows)
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT dataset, protocol, frames, frame_reference, stale FROM runs ORDER BY dataset"
        ).fetchall()
    assert found == [
        ("imagenet_1k/val", "resize 256, crop 224", None, None, False),
        ("imagenet_c/fog/3", "stored 224", None, None, False),
        ("imagenet_p/tilt", "stored 224", 31, "previous", False),
    ]


def test_the_compact_status_folds_what_is_not_built(lake, catalog):
    lake.model("m")
    rows = status(lake.root, catalog, compact=True)
    names = [row.dataset for row in rows]
    assert names.count("imagenet_c") == 1
    assert not [name for name in names if name.startswith("imagenet_c/")]
    row = rows[names.index("imagenet_c")]
    assert (row.state, row.reason) == ("not built", "none of its 95 datasets has a manifest")
    lake.dataset("imagenet_c/fog/3", 20)
    names = [row.dataset for row in status(lake.root, catalog, compact=True)]
    assert len([name for name in names if name.startswith("imagenet_c/")]) == 19


def test_the_leaderboard_in_the_terminal_names_every_set(lake, catalog):
    tops = [[[1, 2, 3, 4, 5], [2, 1, 3, 4, 5]]] * 2
    for benchmark in ("imagenet_p_rendered", "imagenet_p_on_the_fly"):
        for name in PERTURBATIONS_10:
            manifest = lake.dataset(
                f"{benchmark}/{name}", 2, n_shards=1, parameters=perturbed(name, 2)
            )
            lake.run(lake.model("m"), manifest, sequence_rows(tops))
    compute_metrics(lake.root, catalog)
    table = leaderboard(lake.root)
    assert list(table.columns[1].cells) == ["imagenet_p_on_the_fly", "imagenet_p_rendered"]
    assert list(table.columns[3].cells) == ["100.00", "100.00"]
