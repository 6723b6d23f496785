"""A process killed in the middle leaves only whole files, and the next one makes only the rest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from evaluation_parts import add_model, bytes_of, seal

from ops.catalog import Catalog
from ops.inference import evaluate, plan_key, plan_numerics
from ops.storage import Root, open_root, paths

NAME = "imagenetv2/matched_frequency"
HERE = Path(__file__).parent

# The real evaluation, slowed down between batches so that it can be caught half-way.
CHILD = f"""
import sys, time
from ops import catalog
from ops.inference import evaluate
from ops.storage import open_root
evaluate(open_root(sys.argv[1]), catalog.load(), "pooled", "{NAME}", batch_size=2, device="cpu",
         progress=lambda done, total: time.sleep(0.05))
"""


def test_killed_and_started_again(root: Root, catalog: Catalog, tmp_path: Path) -> None:
    manifest = seal(root, count=60, per_shard=6)
    entry = add_model(root)
    folder = paths.run("pooled", NAME, plan_key(entry, manifest, plan_numerics(entry, "cpu")))
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, root.url],
        env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}{os.pathsep}{HERE}"},
    )
    deadline = time.monotonic() + 60
    while len(root.list(folder)) < 3 and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    done = {path: root.local_path(path).stat().st_mtime_ns for path in root.list(folder)}
    assert 3 <= len(done) < 10
    assert not any(path.endswith("run.json") for path in done)

    computed: list[int] = []
    record = evaluate(
        root,
        catalog,
        "pooled",
        NAME,
        batch_size=2,
        device="cpu",
        progress=lambda images, _: computed.append(images),
    )
    assert record.n_seen == record.n_expected == 60
    assert computed[0] == 6 * len(done) + 2
    assert {path: root.local_path(path).stat().st_mtime_ns for path in done} == done

    fresh = open_root(tmp_path / "fresh")
    assert seal(fresh, count=60, per_shard=6).version == manifest.version
    add_model(fresh)
    whole = evaluate(fresh, catalog, "pooled", NAME, batch_size=2, device="cpu")
    assert whole.key == record.key
    assert bytes_of(fresh, whole) == bytes_of(root, record)
