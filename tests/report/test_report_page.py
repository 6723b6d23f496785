"""The page: every section where there is data, nothing loaded, everything escaped."""

from __future__ import annotations

import base64
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image
from report_lake import HOSTILE, HOSTILE_KEY, MODELS, picture

from ops.errors import ShiftlakeError
from ops.report import write_report
from ops.storage import open_root
from tests.report.conftest import NOW

SECTIONS = [
    "leaderboard", "ladder", "corruptions", "shifts", "calibration", "sequences", "video",
    "failures", "gates", "provenance", "missing",
]  # fmt: skip


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of each script and section."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)

    def having(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def table(page, name):
    """All rows of a table, as its script has them."""
    found = re.search(
        rf'id="{name}">.*?<script type="application/json">(.*?)</script>', page, re.DOTALL
    )
    return json.loads(found[1])


def test_every_section_is_there_where_there_is_data(page):
    assert [a["id"] for a in Parsed(page).having("section")] == SECTIONS


def test_without_data_each_section_is_named_with_what_is_missing(tmp_path, catalog):
    root = open_root(tmp_path / "empty")
    page = root.read_bytes(write_report(root, catalog, now=NOW)).decode()
    assert [a["id"] for a in Parsed(page).having("section")] == ["missing"]
    for title in ("Leaderboard", "The ladder", "Natural shifts", "Failures, to look at", "Gates"):
        assert f"Not shown: {title}." in page
    assert "<svg" not in page


def test_the_same_lake_and_date_give_the_same_bytes(filled, catalog, page):
    assert filled.read_bytes(write_report(filled, catalog, now=NOW)).decode() == page
    assert "2 January 2026, 03:04 UTC" in page


def test_the_head_names_the_root_without_its_folders(filled, page):
    assert re.search(r'<span class="root">my-lake</span>', page)
    assert filled.url.rpartition("/")[0] not in page


def test_nothing_is_loaded_from_anywhere(page):
    parsed = Parsed(page)
    policy = next(a["content"] for a in parsed.having("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag, attrs in parsed.elements:
        for name, value in attrs.items():
            if name in ("src", "href", "srcset", "data", "action", "poster"):
                assert value.startswith(("data:image/webp;base64,", "#")), (tag, name, value[:80])
    addresses = set(re.findall(r"\bhttps?://[^\s\"'<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_names_from_the_data_are_text_and_never_markup(page):
    parsed = Parsed(page)
    assert "alert" not in "".join(name for name, _ in parsed.elements)
    for _, attrs in parsed.elements:
        assert not any(name.startswith("on") for name in attrs)
    # One script of the page, one block of data a table, and none that a name opened.
    kinds = [a.get("type") for a in parsed.having("script")]
    tables = [a for a in parsed.having("div") if a.get("class") == "table"]
    assert kinds.count(None) == 1
    assert kinds.count("application/json") == len(tables) == len(kinds) - 1
    # Names may go on in the next line after a slash or an underscore.
    assert "vit_<wbr>b_<wbr>16" in page
    page = page.replace("<wbr>", "")
    assert HOSTILE not in page
    assert HOSTILE_KEY not in page
    assert "&#34;&gt;&lt;img src=" in page
    assert page.count(HOSTILE.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")) > 3
    assert HOSTILE in [row[0] for row in table(page, "leaderboard-natural")["rows"]]


def test_the_leaderboard_has_values_intervals_and_n(page):
    data = table(page, "leaderboard-natural")
    rows = {row[0]: row[1:] for row in data["rows"]}
    value, shown, interval, note = rows["resnet50"][0]
    assert (value, shown, interval) == (85.0, "85.00", "84.68–85.31")
    assert note == "n = 50,000; made up"
    assert list(rows) == ["resnet50", "vit_b_16", HOSTILE]
    assert "n\u00a0=\u00a07,500" in page


def test_the_ladder_has_clean_companions_and_gaps(page):
    data = table(page, "ladder-table")
    row = next(row for row in data["rows"] if row[0] == "resnet50")
    # val, V2 x 3, ReaL, then clean, A and their gap, clean, R and their gap, O and chance.
    values = [cell[0] for cell in row[1:]]
    assert values[:5] == [85.0, 85.0, 81.0, 73.0, 90.0]
    assert values[5:8] == [95.0, 40.0, 55.0]
    assert values[8:11] == [95.0, 55.0, 40.0]
    assert values[11:] == [pytest.approx(28.33), pytest.approx(16.67)]


def test_a_failed_gate_is_told_with_the_classes_that_flipped(page):
    (row,) = table(page, "gate-table")["rows"]
    assert row[:4] == ["vit_b_16", "resnet50", "ImageNet", "fail"]
    assert row[4][:3] == [-3.45, "−3.45", "−4.00 to −3.00"]
    assert "electric_ray (40 lost)" in row[-1]


def test_pictures_are_the_samples_that_their_keys_name(page):
    # Every picture of the validation set has a colour of its own, made from its number.
    cards = re.findall(
        r'<img src="(data:image/webp;base64,[^"]+)".*?<span class="key" title="s(\d{8})"', page,
        re.DOTALL,
    )  # fmt: skip
    assert len(cards) > 10
    for uri, number in cards:
        drawn = np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))
        expected = np.asarray(Image.open(io.BytesIO(picture(int(number)))))
        assert np.abs(drawn.mean((0, 1)) - expected.mean((0, 1))).max() < 8


def test_frames_of_a_flickering_sequence_stand_side_by_side_in_order(page):
    strip = page[page.index("changes its mind most") :].split('<div class="gallery')[0]
    frames = re.findall(r'<img src="([^"]+)"', strip)[:6]
    levels = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))).mean()
        for uri in frames
    ]
    assert len(levels) == 6
    assert np.abs(levels - np.linspace(20, 220, 6)).max() < 6
    assert "2 changes in 5 pairs" in strip
    assert strip.count('<figure class="changed">') == 2 * strip.count('<div class="row">')


def test_a_missing_shard_costs_its_pictures_and_nothing_else(page):
    assert "no picture: Its shard is missing or damaged." in page


def test_models_in_colour_can_be_chosen_and_unknown_ones_are_refused(filled, catalog):
    with pytest.raises(ShiftlakeError, match="in colour"):
        write_report(filled, catalog, now=NOW, models=["nobody"])


def test_synthetic_results_are_told_in_big_letters(tmp_path, catalog, page):
    from report_lake import made_metrics

    root = open_root(tmp_path / "drawn")
    made_metrics(root, MODELS[:1], synthetic=True)
    drawn = root.read_bytes(write_report(root, catalog, now=NOW)).decode()
    assert "<strong>Synthetic</strong> All results on this page" in drawn
    assert "<strong>Synthetic</strong>" not in page


def test_a_thousand_models_fit_and_the_page_says_who_is_in_colour(crowd):
    assert len(crowd.encode()) < 8_000_000
    assert "8 of 1,000 models are in colour, from best to worst by accuracy on ImageNetV2" in crowd
    data = table(crowd, "leaderboard-natural")
    assert len(data["rows"]) == 1000
    body = re.search(r'id="leaderboard-natural">.*?<tbody>(.*?)</tbody>', crowd, re.DOTALL)[1]
    assert body.count("<tr>") == 25
    # The heat-map: at most 40 rows, the best and the worst among them.
    assert "40 of 1,000 models" in crowd
