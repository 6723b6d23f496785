"""The flicker gallery in a real browser that runs no script."""

from __future__ import annotations

import shutil

import pytest
import video_lake

from ops.catalog import load
from ops.report import write_report
from ops.storage import open_root
from ops.video.cataloguing import catalogued

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.ui,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
SECOND = "figure + figure img"
STYLE = "e => [getComputedStyle(e).animationName, getComputedStyle(e).transform]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    root = open_root(tmp_path_factory.mktemp("flicker") / "lake")
    video_lake.fill_video(root, models=("resnet50",))
    return root.local_path(write_report(root, catalogued(root, load())))


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        started = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


def opened(browser, page, **more):
    given = {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False, **more}
    context = browser.new_context(**given)
    tab = context.new_page()
    tab.goto(page.as_uri())
    return tab


def test_a_pair_that_is_pointed_at_or_focused_alternates_in_one_place(browser, page):
    tab = opened(browser, page)
    pair = tab.locator(".pair").first
    first, second = pair.locator("img").nth(0), pair.locator(SECOND)
    at_rest = [each.bounding_box() for each in (first, second)]
    assert at_rest[1]["x"] > at_rest[0]["x"] + at_rest[0]["width"]
    assert second.evaluate(STYLE) == ["none", "none"]
    pair.hover()
    assert second.evaluate(STYLE)[0] == "flicker"
    boxes = [each.bounding_box() for each in (first, second)]
    assert boxes[0]["x"] == pytest.approx(boxes[1]["x"], abs=1)
    assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1)
    # Not more often than once a second.
    assert second.evaluate("e => getComputedStyle(e).animationDuration") == "1s"
    tab.mouse.move(0, 0)
    assert second.evaluate(STYLE) == ["none", "none"]
    pair.focus()
    assert second.evaluate(STYLE)[0] == "flicker"
    tab.context.close()


def test_pairs_are_reached_one_after_the_other_with_the_tab_key(browser, page):
    tab = opened(browser, page)
    tab.locator(".pair").first.focus()
    tab.keyboard.press("Tab")
    again = "e => [...document.querySelectorAll('.pair')].indexOf(document.activeElement)"
    assert tab.locator("body").evaluate(again) == 1
    tab.context.close()


def test_who_asked_for_less_motion_sees_both_side_by_side(browser, page):
    tab = opened(browser, page, reduced_motion="reduce")
    pair = tab.locator(".pair").first
    second = pair.locator(SECOND)
    pair.hover()
    assert second.evaluate(STYLE) == ["none", "none"]
    first = pair.locator("img").first.bounding_box()
    assert second.bounding_box()["x"] > first["x"] + first["width"]
    tab.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser, page, width):
    viewport = {"width": width, "height": 800}
    tab = opened(browser, page, viewport=viewport, color_scheme="dark")
    assert tab.evaluate("document.querySelector('#video').scrollWidth") <= width
    tab.context.close()
