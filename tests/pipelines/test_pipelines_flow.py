"""One command takes every benchmark from its published archive to a SQL row, exactly once."""

import json
import os
import shutil
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest
import yaml
from lake_by_command import Lake

from assets.predictions import check_rows
from assets.suites import suites
from ops.catalog import load
from ops.inference import expected_rows
from ops.miniature import serve
from ops.results import connect
from ops.shards import read_manifest, sealed_datasets
from ops.storage import open_root

MODEL = ("model", "add", "tiny", "ops.models.smallcnn:SmallCNN")
SETTINGS = ("--kwargs", '{"num_classes": 1000, "width": 4}', "--resize", "32", "--crop", "32")


# What is final once it has its name; receipts and run records hold times, and so does what is made
# of run records.
FINISHED = (".tar", ".parquet", "manifest.json", ".zip", ".gz")
TIMED = ("compacted/index.", "compacted/runs-", "results/history/")


def finished(files):
    return {
        name: digest
        for name, digest in files.items()
        if name.endswith(FINISHED) and not name.startswith(TIMED)
    }


@pytest.fixture(scope="module")
def upstream(miniature):
    with serve(miniature.folder) as server:
        yield server


@pytest.fixture(scope="module")
def lake(tmp_path_factory, upstream, miniature):
    made = Lake(tmp_path_factory.mktemp("flow"), upstream.url, miniature)
    made.run(*MODEL, *SETTINGS)
    made.output = made.run("run", "everything").stdout
    return made


def test_every_dataset_is_sealed_with_the_counts_the_upstream_published(lake, miniature):
    root = open_root(lake.root)
    published = {
        name for s in suites().values() if not s.made_here for name in s.datasets([*s.parts])
    }
    assert set(sealed_datasets(root)) == published
    for name, counts in miniature.expected.items():
        manifest = read_manifest(root, name)
        assert manifest.n_samples == counts["expected"], name
        assert manifest.synthetic


def test_every_sample_of_every_evaluated_dataset_is_one_row(lake):
    root = open_root(lake.root)
    evaluated = {
        spec.name
        for suite in suites().values()
        for spec in suite.specs
        if not suite.made_here
        and spec.evaluate
        and spec.label_space in ("ilsvrc1000", "imagenet_vid30", "ytbb24")
    }
    with connect(root) as connection:
        rows = connection.sql(
            "SELECT benchmark || '/' || condition, count(*), count(DISTINCT sample_key) "
            "FROM predictions GROUP BY ALL"
        ).fetchall()
    assert {name for name, _, _ in rows} == evaluated
    for name, count, distinct in rows:
        assert count == distinct == expected_rows(read_manifest(root, name)), name


def test_the_answers_hold_every_named_quantity_with_an_interval(lake):
    answer = lake.run("sql", "SELECT DISTINCT benchmark, metric, variant FROM metrics "
                      "WHERE ci_lo IS NOT NULL AND n > 0", "--format", "json")  # fmt: skip
    found = {(row["benchmark"], row["metric"], row["variant"]) for row in json.loads(answer.stdout)}
    for benchmark in ("imagenet_a", "imagenet_r"):
        assert {(benchmark, "top1", "masked"), (benchmark, "top1", "unmasked")} <= found
    assert ("imagenet_1k", "top1", "unmasked") in found
    assert ("imagenet_1k", "top5", "unmasked") in found
    assert ("imagenet_real", "top1", "real") in found
    assert ("imagenet_o", "aupr", "max softmax") in found
    assert any("clean" in variant or "clean" in metric for _, metric, variant in found)


def test_dagster_recorded_every_partition_and_every_check_passed(lake):
    index = next((Path(lake.folder) / "state").rglob("index.db"))
    with sqlite3.connect(index) as database:
        partitions = {
            row[0]
            for row in database.execute(
                "SELECT DISTINCT partition FROM event_logs WHERE asset_key = ? "
                "AND dagster_event_type = 'ASSET_MATERIALIZATION'",
                ('["imagenet_c", "shards"]',),
            )
        }
        verdicts = Counter(
            database.execute(
                "SELECT asset_key, execution_status FROM asset_check_executions"
            ).fetchall()
        )
    assert len(partitions) == 19
    assert not [key for key, verdict in verdicts if verdict == "FAILED"]
    # Four checks for each corruption, and one for each archive.
    assert verdicts['["imagenet_c", "shards"]', "SUCCEEDED"] == 4 * 19
    assert verdicts['["imagenet_a", "imagenet_a_tar"]', "SUCCEEDED"] == 1


def test_a_second_run_changes_no_byte_and_downloads_nothing(lake, upstream):
    before, requests = lake.files(), len(upstream.log)
    lake.run("run", "everything")
    after = lake.files()
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed == set()
    assert set(after) == set(before)
    assert len(upstream.log) == requests


def kill_when(lake, below, count):
    """Start everything, and kill it once `count` files lie below a folder."""
    process = lake.start("run", "everything")
    deadline = time.monotonic() + 150
    while time.monotonic() < deadline and process.poll() is None:
        # Not rglob, which fails where a folder goes away while it is walked.
        walked = os.walk(Path(lake.root) / below)
        if sum("." in name for _, folders, files in walked for name in folders + files) >= count:
            break
        time.sleep(0.02)
    assert process.poll() is None, f"it ended before it could be killed: {process.stdout.read()}"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_in_every_stage_the_next_run_gives_the_same_bytes(
    lake, tmp_path, upstream, miniature
):
    other = Lake(tmp_path, upstream.url, miniature)
    shutil.copytree(Path(lake.root) / "models", Path(other.root) / "models")
    survived = {}
    for below, count in (("sources", 5), ("shards", 60), ("predictions", 20)):
        kill_when(other, below, count)
        files = finished(other.files())
        assert set(survived) <= set(files)
        survived = files
        assert any(name.startswith(below) for name in survived)
    other.run("run", "everything")
    final = other.files()
    rewritten = [name for name, digest in survived.items() if final[name] != digest]
    assert rewritten == []
    assert finished(final) == finished(lake.files())
    assert numbers_kept(other) == numbers_kept(lake)


def numbers_kept(lake):
    """The history, but for when each number was measured."""
    with connect(lake.root) as connection:
        return connection.sql(
            "SELECT * EXCLUDE (evaluated_at) FROM history ORDER BY ALL"
        ).fetchall()


def test_lost_predictions_turn_the_check_red_and_come_back(lake, tmp_path):
    broken = Lake(tmp_path, lake.upstream_url, lake.miniature)
    shutil.copytree(lake.root, broken.root, dirs_exist_ok=True)
    key = dg.MultiPartitionKey({"benchmark": "imagenet_a", "model": "tiny"})
    root, catalog = open_root(broken.root), load(str(broken.folder / "catalog.yaml"))
    assert check_rows(root, catalog, key).problems == []
    victim = next(Path(broken.root).glob("predictions/tiny/imagenet_a/clean/*/*.parquet"))
    whole = victim.read_bytes()
    victim.unlink()
    count = check_rows(root, catalog, key)
    n = read_manifest(root, "imagenet_a/clean").n_samples
    assert count.metadata == {"expected": n, "seen": 0, "failed": 0}
    assert not count.result().passed
    broken.run("evaluate", "tiny", "imagenet_a")
    assert victim.read_bytes() == whole
    assert check_rows(root, catalog, key).problems == []


def test_a_bad_model_and_a_bad_archive_are_named_and_the_rest_goes_on(
    tmp_path, upstream, miniature
):
    lake = Lake(tmp_path, upstream.url, miniature)
    overlay = miniature.overlay(upstream.url)
    wanted = {"imagenet-a", "imagenet-o", "imagenet-1k"}
    for benchmark in overlay["benchmarks"]:
        for file in benchmark["files"]:
            if benchmark["id"] not in wanted:
                file |= {"access": "none", "url": None, "how_to_get": "not here"}
            elif benchmark["id"] == "imagenet-o":
                file |= {"sha256": "0" * 64, "md5": None, "sha1": None}
    (tmp_path / "catalog.yaml").write_text(yaml.safe_dump(overlay))
    lake.run(*MODEL, *SETTINGS)
    lake.run("model", "add", "broken", "ops.models.smallcnn:SmallCNN", *SETTINGS)
    entry = tmp_path / "lake" / "models" / "broken.json"
    stated = json.loads(entry.read_text())
    stated["weights"]["sha256"] = "0" * 64
    entry.write_text(json.dumps(stated))
    answer = lake.run("run", "everything", ok=False)
    assert answer.returncode == 1
    root = open_root(lake.root)
    sealed = sealed_datasets(root)
    assert "imagenet_a/clean" in sealed
    assert "imagenet_1k/val" in sealed
    assert "imagenet_o/clean" not in sealed
    with connect(root) as connection:
        models = connection.sql("SELECT DISTINCT model, benchmark FROM leaderboard").fetchall()
    assert ("tiny", "imagenet_a") in models
    assert "broken" not in {model for model, _ in models}
    assert "imagenet_o" in answer.stdout
