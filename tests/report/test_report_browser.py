"""The page in a real browser: nothing asked of the network, and clicks do what they say."""

from __future__ import annotations

import shutil

import pytest
from report_lake import HOSTILE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.ui,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        started = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page from a file; whatever it asks for or complains about is kept."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    heard: list[str] = []
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: heard.append(request.url[:200]))

    def open_page(text):
        path = tmp_path / "report.html"
        path.write_text(text)
        tab.goto(path.as_uri())
        asked = [line for line in heard if not line.startswith(("data:", path.as_uri()))]
        assert asked == []
        return tab

    yield open_page
    later = [line for line in heard if not line.startswith(("data:", "file:"))]
    tab.close()
    assert later == []


def first(tab, table, column=1):
    return tab.locator(f"#{table} tbody tr td:nth-child({column})").all_text_contents()


def test_a_hostile_name_is_shown_and_not_run(opened, page):
    tab = opened(page)
    assert HOSTILE in first(tab, "leaderboard-natural")
    assert tab.locator("img[src='x']").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_click_on_a_head_sorts_and_a_second_turns_it_around(opened, page):
    tab = opened(page)
    head = tab.locator("#leaderboard-corrupted th", has_text="ImageNet-C").first
    head.get_by_role("button").click()
    # Less is better: the best comes first.
    assert first(tab, "leaderboard-corrupted") == ["resnet50", "vit_b_16", HOSTILE]
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert first(tab, "leaderboard-corrupted") == [HOSTILE, "vit_b_16", "resnet50"]
    tab.locator("#leaderboard-natural th button").nth(1).click()
    assert first(tab, "leaderboard-natural")[0] == "resnet50"


def test_finding_a_model_filters_tables_and_brings_it_out_in_figures(opened, page):
    tab = opened(page)
    tab.locator("#find").fill("VIT")
    assert first(tab, "leaderboard-natural") == ["vit_b_16"]
    assert first(tab, "models-table") == ["vit_b_16"]
    picked = tab.locator("#ladder svg .picked").first
    assert picked.get_attribute("data-model") == "vit_b_16"
    dimmed = tab.locator("#ladder svg [data-model='resnet50']").first
    assert float(dimmed.evaluate("e => getComputedStyle(e).opacity")) < 0.5
    tab.locator("#find").fill("")
    assert tab.locator("svg .picked").count() == 0
    tab.locator("#leaderboard-natural tbody td", has_text="resnet50").click()
    assert tab.locator("#leaderboard-natural tr.picked").count() == 1


def test_a_thousand_models_are_shown_page_by_page(opened, crowd):
    tab = opened(crowd)
    shown = first(tab, "leaderboard-natural")
    assert len(shown) == 25
    assert tab.locator("#leaderboard-natural .pages span").inner_text() == "1–25 of 1,000"
    tab.locator("#leaderboard-natural .pages button", has_text="next").click()
    after = first(tab, "leaderboard-natural")
    assert len(after) == 25
    assert not set(after) & set(shown)
    tab.locator("#leaderboard-natural input").fill("_0777")
    assert first(tab, "leaderboard-natural") == ["some_architecture_large.variant_0777"]
