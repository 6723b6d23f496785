"""A review of the size of both published ones: ``python -m benchmarks.review_events``.

71,660 pairs, each judged by four reviewers. Timed are opening the review, in a process of its own,
and then one decision more: checked, written to disk, and all that follows from it. The same is
done without deciding anything, appending to one file and waiting for the disk, which is the least
that a decision on disk can cost.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import resource
import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.report import machine, show, write
from ops.shards.manifest import Manifest, histogram_hash
from ops.storage import open_root, paths
from ops.storage.journal import Journal
from ops.video.mining.tables import MINED_TABLES, SEAL
from ops.video.review import Event, Review

SOURCE, VERSION = "made", "0" * 16
REVIEWERS = ("anna", "ben", "cleo", "dan")
DECISIONS = 200


def keys_of(pairs: int) -> list[tuple[str, int]]:
    """Frame set and offset of every pair, twenty a set."""
    around = [offset for offset in range(-10, 11) if offset]
    return [(f"clip{n // 20:05d}/000010", around[n % 20]) for n in range(pairs)]


def make(folder: Path, pairs: int) -> int:
    """Make a mined source and its decisions; return how many there are."""
    root = open_root(folder)
    told = {"source": SOURCE, "mined_version": VERSION}
    keys = keys_of(pairs)
    keys += [(name, 0) for name in dict.fromkeys(name for name, _ in keys)]
    frames = [
        {
            **told,
            "sample_key": f"{name}/{10 + offset:06d}",
            "frame_set": name,
            "frame_offset": offset,
            "clip": name[:9],
            "video": name[:9],
            "labels": [3],
            "sha256": hashlib.sha256(f"{name}{offset}".encode()).hexdigest(),
        }
        for name, offset in keys
    ]
    scores = [
        {**row, "suspicion": int(str(row["sha256"])[:4], 16) / 0xFFFF, "suggested": "motion"}
        for row in frames
        if row["frame_offset"]
    ]
    seals = {}
    for table, rows in (("frames", frames), ("pairs", scores)):
        data = io.BytesIO()
        schema = MINED_TABLES[table]
        known = [{name: row.get(name) for name in schema.names} for row in rows]
        pq.write_table(pa.Table.from_pylist(known, schema), data)
        root.write_bytes(paths.mined(SOURCE, VERSION, f"{table}.parquet"), data.getvalue())
        seals[table] = {"sha256": hashlib.sha256(data.getvalue()).hexdigest(), "rows": len(rows)}
    root.write_json(paths.mined(SOURCE, VERSION, SEAL), {"tables": seals})
    manifest = Manifest(
        name=f"frame_sets/{SOURCE}",
        benchmark="frame_sets",
        condition=SOURCE,
        version=VERSION,
        n_samples=0,
        n_failed=0,
        failed=(),
        n_classes=0,
        class_count_min=0,
        class_count_max=0,
        label_space="imagenet_vid30",
        label_histogram_sha256=histogram_hash({}),
        mask=None,
        ignored={},
        sources=(),
        parameters={},
        licence=None,
        synthetic=True,
        shards=(),
    )
    root.write_json(paths.manifest(manifest.name), manifest.model_dump(mode="json"))
    records = []
    for name in REVIEWERS:
        for row in scores:
            draw = hashlib.sha256(f"{name}{row['sample_key']}".encode()).hexdigest()
            similar = int(draw[:2], 16) < 0.81 * 256
            records.append(
                {
                    "id": draw[:32],
                    "kind": "pair",
                    "reviewer": name,
                    "at": f"2024-01-01T00:{len(records) // 60_000:02d}:00.{len(records):06d}Z",
                    "mined_version": VERSION,
                    "subject": row["sample_key"],
                    "verdict": "similar" if similar else "dissimilar",
                    "reasons": [] if similar else ["blur"],
                    "ms_spent": 1_800,
                    "tool_version": "1",
                }
            )
    Journal(root, paths.review_events(SOURCE, VERSION)).append(records)
    return len(records)


def review(folder: Path) -> dict[str, Any]:
    """Open the review and decide a little more."""
    root = open_root(folder)
    start, cpu = time.perf_counter(), time.process_time()
    opened = Review.open(root, SOURCE)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    spent = []
    for n, item in enumerate(opened.pairs[:DECISIONS]):
        event = Event(
            id=f"{n:032x}",
            kind="pair",
            reviewer=REVIEWERS[n % 4],
            mined_version=VERSION,
            subject=item.sample_key,
            verdict="unsure",
        )
        start, used = time.perf_counter(), time.process_time()
        opened.record([event])
        spent.append((time.perf_counter() - start, time.process_time() - used))
    return {
        "decisions": opened.n_events - DECISIONS,
        "open s": round(seconds, 2),
        "open CPU s": round(cpu, 2),
        "record ms (median)": round(1e3 * statistics.median(wall for wall, _ in spent), 2),
        "record CPU ms": round(1e3 * statistics.mean(used for _, used in spent), 2),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def least_ms(folder: Path) -> float:
    """Median milliseconds to append a line and wait for the disk."""
    spent = []
    with (folder / "lines").open("ab") as file:
        for _ in range(DECISIONS):
            start = time.perf_counter()
            file.write(b"x" * 299 + b"\n")
            file.flush()
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - start)
    return round(1e3 * statistics.median(spent), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[26_029, 71_660])
    rows = []
    for pairs in parser.parse_args().pairs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # A process each: memory is measured from its start.
            with get_context("spawn").Pool(1) as pool:
                pool.apply(make, (folder / "lake", pairs))
            with get_context("spawn").Pool(1) as pool:
                found = pool.apply(review, (folder / "lake",))
            rows.append({"pairs": pairs, **found, "append + fsync ms": least_ms(folder)})
    show("a review by four people", rows)
    write("review_events", {"machine": machine(), "reviewers": len(REVIEWERS), "rows": rows})


if __name__ == "__main__":
    main()
