"""The real page, daemon and browser: what a person sees and clicks."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from lake_by_command import PROJECT, Lake

from ops.miniature import serve
from ops.results import connect
from ops.shards import read_manifest
from ops.storage import open_root, paths

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Page:
    """A running page and daemon, and questions to it."""

    def __init__(self, lake, port):
        self.lake, self.url = lake, f"http://127.0.0.1:{port}"

    def ask(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        assert "errors" not in found, found
        return found["data"]

    def launch(self, job):
        selector = {
            "repositoryLocationName": "shiftlake",
            "repositoryName": "__repository__",
            "jobName": job,
        }
        data = self.ask(
            "mutation Go($p: ExecutionParams!) { launchRun(executionParams: $p) {"
            " __typename ... on LaunchRunSuccess { run { runId } }"
            " ... on PythonError { message } } }",
            p={"selector": selector, "runConfigData": {}},
        )["launchRun"]
        assert data["__typename"] == "LaunchRunSuccess", data
        return data["run"]["runId"]

    def status(self, run):
        data = self.ask(
            "query R($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", id=run
        )
        return data["runOrError"]["status"]

    def finished(self, run, seconds=150):
        return wait_for(
            lambda: self.status(run) if self.status(run) in ("SUCCESS", "FAILURE") else None,
            seconds,
        )


def wait_for(condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError(f"not within {seconds} s")


@pytest.fixture(scope="module")
def page(tmp_path_factory, miniature):
    with serve(miniature.folder) as upstream:
        lake = Lake(tmp_path_factory.mktemp("page"), upstream.url, miniature)
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli", "dev", "--port", str(port), "--no-demo"],
            cwd=PROJECT,
            env=lake.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        page = Page(lake, port)

        def ready():
            try:
                return page.ask("{ workspaceOrError { ... on Workspace { locationEntries {"
                                " locationOrLoadError { __typename } } } } }")  # fmt: skip
            except OSError:
                return None

        try:
            wait_for(ready, 60)
            run = page.launch("natural_shifts")
            assert page.finished(run) == "SUCCESS"
            yield page
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=20)


def test_a_run_launched_on_the_page_goes_through_the_queue_and_seals_the_datasets(page):
    root = open_root(page.lake.root)
    assert read_manifest(root, "imagenet_a/clean").n_samples > 0
    assert read_manifest(root, "imagenetv2/matched_frequency").n_samples > 0


def test_the_pools_have_their_limits(page):
    data = page.ask(
        "{ instance { concurrencyLimits { concurrencyKey slotCount } } }"
    )["instance"]["concurrencyLimits"]  # fmt: skip
    limits = {entry["concurrencyKey"]: entry["slotCount"] for entry in data}
    assert limits == {"download": 2, "render": 1, "gpu": 1, "duckdb": 1}


def test_a_new_model_is_seen_evaluated_and_measured_without_a_click(page):
    page.lake.run(
        *("model", "add", "watched", "ops.models.smallcnn:SmallCNN"),
        *("--kwargs", '{"num_classes": 1000, "width": 4}', "--resize", "32", "--crop", "32"),
    )

    def measured():
        root = open_root(page.lake.root)
        if not root.exists(paths.results("metrics.parquet")):
            return None
        with connect(root) as connection:
            return connection.sql(
                "SELECT n FROM leaderboard WHERE model = 'watched' AND benchmark = 'imagenet_a'"
            ).fetchall()

    expected = read_manifest(open_root(page.lake.root), "imagenet_a/clean").n_samples
    assert wait_for(measured, 180) == [(expected,)]


@pytest.mark.ui
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_shows_the_contact_sheet_and_a_damaged_shard_turns_its_check_red(page):
    from playwright.sync_api import sync_playwright

    root = open_root(page.lake.root)
    entry = read_manifest(root, "imagenet_r/clean").shards[0]
    shard = Path(root.at(paths.shard("imagenet_r/clean", entry.name)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            tab = browser.new_page(viewport={"width": 1500, "height": 1000})
            tab.goto(f"{page.url}/assets/imagenet_r/shards?view=overview")
            tab.get_by_text("[Show Markdown]").first.click(timeout=30_000)
            picture = tab.locator("img[src^='data:image/webp']")
            picture.wait_for(timeout=15_000)
            assert picture.evaluate("image => image.naturalWidth") > 300
            data = bytearray(shard.read_bytes())
            data[1_500] ^= 0xFF
            shard.write_bytes(bytes(data))
            tab.goto(f"{page.url}/assets/imagenet_r/shards?view=checks")
            tab.get_by_role("button", name="Execute all").click(timeout=30_000)
            tab.get_by_text("Failed", exact=True).first.wait_for(timeout=60_000)
            assert tab.get_by_text("Succeeded", exact=True).count() >= 1
        finally:
            browser.close()
