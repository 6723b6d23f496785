"""Figures: what is drawn carries its model's name, and is the same every time."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from report_lake import HOSTILE, MODELS

from ops.errors import ShiftlakeError
from ops.report import (
    Cast,
    as_png_data_uri,
    as_svg,
    cast_of,
    figure_confidence,
    figure_flips,
    figure_heat_map,
    figure_ladder,
    figure_pm_k,
    figure_reliability,
    figure_severities,
    figure_shifts,
)
from ops.report.figures.heat_map import heat_map_rows
from ops.results import connect
from ops.storage import open_root

FIGURES = {
    "ladder": figure_ladder,
    "severities": lambda connection: figure_severities(connection, "imagenet_c"),
    "heat_map": lambda connection: figure_heat_map(connection, "imagenet_c"),
    "shifts": figure_shifts,
    "reliability": figure_reliability,
    "confidence": figure_confidence,
    "flips": lambda connection: figure_flips(connection, "imagenet_p"),
    "pm_k": figure_pm_k,
}
# Drawn from prediction rows, which the model with the hostile name has none of.
FROM_ROWS = {"reliability", "confidence"}


@pytest.fixture(scope="module")
def connection(filled):
    with connect(filled) as opened:
        yield opened


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_models_and_loads_nothing(connection, name):
    text = as_svg(FIGURES[name](connection))
    assert text == as_svg(FIGURES[name](connection))
    root = ElementTree.fromstring(text)
    named = {element.get("data-model") for element in root.iter()} - {None}
    assert named == ({*MODELS} if name in FROM_ROWS else {*MODELS, HOSTILE})
    assert not re.findall(r"<metadata|<image|\d{4}-\d\d-\d\d|http(?!://www.w3.org/2000/svg)", text)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect", "title"
    }  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_drawn_of_nothing(tmp_path, name):
    with connect(open_root(tmp_path / "empty")) as connection:
        assert FIGURES[name](connection) is None


def test_a_png_keeps_within_its_bytes_and_is_the_same_every_time(connection):
    figure = figure_pm_k(connection)
    sizes = []
    for most in (60_000, 6_000):
        uri = as_png_data_uri(figure, most)
        assert uri == as_png_data_uri(figure, most)
        data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
        assert len(data) <= most
        sizes.append(Image.open(io.BytesIO(data)).size)
    assert sizes[0][0] > sizes[1][0]
    with pytest.raises(ShiftlakeError, match="does not fit"):
        as_png_data_uri(figure, 500)


def test_the_scatter_shows_published_models_the_fit_and_the_distance_of_our_own(connection):
    text = as_svg(figure_shifts(connection))
    titles = re.findall(r"<title>([^<]*)</title>", text)
    assert sum(title.startswith("published ") for title in titles) == 20
    assert "resnet50: 85.00 % to 73.00 %" in titles
    assert "fit to published standard models" in text


def test_two_figures_of_a_page_share_no_name(connection):
    ids = [
        set(re.findall(r' id="([^"]+)"', as_svg(figure)))
        for figure in (figure_ladder(connection), figure_pm_k(connection))
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_models_are_ranked_by_imagenetv2(connection):
    found = cast_of(connection)
    assert found.models == (*MODELS, HOSTILE)
    assert (found.ranked_by, found.crowded) == ("accuracy on ImageNetV2", False)
    assert len({found.colour(model) for model in found.models}) == 3
    assert cast_of(connection, ["vit_b_16"]).crowded


@given(st.integers(1, 400), st.integers(0, 8))
def test_the_heat_map_keeps_the_ends_and_the_chosen(models, chosen):
    ranked = [f"m{i:03}" for i in range(models)]
    cast = Cast(tuple(ranked), tuple(ranked[:: max(1, models // 8)][:chosen]), "accuracy")
    rows = heat_map_rows(ranked, cast)
    assert len(rows) == min(models, 40)
    assert rows == sorted(set(rows))
    assert {ranked[0], ranked[-1], *cast.chosen} <= set(rows)
