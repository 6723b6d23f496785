"""Video in the report: the numbers, the figures, and frames that flip a model."""

from __future__ import annotations

import base64
import io
import json
import re
from collections import defaultdict
from xml.etree import ElementTree

import numpy as np
import pytest
import video_lake
from PIL import Image
from video_tables import ALL, MINED, OFFICIAL, add_model, made

from ops.catalog import load
from ops.metrics import clopper_pearson
from ops.report import (
    as_svg,
    figure_offsets,
    figure_pm_k,
    figure_pm_k_scatter,
    flicker_gallery_strip,
    write_report,
)
from ops.report.cast import cast_of
from ops.report.figures.video_panels import MOST, across, ordered
from ops.report.flicker import flips_of, with_flips
from ops.report.marks import explained
from ops.report.names import frame_set_name
from ops.report.pictures import read_pictures
from ops.report.sections.video_detection import detection_table
from ops.report.sections.video_scores import scores_table
from ops.results import connect
from ops.storage import open_root, paths
from ops.video.cataloguing import catalogued

FIGURES = (figure_pm_k, figure_pm_k_scatter, figure_offsets)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    root = open_root(tmp_path_factory.mktemp("video") / "video-lake")
    video_lake.fill_video(root)
    return root


@pytest.fixture(scope="module")
def connection(lake):
    with connect(lake) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(lake):
    return lake.read_bytes(write_report(lake, catalogued(lake, load()))).decode()


def table(page, name):
    found = re.search(
        rf'id="{name}">.*?<script type="application/json">(.*?)</script>', page, re.DOTALL
    )
    return json.loads(found[1])["rows"] if found else None


def titles(figure):
    return re.findall(r"<title>([^<]*)</title>", as_svg(figure))


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("sets", [ALL, MINED[:1]])
def test_every_set_of_frames_has_a_panel_with_its_name(figure, sets):
    connection = made(sets)
    text = as_svg(figure(connection))
    assert len(sets) > 1 or text == as_svg(figure(connection))
    for benchmark, condition, _ in sets:
        assert f">{frame_set_name(benchmark, condition)}<" in text
    named = {e.get("data-model") for e in ElementTree.fromstring(text).iter()} - {None}
    assert named == {"resnet50", "vit_b_16", "alexnet"}


@pytest.mark.parametrize("figure", FIGURES)
def test_nothing_is_drawn_of_nothing(figure):
    assert figure(made((), {})) is None


def test_panels_have_one_order_and_an_end():
    many = [(b, f"s{i:02}") for i in range(20) for b in ("reviewed_frame_sets", "frame_sets")]
    found = ordered([*many, ("ytbb_robust", "clean"), ("imagenet_vid_robust", "clean")])
    assert [benchmark for benchmark, _ in found[:4]] == [
        "imagenet_vid_robust", "ytbb_robust", "frame_sets", "reviewed_frame_sets",
    ]  # fmt: skip
    assert len(found) == MOST
    assert [across(n) for n in range(1, 8)] == [1, 2, 3, 2, 3, 3, 3]
    sets = [(b, f"source_{i}", 60) for i in range(7) for b in ("frame_sets", "reviewed_frame_sets")]
    figure = figure_pm_k_scatter(made(sets, {"resnet50": 0.8}))
    assert len(figure.axes) == MOST


def test_the_scatter_says_what_is_lost_and_shows_the_published_models_where_there_are_some():
    said = titles(figure_pm_k_scatter(made(OFFICIAL)))
    # 887 of 1,109 anchors, and 745 with all around them.
    assert "resnet50: 79.98 % to 67.18 %, 12.80 points lost" in said
    assert sum(line.startswith("published ") for line in said) == 60
    assert not any("published" in line for line in titles(figure_pm_k_scatter(made(MINED))))


def test_offsets_show_the_same_anchors_before_the_review_and_only_where_there_was_one():
    said = titles(figure_offsets(made(MINED)))
    assert sum("before the review" in line for line in said) == 3
    assert not any("before the review" in line for line in titles(figure_offsets(made(OFFICIAL))))


def test_the_figures_of_a_lake_are_drawn_from_its_views(connection):
    for figure in FIGURES:
        assert set(video_lake.MODELS) <= {
            e.get("data-model") for e in ElementTree.fromstring(as_svg(figure(connection))).iter()
        }


def rows_of(connection, model):
    """Rows of one model by frame set: offset, key, right."""
    found = defaultdict(list)
    for frame_set, *row in connection.execute(
        "SELECT frame_set, frame_offset, sample_key, correct FROM predictions WHERE model = ?",
        [model],
    ).fetchall():
        found[frame_set].append(row)
    return found


def test_the_table_counts_as_one_would_by_hand(connection, page):
    for model in video_lake.MODELS:
        sets = rows_of(connection, model)
        n = len(sets)
        right = sum(ok for rows in sets.values() for offset, _, ok in rows if offset == 0)
        whole = sum(all(ok for *_, ok in rows) for rows in sets.values())
        (row,) = [
            row for row in table(page, "video-scores")
            if row[:2] == [model, "street scenes, as mined"]
        ]  # fmt: skip
        counts = [(right, n), (whole, n), (right - whole, n), (right - whole, right)]
        assert [cell[0] for cell in row[2:]] == [round(100 * k / of, 2) for k, of in counts]
        lo, hi = clopper_pearson(right - whole, right)
        assert row[5][2] == f"{100 * lo:.2f}–{100 * hi:.2f}"


def test_what_the_review_changed_stands_in_three_lines_a_model(page):
    rows = table(page, "video-review")
    assert len(rows) == 3 * len(video_lake.MODELS)
    assert [row[2] for row in rows[:3]] == [
        "all that was mined", "accepted anchors, all frames around them",
        "accepted anchors and frames",
    ]  # fmt: skip
    # Frames that are left out can only raise the share of sets that are right throughout.
    for before, after in zip(rows[1::3], rows[2::3], strict=True):
        assert after[4][0] >= before[4][0]


def test_the_funnel_and_the_reviewers_are_those_of_the_frozen_review(page):
    (row,) = table(page, "video-funnel")
    pairs = video_lake.CLIPS * 2 * video_lake.REACH - 2
    accepted = pairs - 2 * video_lake.REACH - len(video_lake.DISSIMILAR)
    counts = [cell[0] for cell in row[2:]]
    assert counts[:3] == [8, 8, 7]
    assert counts[4:7] == [pairs, pairs, accepted]
    # Nobody's name is on a page that is handed on.
    assert {row[2] for row in table(page, "video-reviewers")} == {"1"}


def test_a_flip_is_an_anchor_that_is_right_and_the_nearest_frame_that_is_wrong(connection):
    for model in video_lake.MODELS:
        sets = rows_of(connection, model)
        flips = flips_of(connection, model)
        assert flips
        assert len({flip.frame_set for flip in flips}) == len(flips)
        for flip in flips:
            assert flip.benchmark == "reviewed_frame_sets"
            assert flip.frame_set not in video_lake.BAD
            rows = [row for row in sets[flip.frame_set] if row[1] not in video_lake.DISSIMILAR]
            assert next(ok for offset, _, ok in rows if offset == 0)
            nearest = min((abs(o), o > 0, key) for o, key, ok in rows if not ok)
            assert flip.frame.wanted.key == nearest[2]
            assert abs(flip.offset) == nearest[0]
            assert flip.frame.said != flip.label


def test_a_source_without_a_review_is_shown_as_it_was_mined(tmp_path):
    root = open_root(tmp_path / "unreviewed")
    video_lake.fill_video(root)
    root.remove(paths.manifest(f"reviewed_frame_sets/{video_lake.SOURCE}"))
    from ops.results import compute_metrics

    compute_metrics(root, catalogued(root, load()))
    with connect(root) as connection:
        flips = flips_of(connection, "resnet50", most=2)
    assert {flip.benchmark for flip in flips} == {"frame_sets"}
    assert len(flips) == 2


def test_the_gallery_shows_the_frames_themselves_within_bounds(lake, connection, page):
    catalog = catalogued(lake, load())
    cast = cast_of(connection)
    assert with_flips(connection, cast) == list(cast.chosen)
    flips = flips_of(connection, "resnet50")
    wanted = [shown.wanted for flip in flips for shown in (flip.anchor, flip.frame)]
    for each, found in read_pictures(lake, catalog, wanted, side=240).items():
        data = base64.b64decode(found.uri.removeprefix("data:image/webp;base64,"))
        clip, frame = int(each.key[4]), int(each.key[-6:]) - video_lake.ANCHOR
        drawn = Image.open(io.BytesIO(video_lake.picture(clip, frame)))
        shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), float)
        others = [video_lake.picture(clip, o) for o in range(-3, 4) if o != frame]

        def far(other, shown=shown):
            return np.abs(np.asarray(other.convert("RGB"), float) - shown).mean()

        assert far(drawn) < min(far(Image.open(io.BytesIO(other))) for other in others)
    assert page.count('class="pair" tabindex="0"') <= 3 * 6
    assert page.count('class="pair"') == page.count("</figure>\n</div>\n<p>")
    assert len(page) < 900_000


def test_the_gallery_as_a_picture_is_bounded_and_the_same_every_time(lake, connection, tmp_path):
    uri = flicker_gallery_strip(lake, connection)
    assert uri == flicker_gallery_strip(lake, connection)
    data = base64.b64decode(uri.removeprefix("data:image/webp;base64,"))
    assert len(data) <= 90_000
    assert Image.open(io.BytesIO(data)).width > 400
    with connect(open_root(tmp_path / "empty")) as empty:
        assert flicker_gallery_strip(tmp_path / "empty", empty) is None


def test_the_same_lake_gives_the_same_page(lake, page):
    assert lake.read_bytes(write_report(lake, catalogued(lake, load()))).decode() == page
    assert page.index('id="video"') < page.index('id="provenance"')
    assert "street scenes, reviewed" in page


def test_a_shard_or_a_review_that_is_lost_costs_its_part_and_nothing_else(tmp_path):
    root = open_root(tmp_path / "damaged")
    manifest = video_lake.fill_video(root, models=("resnet50",))
    root.remove(paths.shard(manifest.name, manifest.shards[0].name))
    (frozen,) = [rel for rel in root.list("video") if rel.endswith("freeze.json")]
    whole = root.read_bytes(frozen)
    root.write_bytes(frozen, b"{}")
    from ops.report.sections.video_reviews import review_tables

    with connect(root) as connection:
        # The rows of the table of datasets are those of manifests, which stand.
        (said,) = review_tables(root, connection)
    assert said.strong == "A review cannot be shown."
    root.write_bytes(frozen, whole)
    page = root.read_bytes(write_report(root, catalogued(root, load()))).decode()
    assert "no picture: Its shard is missing or damaged." in page
    assert table(page, "video-scores")


def test_detectors_are_shown_by_one_rule_with_anchors_beside_worst_frames():
    connection = made((), {})
    connection.execute(
        "CREATE TABLE detection_metrics (model VARCHAR, benchmark VARCHAR, condition VARCHAR, "
        "variant VARCHAR, rule VARCHAR, metric VARCHAR, k BIGINT, value DOUBLE, ci_lo DOUBLE, "
        "ci_hi DOUBLE, n BIGINT, stale BOOLEAN)"
    )
    assert detection_table(connection) is None
    for variant, rule, metric, k, value in (
        ("detection", "101-point", "pm0_map50", 0, 0.8446),
        ("detection", "101-point", "pm5_map50", 5, 0.7),
        ("detection", "101-point", "pm10_map50", 10, 0.6515),
        ("detection", "101-point", "pm_map50_drop", 5, 0.14),
        ("detection", "101-point", "pm_map50_drop", 10, 0.1931),
        ("detection", "11-point", "pm0_map50", 0, 0.8170),
        ("localisation", "11-point", "pm0_map50", 0, 0.81),
    ):
        connection.execute(
            "INSERT INTO detection_metrics VALUES ('frcnn', 'frame_sets', 'street_scenes', ?, ?, "
            "?, ?, ?, 0.1, 0.9, 1109, ?)",
            [variant, rule, metric, k, value, variant == "localisation"],
        )
    rows = detection_table(connection).rows
    assert [str(cell) if cell is not None else None for cell in rows[0]] == [
        "frcnn", "street scenes, as mined", "detection", "84.46", "65.15", "19.31", "10",
    ]  # fmt: skip
    assert str(rows[1][3]) == "81.00"
    assert rows[0][3].note == "n = 1,109 sets; 101-point"
    assert rows[1][3].note == "n = 1,109 sets; 11-point; stale"
    assert len(rows) == 2


def short_and_coarse():
    """Two models on a source that was mined at every third frame, four to either side."""
    sets = ("frame_sets", "trams"), ("reviewed_frame_sets", "trams")
    connection = made(MINED, {"resnet50": 0.8})
    for benchmark, condition in sets:
        for model, seen in (("resnet50", False), ("tuned", True)):
            add_model(connection, model, benchmark, condition, 90, 0.8, reach=4, seen=seen)
    connection.execute(
        """
        INSERT INTO datasets VALUES
            ('frame_sets/trams', 'frame_sets', 'trams', 'v2', NULL, '{"k": 4, "stride": 3}'),
            ('reviewed_frame_sets/trams', 'reviewed_frame_sets', 'trams', 'r', 'frame_sets/trams',
                '{"mined_version": "v2"}'),
            ('frame_sets/street_scenes', 'frame_sets', 'street_scenes', 's', NULL,
                '{"k": 10, "stride": 1}')
        """
    )
    return connection


def test_axes_say_what_a_step_is_and_how_many_there_are():
    connection = short_and_coarse()
    curve, offsets, scatter = (
        as_svg(figure(connection)) for figure in (figure_pm_k, figure_offsets, figure_pm_k_scatter)
    )
    assert curve.count(">k: steps of 3 frames to either side of the anchor<") == 2
    assert curve.count(">k: frames to either side of the anchor<") == 2
    assert offsets.count(">steps of 3 frames from the anchor<") == 2
    assert offsets.count(">frames from the anchor<") == 2
    assert scatter.count(">all frames within k (pm-k), %<") == 2
    assert ">trams, as mined, k = 4<" in scatter
    # Of a review of an older mining the step is not that of the newer one.
    connection.execute("UPDATE datasets SET version = 'v3' WHERE condition = 'trams'")
    assert as_svg(figure_offsets(connection)).count(">steps of 3 frames from the anchor<") == 1


def test_a_model_on_its_own_training_videos_is_marked_wherever_it_is_shown():
    connection = short_and_coarse()
    for figure in FIGURES:
        text = as_svg(figure(connection))
        # One in each of the two panels of its source.
        assert text.count(">†<") == 2
        assert ">† fine-tuned on videos of the set<" in text
        assert "fine-tuned" not in as_svg(figure(made(MINED)))
    found = scores_table(connection)
    marked = {(row[0], row[1]) for row in found.rows if str(row[3]).endswith("†")}
    assert marked == {("tuned", "trams, as mined"), ("tuned", "trams, reviewed")}
    (said,) = explained(found)
    assert said.strong == "†"
    assert explained(scores_table(made(MINED))) == []


def test_the_table_of_scores_says_the_k_of_each_set():
    found = scores_table(short_and_coarse())
    assert [column.label for column in found.columns[2:5]] == ["k", "pm-0", "pm-k"]
    assert {(row[1].split(",")[0], str(row[2])) for row in found.rows} == {
        ("street scenes", "10"), ("trams", "4"),
    }  # fmt: skip
    assert [column.label for column in scores_table(made(MINED)).columns[2:4]] == ["pm-0", "pm-10"]
