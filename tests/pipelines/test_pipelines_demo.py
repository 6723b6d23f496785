"""The demo, as the README's first command runs it, in a project folder of its own."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from lake_by_command import PROJECT

HARDER = ("imagenet_a", "imagenet_r", "imagenet_sketch")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copy(PROJECT / name, folder)
    return folder


def command(project, *words):
    environment = {name: value for name, value in os.environ.items() if "SHIFTLAKE" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *words],
        cwd=project,
        env={**environment, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_demo_answers_for_every_labelled_benchmark_and_then_has_nothing_to_do(project):
    first = command(project, "demo")
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]
    assert "synthetic" in first.stdout
    assert "lost goldfish" in first.stdout
    question = "SELECT * FROM leaderboard WHERE model NOT IN ('narrow_cnn', 'small_cnn_candidate')"
    answer = command(project, "sql", question, "--format", "json")
    rows = {(row["benchmark"], row["condition"]): row for row in json.loads(answer.stdout)}
    assert {benchmark for benchmark, _ in rows} == {
        *("imagenet_1k", "imagenetv2", "imagenet_sketch", "imagenet_a", "imagenet_o"),
        *("imagenet_r", "imagenet_real", "imagenet_c", "mini_imagenet_c"),
        *("imagenet_c_rendered", "mini_imagenet_c_rendered"),
        *("imagenet_p", "imagenet_p_rendered", "distorted_cifar_100"),
        *("imagenet_vid_robust", "ytbb_robust"),
        *("cifar_100", "caltech_101", "caltech_256", "sun_397"),
    }
    assert all(row["synthetic"] for row in rows.values())
    clean = rows["imagenet_1k", "val"]["value_pct"]
    assert clean >= 80
    for benchmark in HARDER:
        assert rows[benchmark, "clean"]["value_pct"] < clean - 10
    for row in rows.values():
        assert row["n"] > 0
        assert row["ci_lo_pct"] < row["ci_hi_pct"]
    started = time.monotonic()
    second = command(project, "demo")
    assert "Nothing to do" in second.stdout
    assert time.monotonic() - started < 30
