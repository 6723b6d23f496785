"""pm-k of a thousand models on 22,179 frames, from stored rows, in DuckDB on 2 cores.

The rows are made up and written by the writer of evaluations: 1,109 sets in the sizes of
ImageNet-Vid-Robust, errors that come and go over time, a file a shard and model. What is timed is
the macro ``pmk_at(10)`` over all of them, beside the same query with polars over the same files;
both must find the same counts. Files are measured as evaluation leaves them and as compaction
merges them, each in a process of its own. Everything is made in a temporary folder, or kept in
FOLDER.

    python -m benchmarks.pm_k_sql --models 1000
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.leaderboard_lake import entries, manifest_of, record_of
from benchmarks.report import show, write
from ops.inference.parquet import write_rows
from ops.inference.plan import plan_key
from ops.inference.record import Numerics
from ops.inference.schema import PREDICTIONS
from ops.models import ModelEntry
from ops.shards import Manifest
from ops.storage import open_root, paths

CORES = 2
DATASET = "imagenet_vid_robust/clean"
SETS, FRAMES = 1_109, 22_179
Columns = dict[str, Any]


def frame_sets() -> Columns:
    """1,109 sets of 22,179 frames: 889 full, one without a neighbour, the others cut or holed."""
    rng = np.random.default_rng(0)
    sizes = np.full(SETS, 20)
    some = rng.permutation(SETS)[: SETS - 889]
    sizes[some] = 19
    sizes[some[0]] = 0
    # What is left to take away, a frame at a time from sets that are not full.
    for i in rng.choice(some[1:], int(sizes.sum()) - (FRAMES - SETS), replace=True):
        sizes[i] = max(sizes[i] - 1, 1)
    while (over := int(sizes.sum()) - (FRAMES - SETS)) > 0:
        sizes[some[1 : 1 + over]] = np.maximum(sizes[some[1 : 1 + over]] - 1, 1)
    beside = [d for d in range(-10, 11) if d]
    names, offsets, keys = [], [], []
    for i, size in enumerate(sizes):
        anchor = 20 + int(rng.integers(0, 400))
        video = f"ILSVRC2015_val_{i:08d}"
        for offset in sorted([0, *rng.choice(beside, size, replace=False)]):
            names.append(f"{video}/{anchor:06d}")
            keys.append(f"{video}/{anchor + offset:06d}")
            offsets.append(offset)
    return {
        "sample_key": pa.array(keys),
        "source_key": pa.array([name.partition("/")[0] for name in names]),
        "frame_set": pa.array(names),
        "frame_offset": pa.array(offsets, pa.int16()),
    }


def make(folder: Path, models: int) -> int:
    """Make the lake; return how many rows it has."""
    root = open_root(folder)
    manifest = manifest_of(DATASET, FRAMES, {})
    root.write_json(paths.manifest(DATASET), manifest.model_dump(mode="json"))
    frames = frame_sets()
    tasks = [
        (str(folder), number, entry, manifest, frames)
        for number, entry in enumerate(entries(models))
    ]
    with get_context("spawn").Pool(CORES) as pool:
        return sum(pool.imap_unordered(_made, tasks, chunksize=8))


def _made(task: tuple[str, int, ModelEntry, Manifest, Columns]) -> int:
    folder, number, entry, manifest, frames = task
    root = open_root(folder)
    root.write_json(paths.model(entry.name), entry.model_dump(mode="json"))
    numerics = Numerics(dtype=entry.precision, device="cuda")
    key = plan_key(entry, manifest, numerics)
    n = len(frames["sample_key"])
    if root.exists(paths.run_record(entry.name, manifest.name, key)):
        return n
    constant = {
        "run_id": key,
        "model": entry.name,
        "benchmark": manifest.benchmark,
        "condition": manifest.condition,
        "dataset_version": manifest.version,
        "status": "ok",
    }
    columns = frames | _answers(number, frames)
    columns |= {name: pa.repeat(value, n) for name, value in constant.items()}
    files, start = [], 0
    for shard in manifest.shards:
        stop = start + shard.n_samples
        own = {name: values[start:stop] for name, values in columns.items()}
        own["shard"] = pa.repeat(shard.name, stop - start)
        table = pa.table(
            {
                field.name: own[field.name].cast(field.type)
                if field.name in own
                else pa.nulls(stop - start, field.type)
                for field in PREDICTIONS
            },
            schema=PREDICTIONS,
        )
        buffer = io.BytesIO()
        write_rows(table, buffer, {b"shiftlake.rows": str(stop - start).encode()})
        data, name = buffer.getvalue(), shard.name.replace(".tar", ".parquet")
        root.write_bytes(f"{paths.run(entry.name, manifest.name, key)}/{name}", data, durable=False)
        digest = hashlib.sha256(data).hexdigest()
        files.append({"name": name, "rows": stop - start, "sha256": digest, "bytes": len(data)})
        start = stop
    record = record_of(entry, manifest, numerics, key, files)
    root.write_json(paths.run_record(entry.name, manifest.name, key), record)
    return n


def _answers(number: int, frames: Columns) -> Columns:
    """Answers whose errors last some frames, with as many digits as real ones have."""
    rng = np.random.default_rng(number)
    which = frames["frame_set"].dictionary_encode().indices.to_numpy()
    n = len(which)
    skill = rng.normal(0.8 + number % 50 / 100, 1.0, which.max() + 1)
    # A walk over time, started anew for each set: neighbours tend to fail together.
    drift = np.cumsum(rng.normal(0, 0.25, n))
    drift -= drift[np.unique(which, return_index=True)[1]][which]
    right = skill[which] + drift + rng.normal(0, 0.2, n) > 0
    labels = (which % 30).astype(np.int16)
    top5 = ((labels[:, None] + np.arange(5) + ~right[:, None]) % 30).astype(np.int16)
    logits = -np.sort(-rng.normal(8, 3, (n, 5)).astype(np.float32), axis=1)
    lists = np.arange(0, 5 * n + 1, 5, dtype=np.int32)
    return {
        "labels": pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32), labels),
        "pred": pa.array(top5[:, 0]),
        "top5_idx": pa.ListArray.from_arrays(lists, top5.ravel()),
        "top5_logit": pa.ListArray.from_arrays(lists, logits.ravel()),
        "p_max": pa.array(rng.random(n).astype(np.float32)),
        "logsumexp": pa.array(logits[:, 0] + rng.random(n).astype(np.float32)),
        "entropy": pa.array(rng.random(n).astype(np.float32)),
        "rank_of_label": pa.array((1 + ~right).astype(np.int16)),
        "correct": pa.array(right),
        "correct5": pa.array(np.ones(n, bool)),
    }


def shiftlake(folder: str) -> dict[str, Any]:
    from ops.results.connection import connect

    start = time.perf_counter()
    connection = connect(folder, memory_limit="4GB", threads=CORES)
    connected, busy = time.perf_counter(), time.process_time()
    rows = connection.execute(
        f"SELECT model, n, pm0_right, pmk_right FROM pmk_at(10) "
        f"WHERE benchmark = '{DATASET.partition('/')[0]}' ORDER BY model"
    ).fetchall()
    return {
        "connect_s": connected - start,
        "query_s": time.perf_counter() - connected,
        "query_cpu_s": time.process_time() - busy,
        "found": [list(row) for row in rows],
    }


def polars(folder: str) -> dict[str, Any]:
    import polars as pl

    start = time.perf_counter()
    merged = Path(folder) / "compacted"
    # Merged rows lie in folders, and beside these an index.
    base = merged if merged.exists() else Path(folder) / "predictions"
    files = sorted(base.glob("*/**/*.parquet"))
    connected, busy = time.perf_counter(), time.process_time()
    rows = (
        pl.scan_parquet(files)
        .filter(pl.col("frame_offset").abs() <= 10)
        .group_by("model", "frame_set")
        .agg(
            pl.col("correct").filter(pl.col("frame_offset") == 0).first().alias("alone"),
            pl.col("correct").all().alias("whole"),
        )
        .group_by("model")
        .agg(pl.len(), pl.col("alone").sum(), pl.col("whole").sum())
        .sort("model")
        .collect(engine="streaming")
        .rows()
    )
    return {
        "connect_s": connected - start,
        "query_s": time.perf_counter() - connected,
        "query_cpu_s": time.process_time() - busy,
        "found": [list(row) for row in rows],
    }


CONTENDERS: dict[str, Callable[[str], dict[str, Any]]] = {"shiftlake": shiftlake, "polars": polars}


def contend(name: str, folder: Path) -> dict[str, Any]:
    """Run one contender in its own process, on as many cores as the other."""
    code = (
        "import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2]); import runpy; "
        "runpy.run_module('benchmarks.pm_k_sql', run_name='__main__')"
    )
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        given = ["--contender", name, "--folder", str(folder), "--out", out.name]
        subprocess.run([sys.executable, "-c", code, *given], check=True)
        found: dict[str, Any] = json.load(out)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contender", choices=CONTENDERS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.contender:
        given.out.write_text(json.dumps(CONTENDERS[given.contender](str(given.folder))))
        return
    if given.folder:
        measure(given.folder, given.models, given.repeats)
        return
    with tempfile.TemporaryDirectory(prefix="shiftlake-pmk-") as folder:
        measure(Path(folder), given.models, given.repeats)


def measure(folder: Path, models: int, repeats: int) -> None:
    """Make the rows, and time everyone."""
    from ops.results.compaction import compact

    start = time.perf_counter()
    rows = make(folder, models)
    print(f"made {rows:,} rows in {time.perf_counter() - start:.0f} s", flush=True)
    files = len(list((folder / "predictions").rglob("*.parquet")))
    table, counts = [], set()
    # What an earlier run of this script merged is laid aside meanwhile.
    compacted, aside = folder / "compacted", folder / "compacted-aside"
    if compacted.exists():
        compacted.rename(aside)
    for merged in (False, True):
        if merged:
            if aside.exists():
                aside.rename(compacted)
            start = time.perf_counter()
            compact(folder)
            print(f"compacted in {time.perf_counter() - start:.0f} s", flush=True)
        for name in CONTENDERS:
            runs = [contend(name, folder) for _ in range(repeats)]
            print(name, merged, [round(run["query_s"], 2) for run in runs], flush=True)
            counts.add(json.dumps(runs[0].pop("found")))
            table.append(
                {"who": name, "files": "merged" if merged else f"{files:,}"}
                # Another program on these cores makes the wall clock, but not theirs, run on.
                | {
                    f"{what}, s": round(sorted(run[f"{key}_s"] for run in runs)[repeats // 2], 2)
                    for what, key in (
                        ("connect", "connect"),
                        ("query", "query"),
                        ("query, all cores", "query_cpu"),
                    )
                }
            )
    assert len(counts) == 1, "contenders disagree"
    show(f"pm-10 of {models:,} models, {rows:,} rows", table)
    write("pm_k_sql", {"models": models, "rows": rows, "files": files, "contenders": table})


if __name__ == "__main__":
    main()
