"""How long the next pair takes to be seen after a key: ``python -m benchmarks.review_page``.

A reviewer presses S at 1280x720 frames; from the time stamp of the key to the frame after that in
which both pictures of the next pair are decoded and in place. The peer is the same page without
pictures made ready ahead, as a page is that asks for each pair when it is wanted.
"""

from __future__ import annotations

import argparse
import io
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from threading import Thread

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from benchmarks.report import machine, show, write
from ops.catalog import load
from ops.storage import Root, open_root
from ops.video.review import Review
from pipelines.review_page import make_application, serve_reviews
from pipelines.review_page.serving import listening, names_of

SIZE = (1280, 720)
BAR_MS = 100
# Between two keys: nobody decides faster, and pictures are fetched meanwhile.
THINKING_MS = 350

# Runs in the page: notes when a key went down and when the next pair was painted.
_WATCH = """
() => {
  window.seen = [];
  let pressed = null;
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(async () => {
    const from = pressed;
    const subject = document.body.dataset.subject;
    if (from === null || !subject) return;
    pressed = null;
    const images = [...document.querySelectorAll("#stage .slide img")];
    await Promise.all(images.map((image) => image.decode()));
    requestAnimationFrame(() => requestAnimationFrame((now) => {
      window.seen.push({ subject, ms: performance.now() - from, pictures: images.length });
      window.told?.();
    }));
  }).observe(document.body, { attributes: true, attributeFilter: ["data-subject"] });
}
"""


def photograph(number: int, offset: int, size: tuple[int, int]) -> bytes:
    """A JPEG about as large as a frame of a film: noise of several scales, and it moves."""
    draws = np.random.default_rng(number)
    picture = np.zeros((size[1], size[0], 3), np.float32)
    for scale, weight in ((80, 90), (16, 40), (4, 24), (1, 9)):
        rough = draws.normal(0, weight, (size[1] // scale + 2, size[0] // scale + 2, 3))
        picture += np.kron(rough, np.ones((scale, scale, 1)))[: size[1], : size[0]]
    pixels = np.clip(np.roll(picture, 6 * offset, 1) + 128, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return file.getvalue()


def measured(browser: Browser, url: str, n: int, name: str, ahead: bool) -> list[float]:
    """Milliseconds from key to picture, for `n` pairs."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    tab = context.new_page()
    if not ahead:
        # The page as it would be if it made nothing ready.
        tab.route(
            "**/static/review.js",
            lambda route: route.fulfill(
                body=route.fetch().text().replace("const AHEAD = 5;", "const AHEAD = 0;"),
                content_type="text/javascript",
            ),
        )
    tab.goto(f"{url}/review/clips?reviewer={name}")
    tab.locator("#who", has_text=name).wait_for()
    tab.goto(f"{url}/review/clips/pairs")
    tab.locator("body:not(.waiting) #stage .slide img").first.wait_for()
    tab.wait_for_timeout(2_000)
    tab.evaluate(_WATCH)
    for done in range(n):
        tab.keyboard.press("s")
        # One question that waits: asking again and again would slow down what is measured.
        tab.evaluate(
            "n => new Promise(done => { window.told = () => window.seen.length > n && done();"
            " window.told(); })",
            done,
        )
        tab.wait_for_timeout(THINKING_MS)
    tab.locator("#saved[data-state=saved]").wait_for()
    seen = tab.evaluate("window.seen")
    context.close()
    assert len({one["subject"] for one in seen}) == n
    assert {one["pictures"] for one in seen} == {2}
    return [float(one["ms"]) for one in seen]


def serve(root: Root) -> str:
    """Serve the page in a thread that ends with the process; its address."""
    where = listening(None, 0)
    port = int(where.getsockname()[1])
    # A pair that came twice would be timed twice.
    app = make_application(root, load(), names_of(None, port), repeats=0.0)
    Thread(target=serve_reviews, args=(app, where), daemon=True).start()
    return f"http://127.0.0.1:{port}"


def lake_of_photographs(folder: Path, n_sets: int, k: int) -> Root:
    """A mined source of frames like photographs."""
    # The tests' own way to seal frames without a video.
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "pipelines"))
    import mined_by_hand as by_hand

    root = open_root(folder)
    by_hand.picture = photograph
    by_hand.mined_by_hand(root, n_sets=n_sets, k=k, size=SIZE)
    return root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    n = parser.parse_args().pairs
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        root = lake_of_photographs(Path(folder) / "lake", n_sets=-(-n // 10) + 2, k=5)
        url = serve(root)
        browser = driver.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        for name, ahead in (("next five made ready", True), ("nothing made ready", False)):
            found = sorted(measured(browser, url, n, f"r{int(ahead)}", ahead))
            rows.append(
                {
                    "page": name,
                    "pairs": n,
                    "median ms": round(statistics.median(found), 1),
                    "p95 ms": round(found[int(0.95 * (n - 1))], 1),
                    "largest ms": round(found[-1], 1),
                }
            )
        browser.close()
        assert len(Review.open(root, "clips").events) == 2 * n
    show(f"key to next pair, frames of {SIZE[0]}x{SIZE[1]}, bar {BAR_MS} ms", rows)
    write("review_page", {"machine": machine(), "size": SIZE, "bar_ms": BAR_MS, "rows": rows})


if __name__ == "__main__":
    main()
