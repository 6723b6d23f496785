"""Every query of the page on pm-k runs and finds rows, and its tables name what there is."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from made_lake import Lake
from made_video import answers, frame, mined, reviewed

from ops.catalog import load
from ops.results import compute_metrics, query
from ops.results.connection import MACROS, TABLES, VIEWS
from ops.storage import open_root

TEXT = (Path(__file__).parents[2] / "docs" / "video-metrics.md").read_text("utf-8")
QUERIES = dict(re.findall(r"### \d+\. ([^\n]+)\n+```sql\n(.*?)```", TEXT, re.S))


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """Two models on forty sets of thirty videos, mined and reviewed."""
    lake, catalog = Lake(open_root(tmp_path_factory.mktemp("videos") / "lake")), load()
    frames = [
        frame(
            f"v{i % 30:02}",
            100 * (i // 30) + 20,
            offset,
            [i % 30],
            pict_type="IPB"[(i + offset) % 3],
            fps=(15.0, 25.0, 29.97, 60.0)[i % 4],
        )
        for i in range(40)
        for offset in range(-10, 11)
        if (i * offset) % 7 != 3
    ]
    manifest = mined(lake, "zoo", frames)
    for seed, name in enumerate(("resnet50", "vit_b_16")):
        preds = [
            (each["labels"][0] + (7 * n % (31 + seed) == 0)) % 30 for n, each in enumerate(frames)
        ]
        lake.run(lake.model(name, weights=name), manifest, answers(frames, preds))
    reviewed(
        lake,
        catalog,
        "zoo",
        bad=("v03/000020",),
        dissimilar=("v04/000020/000011", "v05/000020/000029"),
    )
    compute_metrics(lake.root, catalog)
    return lake.root


def test_the_test_sees_every_query():
    assert len(QUERIES) == TEXT.count("```sql") == 13


@pytest.mark.parametrize("title", QUERIES)
def test_a_query_finds_rows(videos, title):
    rows = list(csv.reader(io.StringIO(query(videos, QUERIES[title], "csv"))))
    assert len(rows) > 1


def test_the_page_names_every_subset_that_there_is(videos):
    rows = csv.reader(io.StringIO(query(videos, "SELECT DISTINCT subset FROM pmk", "csv")))
    found = {row[0] for row in rows} - {"subset"}
    assert len(found) > 12
    assert all(f"`{name}`" in TEXT for name in found)


def test_the_page_names_every_view_of_videos():
    own = {*VIEWS, *TABLES, *MACROS}
    own = {n for n in own if n.startswith(("pmk", "frame", "video", "review"))}
    assert len(own) == 11
    assert all(re.search(rf"`{name}(\(k\))?`", TEXT) for name in own)
