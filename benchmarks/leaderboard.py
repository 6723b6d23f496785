"""The leaderboard from 100 million synthetic rows, on 2 cores, beside pandas and polars.

Everyone reads the same Parquet files, each in a process of its own, and must find the same
numbers: top-1 and top-5 of every model on every dataset with mCE from them, and the flip
probability of every model on every perturbation. Our numbers come from the views anyone asks in
SQL, never from the stored table of metrics. Files are measured as a model writes them, one a shard,
and as compaction merges them, which computing metrics begins with. The rows are made up, see
:mod:`benchmarks.leaderboard_lake`; they are kept in FOLDER, so that they are made once.

    python -m benchmarks.leaderboard --folder /tmp/lake100m --models 5
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import show, write

CORES = 2
TITLE = "Leaderboard over synthetic rows"
# By model, benchmark and condition.
Cells = dict[str, dict[str, Any]]


def shiftlake(folder: str) -> dict[str, Any]:
    from ops.metrics.corruption import alexnet_errors, corruptions_15
    from ops.results.connection import connect

    found, clock = {}, _Clock()
    connection = connect(folder, memory_limit="4GB", threads=CORES)
    found["connect_s"] = clock()
    cells = connection.execute(
        """
        SELECT model || ' ' || benchmark || '/' || condition, count(*), count_if(correct),
            count_if(correct5)
        FROM predictions GROUP BY model, benchmark, condition
        """
    ).fetchall()
    found["top1"] = {name: [n, k, k5] for name, n, k, k5 in cells}
    over = ", ".join(f"('{name}', {alexnet_errors().mean[name]})" for name in corruptions_15())
    found["mce"] = dict(
        connection.execute(
            f"""
            WITH errors AS (
                SELECT model, split_part(condition, '/', 1) AS corruption, avg(1 - value) AS error
                FROM accuracy
                WHERE benchmark = 'imagenet_c' AND metric = 'top1' AND variant = 'unmasked'
                GROUP BY ALL
            )
            SELECT model, 100 * avg(error / alexnet)
            FROM errors JOIN (VALUES {over}) AS a (corruption, alexnet) USING (corruption)
            GROUP BY model
            """
        ).fetchall()
    )
    found["leaderboard_s"] = clock()
    found["leaderboard_gib"] = _peak()
    found["flips"] = dict(
        connection.execute(
            """
            SELECT model || ' ' || condition, avg(flips / pairs) FROM flips
            GROUP BY model, condition
            """
        ).fetchall()
    )
    found["flips_s"] = clock()
    return found


def pandas(folder: str) -> dict[str, Any]:
    import pandas as pd
    import pyarrow as pa

    pa.set_cpu_count(CORES)
    found, clock = {}, _Clock()
    runs = _runs(folder)
    found["connect_s"] = clock()
    found["top1"] = {}
    for (model, dataset), files in runs.items():
        rows = pd.read_parquet(files, columns=["correct", "correct5"])
        k, k5 = rows["correct"].sum(), rows["correct5"].sum()
        found["top1"][f"{model} {dataset}"] = [len(rows), int(k), int(k5)]
    found["mce"] = _mce(found["top1"])
    found["leaderboard_s"] = clock()
    found["leaderboard_gib"] = _peak()
    found["flips"] = {}
    for (model, dataset), files in runs.items():
        benchmark, _, condition = dataset.partition("/")
        if benchmark == "imagenet_p":
            rows = pd.read_parquet(files, columns=["frame_set", "flipped"])
            rows["flipped"] = rows["flipped"].astype("boolean")
            of = rows.groupby("frame_set", sort=False)["flipped"].agg(["sum", "count"])
            found["flips"][f"{model} {condition}"] = float((of["sum"] / of["count"]).mean())
    found["flips_s"] = clock()
    return found


def polars(folder: str) -> dict[str, Any]:
    import polars as pl

    found, clock = {}, _Clock()
    runs = _runs(folder)
    found["connect_s"] = clock()
    names = ["model", "benchmark", "condition"]
    every = [file for files in runs.values() for file in files]
    cells = (
        pl.scan_parquet(every)
        .group_by(names)
        .agg(pl.len(), pl.col("correct").sum(), pl.col("correct5").sum())
        .collect(engine="streaming")
    )
    found["top1"] = {f"{m} {b}/{c}": [n, k, k5] for m, b, c, n, k, k5 in cells.rows()}
    found["mce"] = _mce(found["top1"])
    found["leaderboard_s"] = clock()
    found["leaderboard_gib"] = _peak()
    sequences = [f for (_, name), files in runs.items() if "imagenet_p/" in name for f in files]
    flips = (
        pl.scan_parquet(sequences)
        .group_by("model", "condition", "frame_set")
        .agg(pl.col("flipped").mean())
        .group_by("model", "condition")
        .agg(pl.col("flipped").mean())
        .collect(engine="streaming")
    )
    found["flips"] = {f"{model} {condition}": value for model, condition, value in flips.rows()}
    found["flips_s"] = clock()
    return found


CONTENDERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "shiftlake": shiftlake,
    "pandas": pandas,
    "polars": polars,
}


class _Clock:
    """Seconds since the last call: on the wall, and of all cores together."""

    def __init__(self) -> None:
        self._last = time.perf_counter(), time.process_time()

    def __call__(self) -> tuple[float, float]:
        now = time.perf_counter(), time.process_time()
        passed = now[0] - self._last[0], now[1] - self._last[1]
        self._last = now
        return passed


def _peak() -> float:
    """Most memory this process has held, in GiB; what forked it does not count."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / (1 << 20)


def _runs(folder: str) -> dict[tuple[str, str], list[str]]:
    """Files of every run; merged ones where the lake has them and they are asked for."""
    merged = bool(os.environ.get("MERGED"))
    runs = defaultdict(list)
    base = Path(folder) / ("compacted" if merged else "predictions")
    for file in sorted(base.glob("*/**/*.parquet")):
        model, *dataset = file.relative_to(base).parts[: -1 if merged else -2]
        runs[model, "/".join(dataset)].append(str(file))
    return dict(runs)


def _mce(top1: dict[str, list[int]]) -> dict[str, float]:
    from ops.metrics.corruption import alexnet_errors, corruptions_15

    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, (n, k, _) in top1.items():
        model, _, dataset = name.partition(" ")
        benchmark, corruption, *_ = dataset.split("/")
        if benchmark == "imagenet_c":
            errors[model, corruption].append(1 - k / n)
    mean = alexnet_errors().mean
    return {
        model: 100
        * float(np.mean([np.mean(errors[model, name]) / mean[name] for name in corruptions_15()]))
        for model in {model for model, _ in errors}
    }


def contend(name: str, folder: Path, merged: bool) -> dict[str, Any]:
    """Run one contender in its own process, on as many cores as all others."""
    environment = os.environ | {"POLARS_MAX_THREADS": str(CORES), "OMP_NUM_THREADS": str(CORES)}
    environment |= {"MERGED": "1" if merged else ""}
    code = "import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        command = ["--contender", name, "--folder", str(folder), "--out", out.name]
        run = (
            f"{code}; import runpy; runpy.run_module('benchmarks.leaderboard', run_name='__main__')"
        )
        subprocess.run([sys.executable, "-c", run, *command], check=True, env=environment)
        found: dict[str, Any] = json.load(out)
    return found


def same(found: dict[str, dict[str, Any]]) -> None:
    """Refuse numbers that differ between contenders."""
    first = next(iter(found.values()))
    for name, other in found.items():
        assert other["top1"] == first["top1"], f"{name}: another leaderboard"
        for what in ("mce", "flips"):
            assert other[what].keys() == first[what].keys(), f"{name}: other {what}"
            for key, value in first[what].items():
                assert abs(other[what][key] - value) < 1e-9, f"{name}: {what} of {key}"


def warm(folder: Path) -> None:
    """Bring all files into the page cache, for everyone."""
    for file in folder.rglob("*.parquet"):
        file.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lake100m")
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contender", choices=CONTENDERS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.contender:
        found = CONTENDERS[given.contender](str(given.folder))
        found["peak_gib"] = _peak()
        given.out.write_text(json.dumps(found))
        return
    from benchmarks.leaderboard_lake import make
    from ops.results.compaction import compact

    rows = make(given.folder, given.models, given.images)
    shards = list((given.folder / "predictions").rglob("*.parquet"))
    size = sum(file.stat().st_size for file in shards)
    # What an earlier run of this script merged is laid aside meanwhile, and not made again.
    merged_files, aside = given.folder / "compacted", given.folder.with_name("compacted-aside")
    if merged_files.exists():
        merged_files.rename(aside)
    table, cpu, every = [], [], {}
    for merged in (False, True):
        if merged:
            if aside.exists():
                aside.rename(merged_files)
            start = time.perf_counter()
            done = compact(given.folder)
            compacted = {
                "seconds": round(time.perf_counter() - start, 1),
                "merged_runs": done.merged,
                "files": done.files,
                "bytes_a_row": round(done.bytes / rows, 1),
            }
        warm(given.folder / ("compacted" if merged else "predictions"))
        files = "merged" if merged else "a shard each"
        for name in CONTENDERS:
            runs = [contend(name, given.folder, merged) for _ in range(given.repeats)]
            every[f"{name}, {files}"] = runs[0]
            times = {
                key: sorted(run[f"{key}_s"] for run in runs)[len(runs) // 2]
                for key in ("connect", "leaderboard", "flips")
            }
            # Another program on the same cores makes the wall clock, but not this, run on.
            busy = {f"{key}_cpu_s": round(cpu, 2) for key, (_, cpu) in times.items()}
            table.append(
                {"who": name, "files": files}
                | {f"{key}, s": round(wall, 2) for key, (wall, _) in times.items()}
                | {
                    "peak, GiB": round(max(r["leaderboard_gib"] for r in runs), 2),
                    "with flips, GiB": round(max(r["peak_gib"] for r in runs), 2),
                }
            )
            cpu.append({"who": name, "files": files} | busy)
    same(every)
    show(f"{TITLE}: {rows:,} rows, {len(shards):,} files, {size / rows:.1f} bytes a row", table)
    found = {"rows": rows, "files": len(shards), "bytes_a_row": round(size / rows, 2)}
    write("leaderboard", found | {"compaction": compacted, "contenders": table, "cpu": cpu})


if __name__ == "__main__":
    main()
