"""Processes that are killed, or that meet: what they leave is whole, and the same in the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation_parts import add_model, seal
from test_inference_sequences import seal_sequences, sequences

from ops.catalog import Catalog
from ops.inference import RunRecord, evaluate, plan_key, plan_numerics
from ops.perturbations import video
from ops.shards import Manifest
from ops.storage import Root, open_root, paths

IMAGES = "imagenetv2/matched_frequency"
HERE = Path(__file__).parent

# The real evaluation, slowed down between batches so that it can be caught half-way.
CHILD = """
import sys, time
from ops import catalog
from ops.inference import evaluate
from ops.storage import open_root
_, root, dataset, logits = sys.argv
known = catalog.load()
print("ready", flush=True)
sys.stdin.readline()
computed = []
def slowly(done, total):
    computed.append(done)
    time.sleep(0.05)
evaluate(open_root(root), known, "pooled", dataset, batch_size=2, device="cpu",
         logits=logits == "True", progress=slowly)
print(len(computed))
"""


def child(root: Root, dataset: str, logits: bool) -> subprocess.Popen[str]:
    """A process that evaluates once it is told to."""
    started = subprocess.Popen(
        [sys.executable, "-c", CHILD, root.url, dataset, str(logits)],
        env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}{os.pathsep}{HERE}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def go(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()


def images(root: Root) -> Manifest:
    return seal(root, IMAGES, count=60, per_shard=6)


def videos(root: Root) -> Manifest:
    made = [video.encode(each) for each in sequences(10, side=32)]
    return seal_sequences(root, made, per_shard=1)


def published(root: Root, record: RunRecord) -> dict[str, bytes]:
    """Every file of an evaluation but its record, which tells when it was made."""
    folder = paths.run(record.model, record.dataset, record.key)
    return {
        path.removeprefix(folder): root.read_bytes(path)
        for path in root.list(folder)
        if not path.endswith("run.json")
    }


@pytest.mark.parametrize(("make", "logits"), [(images, False), (videos, True)])
def test_killed_and_started_again(
    root: Root,
    catalog: Catalog,
    tmp_path: Path,
    make: Callable[[Root], Manifest],
    logits: bool,
) -> None:
    manifest = make(root)
    entry = add_model(root)
    name, key = manifest.name, plan_key(entry, manifest, plan_numerics(entry, "cpu"))
    folder = paths.run("pooled", name, key)
    running = child(root, name, logits)
    go(running)
    deadline = time.monotonic() + 60
    while len(root.list(folder)) < 3 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    left = root.list(folder)
    assert 3 <= len(left) < len(manifest.shards) * (2 if logits else 1)
    assert not any(path.endswith("run.json") for path in left)
    # A shard is finished once all that was asked for is there.
    done = [path for path in left if path.count("/") == folder.count("/") + 1]
    if logits:
        done = [path for path in done if path.replace(key, f"{key}/logits") in left]
    before = {path: root.local_path(path).stat().st_mtime_ns for path in done}

    rows_a_shard = manifest.shards[0].n_samples * (manifest.parameters.get("frames") or 1)
    computed: list[int] = []
    record = evaluate(
        root,
        catalog,
        "pooled",
        name,
        batch_size=2,
        device="cpu",
        logits=logits,
        progress=lambda images, _: computed.append(images),
    )
    assert record.n_seen == record.n_expected == rows_a_shard * 10
    assert rows_a_shard * len(done) < computed[0] <= rows_a_shard * (len(done) + 1)
    assert {path: root.local_path(path).stat().st_mtime_ns for path in done} == before

    fresh = open_root(tmp_path / "fresh")
    assert make(fresh).version == manifest.version
    add_model(fresh)
    whole = evaluate(fresh, catalog, "pooled", name, batch_size=2, device="cpu", logits=logits)
    assert (whole.key, whole.files, whole.logit_files) == (
        record.key,
        record.files,
        record.logit_files,
    )
    assert published(fresh, whole) == published(root, record)


def test_two_processes_on_one_cell_both_finish_with_the_bytes_of_one(
    root: Root, catalog: Catalog, tmp_path: Path
) -> None:
    images(root)
    entry = add_model(root)
    other = child(root, IMAGES, True)
    met: list[int] = []

    def slowly(done: int, total: int) -> None:
        met.append(done)
        time.sleep(0.05)

    go(other)
    again = evaluate(
        root,
        catalog,
        "pooled",
        IMAGES,
        batch_size=2,
        device="cpu",
        logits=True,
        progress=slowly,
    )
    computed = other.communicate(timeout=120)[0]
    assert other.returncode == 0
    # They did meet: each computed most of it.
    assert min(len(met), int(computed)) > 15

    fresh = open_root(tmp_path / "fresh")
    manifest = images(fresh)
    add_model(fresh)
    alone = evaluate(fresh, catalog, "pooled", IMAGES, batch_size=2, device="cpu", logits=True)
    assert alone.key == plan_key(entry, manifest, plan_numerics(entry, "cpu"))
    assert (again.files, again.logit_files) == (alone.files, alone.logit_files)
    assert published(root, again) == published(fresh, alone)
