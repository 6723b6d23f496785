"""How long opening a lake of many models takes, before and after compaction.

Every model has 118 sealed runs, as a whole suite gives, each with one tiny file: what is measured
is how many there are, not their rows. Everything is in the page cache.

    python -m benchmarks.leaderboard_connect --models 1000
"""

from __future__ import annotations

import argparse
import hashlib
import io
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.leaderboard_lake import entries, manifest_of, record_of
from benchmarks.report import show, write
from ops.catalog import load
from ops.inference.parquet import write_rows
from ops.inference.plan import plan_key
from ops.inference.record import Numerics
from ops.inference.schema import PREDICTIONS
from ops.results.compaction import compact
from ops.results.connection import connect
from ops.storage import Root, open_root, paths

RUNS = 118
ROWS = 4
QUESTIONS = {
    "runs": "SELECT count(*) FROM runs WHERE NOT stale",
    "status": "SELECT count(*) FROM status WHERE state = 'done'",
    "rows of a model": "SELECT count_if(correct) FROM predictions WHERE model = 'synthetic_0'",
}


def make(root: Root, models: int) -> None:
    """Seal 118 runs of each model, with the same few rows in each."""
    rows = [{"sample_key": f"{i}", "correct": True, "status": "ok"} for i in range(ROWS)]
    buffer = io.BytesIO()
    write_rows(pa.Table.from_pylist(rows, PREDICTIONS), buffer)
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    files = [{"name": "part.parquet", "rows": ROWS, "sha256": digest, "bytes": len(data)}]
    known = load().datasets.items()
    names = [n for n, spec in known if spec.evaluate and spec.label_space == "ilsvrc1000"][:RUNS]
    manifests = [manifest_of(name, ROWS, {}) for name in names]
    for manifest in manifests:
        seal = manifest.model_dump(mode="json")
        root.write_json(paths.manifest(manifest.name), seal, durable=False)
    numerics = Numerics(dtype="fp32", device="cuda")
    for entry in entries(models):
        root.write_json(paths.model(entry.name), entry.model_dump(mode="json"), durable=False)
        for manifest in manifests:
            key = plan_key(entry, manifest, numerics)
            folder = paths.run(entry.name, manifest.name, key)
            root.write_bytes(f"{folder}/part.parquet", data, durable=False)
            record = record_of(entry, manifest, numerics, key, files)
            root.write_json(f"{folder}/run.json", record, durable=False)


def measure(root: Root, repeats: int) -> dict[str, Any]:
    """Median seconds to connect, and of each question on a connection that was asked nothing."""
    found: dict[str, list[float]] = {"connect": [], **{name: [] for name in QUESTIONS}}
    for name, question in QUESTIONS.items():
        for _ in range(repeats):
            connection, seconds = _timed(lambda: connect(root, threads=2))
            found["connect"].append(seconds)
            answer, seconds = _timed(lambda c=connection, q=question: c.execute(q).fetchall())
            assert answer[0][0] > 0, name
            found[name].append(seconds)
            connection.close()
    return {f"{name}, s": round(statistics.median(times), 2) for name, times in found.items()}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="shiftlake-connect-"))
    try:
        root = open_root(folder)
        _, making = _timed(lambda: make(root, given.models))
        sealed = measure(root, 1)
        done, compacting = _timed(lambda: compact(root))
        assert done.runs == given.models * RUNS, done
        again = measure(root, given.repeats)
        _, nothing_new = _timed(lambda: compact(root))
    finally:
        shutil.rmtree(folder)
    table = [{"lake": "as sealed"} | sealed, {"lake": "compacted"} | again]
    show(f"{given.models:,} models, {RUNS} runs each", table)
    found = {"models": given.models, "runs_of_each": RUNS, "lakes": table}
    found |= {"compaction_s": round(compacting, 1), "again_s": round(nothing_new, 1)}
    print(f"made in {making:.0f} s, compacted in {compacting:.1f} s, again {nothing_new:.1f} s")
    write("leaderboard_connect", found)


if __name__ == "__main__":
    main()
