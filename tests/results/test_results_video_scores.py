"""pm-k of mined and reviewed frame sets, as rows of the table of metrics and live in SQL."""

from __future__ import annotations

import io

import numpy as np
import pytest
from made_lake import made_logits, rows_of, video_rows
from made_video import answers, frame, mined, reviewed
from rich.console import Console

from ops.errors import ShiftlakeError
from ops.metrics import clopper_pearson
from ops.results import compare, compute_metrics, connect, leaderboard
from ops.results.metrics_file import read_metrics
from ops.results.papers import table
from ops.video.cataloguing import catalogued

DOG, CAT, COW = 8, 9, 7


def _metrics(lake, catalog, benchmark="frame_sets"):
    rows = compute_metrics(lake.root, catalog).to_pylist()
    return {(r["metric"], r["variant"]): r for r in rows if r["benchmark"] == benchmark}


def _counts(found, *name):
    return found[name]["k"], found[name]["n"]


@pytest.fixture
def small(lake):
    """Four sets of three videos, two of them of one; a model that fails on some."""
    sets = {
        # Two sets of video a: the second has a neighbour that is wrong at +4 and an odd one.
        ("a", 20): {0: DOG, -10: DOG, 10: CAT},
        ("a", 90): {0: DOG, 2: DOG, 4: CAT, -4: CAT},
        ("b", 50): {0: CAT, -3: DOG, 5: DOG},
        ("c", 5): {0: DOG},
    }
    coded = {0: "P", 10: "B", -10: "P", 4: "B", -4: "P", 2: "I", -3: "P", 5: "P"}
    frames, preds = [], []
    for (clip, anchor), around in sets.items():
        fps = {"a": 25.0, "b": 30.0, "c": 60.0}[clip]
        for offset, pred in around.items():
            frames.append(frame(clip, anchor, offset, [DOG], pict_type=coded[offset], fps=fps))
            preds.append(pred)
    manifest = mined(lake, "zoo", frames)
    lake.run(lake.model("m"), manifest, answers(frames, preds))
    return lake, frames, preds


def test_every_reading_of_a_small_set_by_hand(small, catalog):
    lake, _, _ = small
    found = _metrics(lake, catalog)
    # Right alone: a/20, a/90, c/5. a/90 flips at 4, a/20 at 10.
    curve = [_counts(found, f"pm{k}", "with anchor") for k in range(11)]
    assert curve == [(3, 4)] * 4 + [(2, 4)] * 6 + [(1, 4)]
    # b/50 is wrong alone and right around: without its anchor it counts from k = 3 on.
    outside = [found[f"pm{k}", "without anchor"]["k"] for k in range(1, 11)]
    assert outside == [3, 3, 4, 3, 3, 3, 3, 3, 3, 2]
    assert _counts(found, "pm_drop", "pm0 - pm10") == (2, 4)
    assert found["pm_drop", "pm0 - pm10, without anchor"]["value"] == (3 - 2) / 4
    assert _counts(found, "pm_flip_rate", "drop / pm0, k = 10") == (2, 3)
    lo, hi = clopper_pearson(2, 3)
    row = found["pm_flip_rate", "drop / pm0, k = 10"]
    assert (row["ci_lo"], row["ci_hi"], row["ci_method"]) == (lo, hi, "Clopper-Pearson")
    mean = found["pm_mean_neighbour", "within 10"]["value"]
    assert mean == pytest.approx((1 / 2 + 1 / 3 + 1 + 1) / 4)
    # Table 5: the set a/90 loses its I-frame, both its wrong ones by different types.
    assert _counts(found, "pm10", "with anchor; without I-frames") == (1, 4)
    assert _counts(found, "pm10", "with anchor; without B-frames") == (2, 4)
    assert ("pm10", "with anchor; without P-frames") not in found  # no anchor is left
    # At half the rate the odd offsets are gone, at a fifth those at 10 and 5 stay.
    assert _counts(found, "pm10", "with anchor; every 2nd frame") == (1, 4)
    assert _counts(found, "pm10", "with anchor; every 5th frame") == (2, 4)
    # At 25 a second the tenth frame is 0.4 s away.
    assert _counts(found, "pm10", "with anchor; within 1/3 s") == (2, 4)
    assert _counts(found, "pm0", "with anchor; 24 to 25 fps") == (2, 2)
    assert _counts(found, "pm10", "with anchor; 29 to 30 fps") == (0, 1)
    assert ("pm0", "with anchor; up to 20 fps") not in found


def test_a_score_is_named_after_the_k_that_was_mined(lake, catalog):
    # Three frames to either side; the second set has one neighbour alone.
    around = {("a", 20): {-3: DOG, -1: DOG, 0: DOG, 2: DOG, 3: CAT}, ("b", 9): {0: DOG, 1: DOG}}
    frames = [frame(*of, offset, [DOG]) for of, preds in around.items() for offset in preds]
    preds = [pred for own in around.values() for pred in own.values()]
    lake.run(lake.model("m"), mined(lake, "zoo", frames, k=3), answers(frames, preds))
    lake.run(lake.model("n", weights="n"), mined(lake, "zoo", frames, k=3), answers(frames, preds))
    reviewed(lake, catalog, "zoo", dissimilar=("a/000020/000023",))
    found = _metrics(lake, catalog)
    assert [_counts(found, f"pm{k}", "with anchor")[0] for k in range(4)] == [2, 2, 2, 1]
    assert _counts(found, "pm_drop", "pm0 - pm3") == (1, 2)
    assert _counts(found, "pm_flip_rate", "drop / pm0, k = 3") == (1, 2)
    assert ("pm_mean_neighbour", "within 3") in found
    assert {metric for metric, _ in found if metric[2:].isdigit()} == {f"pm{k}" for k in range(4)}
    # What is left of a review reaches as far as it was mined, even where fewer frames stand.
    assert _counts(_metrics(lake, catalog, "reviewed_frame_sets"), "pm3", "with anchor") == (2, 2)
    with connect(lake.root, catalog=catalog) as con:
        rows = con.execute("SELECT model, benchmark, metric FROM leaderboard ORDER BY ALL")
        headlines = [(m, b, "pm3") for m in "mn" for b in ("frame_sets", "reviewed_frame_sets")]
        assert rows.fetchall() == headlines
        widest = con.execute("SELECT DISTINCT metric FROM pmk WHERE widest AND metric <> 'pm0'")
        assert widest.fetchall() == [("pm3",)]
        asked = con.execute("SELECT DISTINCT frames_around FROM pmk_at(10)").fetchall()
        assert asked == [(3,)]
        tau = con.execute("SELECT DISTINCT metric FROM relative_robustness('m') ORDER BY ALL")
        assert tau.fetchall() == [("pm0",), ("pm3",)]
    pairs = compare(lake.root, catalogued(lake.root, catalog), "m", "n").to_pylist()
    assert {(row["benchmark"], row["metric"]) for row in pairs if row["headline"]} == {
        ("frame_sets", "pm3"), ("reviewed_frame_sets", "pm3"),
    }  # fmt: skip


def test_errors_by_offset_are_shares_of_what_is_there(small, catalog):
    lake, _, _ = small
    found = _metrics(lake, catalog)
    assert _counts(found, "pm_offset_error", "+10, anchor right") == (1, 1)
    assert _counts(found, "pm_offset_error", "-10, any anchor") == (0, 1)
    assert _counts(found, "pm_offset_error", "0, any anchor") == (1, 4)
    assert _counts(found, "pm_offset_error", "-3, any anchor") == (0, 1)
    # The anchor of b/50 is wrong, and nobody has a frame at +7.
    assert ("pm_offset_error", "-3, anchor right") not in found
    assert ("pm_offset_error", "+7, any anchor") not in found
    with connect(lake.root) as con:
        rows = con.execute(
            "SELECT frame_offset, k, n FROM pmk_offsets "
            "WHERE given = 'any anchor' AND subset = 'all frames' ORDER BY frame_offset"
        ).fetchall()
    assert rows == [
        *[(-10, 0, 1), (-4, 1, 1), (-3, 0, 1), (0, 1, 4)],
        *[(2, 0, 1), (4, 1, 1), (5, 0, 1), (10, 1, 1)],
    ]


def test_anchors_of_one_video_are_drawn_together(lake, catalog):
    # Eighty videos of four anchors each, all four right or all four wrong.
    frames = [frame(f"v{i:02}", 10 * j, 0, [DOG]) for i in range(80) for j in range(4)]
    preds = [DOG if i % 2 else CAT for i in range(80) for _ in range(4)]
    lake.run(lake.model("m"), mined(lake, "zoo", frames), answers(frames, preds))
    found = _metrics(lake, catalog)
    exact, drawn = found["pm0", "with anchor"], found["pm0", "with anchor; by video"]
    assert (exact["n"], drawn["n"], drawn["value"]) == (320, 80, 0.5)
    assert drawn["ci_method"] == "bootstrap over videos, 10,000 resamples"
    width = {"exact": exact["ci_hi"] - exact["ci_lo"], "drawn": drawn["ci_hi"] - drawn["ci_lo"]}
    assert width["drawn"] > 1.7 * width["exact"]


def test_a_segment_of_youtube_is_of_its_video(lake, catalog):
    manifest = lake.dataset("ytbb_robust/clean", label_space="ytbb24")
    rows = video_rows([(f"v_{i // 2}_{1000 * i}", 0, i % 3 > 0) for i in range(60)])
    lake.run(lake.model("m"), manifest, rows)
    found = _metrics(lake, catalog, "ytbb_robust")
    assert found["pm0", "with anchor; by video"]["n"] == 30
    with connect(lake.root) as con:
        assert con.execute("SELECT count(DISTINCT video) FROM pmk_sets").fetchone() == (30,)


def test_a_missing_prediction_is_an_error_and_no_wrong_answer(small, catalog):
    lake, frames, preds = small
    manifest = mined(lake, "other", frames)
    lake.run(lake.model("m"), manifest, answers(frames, preds)[:-1], expected=len(frames))
    with pytest.raises(ShiftlakeError, match="m on frame_sets/other") as refused:
        compute_metrics(lake.root, catalog)
    assert "11 frames" in str(refused.value)
    with connect(lake.root) as con:
        rows = con.execute("SELECT condition, pmk_right, missing FROM pmk_at(10) ORDER BY ALL")
        assert rows.fetchall() == [("other", None, 1), ("zoo", 1, 0)]


def test_an_unreadable_frame_is_wrong_and_worse_than_any_other(lake, catalog):
    frames = [frame("a", 20, offset, [DOG]) for offset in (0, -2, 3)]
    lake.run(lake.model("m"), mined(lake, "zoo", frames), answers(frames, [DOG, 29, None]))
    assert _counts(_metrics(lake, catalog), "pm10", "with anchor") == (0, 1)
    with connect(lake.root) as con:
        rows = con.execute("SELECT first_flip, flip_key, worst_offset, worst_pred FROM pmk_sets")
        assert rows.fetchall() == [(2, "a/000020/000018", 3, None)]


@pytest.fixture
def judged(small, catalog):
    """The small set after a review: a/20 refused, a frame of a/90 apart, b/50 a cat as well."""
    lake, frames, preds = small
    sealed = reviewed(
        lake,
        catalog,
        "zoo",
        bad=("a/000020",),
        dissimilar=("a/000090/000086",),
        labels={"b/000050": (CAT,)},
    )
    return lake, frames, preds, sealed


def test_a_review_is_scored_from_what_was_predicted_before_it(judged, catalog):
    lake, _, _, sealed = judged
    found = _metrics(lake, catalog, "reviewed_frame_sets")
    # a/90 still flips at +4; b/50 is right under the label that was added, and so all around it.
    assert _counts(found, "pm0", "with anchor") == (3, 3)
    assert _counts(found, "pm10", "with anchor") == (2, 3)
    assert found["pm0", "with anchor"]["dataset_version"] == sealed.version
    assert found["pm0", "with anchor"]["condition"] == "zoo"
    # What the review changed: labels of anchors, then dissimilar frames.
    assert _counts(found, "pm0", "with anchor; all mined") == (3, 4)
    assert _counts(found, "pm10", "with anchor; all mined") == (1, 4)
    assert _counts(found, "pm10", "with anchor; all pairs") == (2, 3)
    assert _counts(found, "pm_offset_error", "-4, anchor right; all pairs") == (1, 1)
    assert ("pm_offset_error", "-4, anchor right") not in found
    # Mined frames keep their own scores.
    assert _counts(_metrics(lake, catalog), "pm0", "with anchor") == (3, 4)


def test_a_review_of_an_older_mining_is_not_scored(judged, catalog):
    lake, frames, preds, _ = judged
    manifest = mined(lake, "zoo", frames, version="v2")
    lake.run(lake.model("m"), manifest, answers(frames, preds))
    assert _metrics(lake, catalog, "reviewed_frame_sets") == {}
    with connect(lake.root) as con:
        assert con.execute("SELECT DISTINCT benchmark FROM pmk_sets").fetchall() == [
            ("frame_sets",)
        ]


def test_sql_agrees_with_the_table_of_metrics(judged, catalog):
    lake, _, _, _ = judged
    for seed in range(3):
        rng = np.random.default_rng(seed)
        frames = judged[1]
        preds = [None if p < 0.05 else int(p * 30) for p in rng.random(len(frames))]
        manifest = mined(lake, "zoo", frames)
        lake.run(lake.model(f"r{seed}", weights=str(seed)), manifest, answers(frames, preds))
    stored = compute_metrics(lake.root, catalog)
    with connect(lake.root) as con:
        for k in range(11):
            live = con.execute(
                "SELECT model, benchmark, pmk_right, n FROM pmk_at($k) ORDER BY ALL", {"k": k}
            ).fetchall()
            sets = con.execute(
                """
                SELECT model, benchmark,
                    count_if(first_wrong IS NULL OR first_wrong > $k), count(*)
                FROM pmk_sets GROUP BY ALL ORDER BY ALL
                """,
                {"k": k},
            ).fetchall()
            rows = con.execute(
                """
                SELECT model, benchmark, k, n FROM pmk
                WHERE frames_around = $k AND variant = 'with anchor' ORDER BY ALL
                """,
                {"k": k},
            ).fetchall()
            assert live == sets == rows
            assert len(rows) == 8
        random = con.execute(
            """
            SELECT model, count_if(r) FROM (
                SELECT model, coalesce(
                    arg_min(correct, sha256(sample_key)) FILTER (WHERE frame_offset <> 0),
                    bool_or(correct)) AS r
                FROM pmk_frames WHERE benchmark = 'frame_sets' GROUP BY model, frame_set
            ) GROUP BY model ORDER BY model
            """
        ).fetchall()
    drawn = [
        (row["model"], row["k"])
        for row in stored.to_pylist()
        if (row["benchmark"], row["metric"]) == ("frame_sets", "pm_random_neighbour")
    ]
    assert random == sorted(drawn)


def test_the_tables_beside_the_frames_are_there_and_lazy(judged):
    lake, frames, _, _ = judged
    mined(lake, "other", frames[:3])
    with connect(lake.root) as con:
        count = "SELECT source, count(*) FROM {} GROUP BY source ORDER BY source"
        assert con.execute(count.format("frames")).fetchall() == [("other", 3), ("zoo", 11)]
        assert con.execute(count.format("frame_pairs")).fetchall() == [("other", 2), ("zoo", 7)]
        assert con.execute(count.format("videos")).fetchall() == [("other", 1), ("zoo", 3)]
        left = con.execute(count.format("frames_left_out")).fetchall()
        assert left == [("other", 1), ("zoo", 4)]
        kinds = con.execute("SELECT kind, count(*) FROM review_events GROUP BY ALL ORDER BY ALL")
        assert kinds.fetchall() == [("anchor", 4), ("joint", 1), ("pair", 5)]
        states = con.execute(
            "SELECT state, count(*) FROM reviewed_frames WHERE current GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        assert states == [("accepted", 7), ("rejected", 4)]


def test_a_changed_table_is_refused_and_the_others_are_not_read(judged):
    lake, frames, _, _ = judged
    manifest = mined(lake, "other", frames[:3])
    lake.root.write_bytes(f"video/other/mined/{manifest.version}/frames.parquet", b"PAR1")
    with connect(lake.root) as con:
        # A filter on the source leaves the files of others closed.
        zoo = con.execute("SELECT count(*) FROM frames WHERE source = 'zoo'").fetchone()
        assert zoo == (11,)
        assert con.execute("SELECT count(*) FROM frame_pairs").fetchone() == (9,)
        with pytest.raises(Exception, match="not the one that was sealed"):
            con.execute("SELECT count(DISTINCT sample_key) FROM frames").fetchone()


def test_a_source_that_is_damaged_is_named_and_costs_the_others_nothing(judged, catalog):
    lake, frames, preds, _ = judged
    val = lake.dataset("imagenet_1k/val", 2)
    lake.run(lake.model("m"), val, rows_of([1, 2], made_logits([1, 2], 0)))
    manifest = mined(lake, "other", frames)
    lake.run(lake.model("m"), manifest, answers(frames, preds))
    path = f"video/other/mined/{manifest.version}/frames.parquet"
    whole = lake.root.read_bytes(path)
    lake.root.write_bytes(path, b"PAR1")
    for _ in range(2):
        with pytest.raises(ShiftlakeError, match="m on frame_sets/other") as refused:
            compute_metrics(lake.root, catalog)
        assert "not the one that was sealed" in str(refused.value)
        found = read_metrics(lake.root).table.select(["benchmark", "condition"]).to_pylist()
        assert {(row["benchmark"], row["condition"]) for row in found} == {
            ("frame_sets", "zoo"),
            ("reviewed_frame_sets", "zoo"),
            ("imagenet_1k", "val"),
        }
    lake.root.write_bytes(path, whole)
    found = compute_metrics(lake.root, catalog)
    assert "other" in found["condition"].to_pylist()


def test_a_score_on_videos_of_its_fine_tuning_is_marked(judged, catalog):
    lake, frames, preds, _ = judged
    other = mined(lake, "other", frames)
    tuned = lake.model("tuned", weights="t", fine_tuned_on=("reviewed_frame_sets/zoo",))
    for manifest in (mined(lake, "zoo", frames), other):
        lake.run(tuned, manifest, answers(frames, preds))
    compute_metrics(lake.root, catalog)
    with connect(lake.root) as con:
        for view in ("metrics", "pmk", "pmk_offsets", "leaderboard"):
            seen = con.execute(
                f"SELECT DISTINCT model, benchmark, condition FROM {view} "
                "WHERE seen_in_training ORDER BY ALL"
            ).fetchall()
            # The mined frames and those that were accepted are of the same videos.
            assert seen == [("tuned", "frame_sets", "zoo"), ("tuned", "reviewed_frame_sets", "zoo")]
    console = Console(file=io.StringIO(), width=160)
    console.print(leaderboard(lake.root))
    lines = console.file.getvalue().splitlines()
    assert sum("tuned †" in line for line in lines) == 2
    assert sum("tuned" in line and "†" not in line for line in lines) == 1
    written = table(lake.root, catalog, "latex")
    assert r"\dag{}" in written
    assert "fine-tuned on videos of this very set" in table(lake.root, catalog, "markdown")


def test_two_models_are_compared_on_what_a_review_left(judged, catalog):
    lake, frames, preds, _ = judged
    # The second model is right wherever the first is, and at the neighbour of a/90 as well.
    better = [
        DOG if each["sample_key"] == "a/000090/000094" else pred
        for each, pred in zip(frames, preds, strict=True)
    ]
    lake.run(lake.model("n", weights="n"), mined(lake, "zoo", frames), answers(frames, better))
    compute_metrics(lake.root, catalog)
    rows = compare(lake.root, catalogued(lake.root, catalog), "m", "n").to_pylist()
    found = {(r["benchmark"], r["condition"], r["metric"]): r for r in rows if r["value_a"]}
    stored = _metrics(lake, catalog, "reviewed_frame_sets")
    assert stored["pm10", "with anchor"]["k"] == 3  # the rows of n, the second of the two
    pair = found["reviewed_frame_sets", "zoo", "pm10"]
    assert (pair["value_a"], pair["value_b"]) == (2 / 3, 3 / 3)
    assert (pair["lost"], pair["gained"], pair["n"]) == (0, 1, 3)
    pair = found["frame_sets", "zoo", "pm10"]
    assert (pair["value_a"], pair["value_b"], pair["n"]) == (1 / 4, 1 / 4, 4)


def test_an_accepted_frame_that_no_model_saw_is_an_error(judged, catalog):
    lake, frames, preds, sealed = judged
    rows = answers(frames, preds)
    fewer = [row for row in rows if row["sample_key"] != "b/000050/000055"]
    lake.run(lake.model("n", weights="n"), mined(lake, "zoo", frames), fewer)
    with pytest.raises(ShiftlakeError, match="b/000050/000055") as refused:
        compute_metrics(lake.root, catalog)
    assert f"reviewed_frame_sets/zoo {sealed.version}, n on" in str(refused.value)
