"""A whole evaluation on a CPU, from shards to published rows, beside two peers.

The peers are timm's validation loop and CLIP_benchmark's loader with its classification loop
(:mod:`benchmarks.evaluation_peers`), with the same weights, images, transform, batch size, worker
count and torch threads. The pixels of all three are compared before anything is timed: timm's as
8-bit pixels, CLIP_benchmark's as float32 inputs, image by image, bit by bit. Shiftlake's time is
that of `evaluate`, with the reading and hashing of shards and weights, a row of 26 columns for
every image, and its Parquet files; the peers' models are loaded and their workers warm before they
are timed. timm's loop stands there twice, the second time with its own option for channels last.
Rounds alternate between the sides; the median is reported, and CPU time beside it, which other load
on the machine moves less. The weights are random: the arithmetic is the same.

    python -m benchmarks.evaluation [--models ...] [--workers 2] [--threads 2] [--rounds 5]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.evaluation_input import DATASET, cpu_seconds, images_of, ours, store
from benchmarks.evaluation_peers import (
    clip_classify,
    clip_inputs,
    clip_loader,
    timm_loader,
    timm_pixels,
    timm_validate,
)
from benchmarks.report import machine, show, write
from benchmarks.torch_input import FOUND
from ops import catalog as catalogs
from ops.inference import evaluate
from ops.models import ModelEntry, Transform, load, register
from ops.shards import Manifest
from ops.storage import Root, paths

BAR = 1.3
BATCH_SIZE = 64
# timm's name, filter, and how many images a round has, so that a round takes some seconds.
MODELS = (
    ("mobilenetv3_small_050", "bicubic", 1536),
    ("mobilenetv3_small_050", "bilinear", 1536),
    ("resnet18", "bicubic", 512),
    ("resnet50", "bicubic", 256),
)
DIFFERENT = 256


def spent() -> float:
    """CPU seconds of this process, its workers, and those that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu_seconds() + ended.ru_utime + ended.ru_stime


def cycled(count: int) -> Any:
    """A few generated photographs again and again: the work does not hang on the pixels."""
    different = list(images_of(None, min(count, DIFFERENT)))
    return (different[index % len(different)] for index in range(count))


def evaluated(root: Root, name: str, workers: int) -> int:
    """One evaluation from nothing; the number of images."""
    record = evaluate(
        root,
        catalogs.load(),
        name,
        DATASET,
        batch_size=BATCH_SIZE,
        workers=workers,
        device="cpu",
    )
    return record.n_seen


def compared(root: Root, manifest: Manifest, files: Path, shards: list[Path], t: Transform) -> int:
    """The number of images; all three sides see the same pixels."""
    mine = (image for batch in ours(root, manifest, t, 1, False) for image in batch)
    count = 0
    theirs = timm_pixels(timm_loader(files, t, BATCH_SIZE, 1))
    for count, (left, right) in enumerate(zip(mine, theirs, strict=True), 1):
        if not torch.equal(left.permute(2, 0, 1), right):
            raise SystemExit(f"image {count - 1} differs from timm's")
    inputs = (image for batch in ours(root, manifest, t, 1, True) for image in batch)
    others = clip_inputs(clip_loader(shards, t, BATCH_SIZE, 0))
    for index, (left, right) in enumerate(zip(inputs, others, strict=True)):
        if not torch.equal(left, right):
            raise SystemExit(f"image {index} differs from CLIP_benchmark's")
    return count


def measure(
    folder: Path, reference: str, interpolation: str, count: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Speeds of all sides with one model."""
    # CLIP_benchmark's workers take a shard each: every one of them has something to do.
    per_shard = min(256, -(-count // options.workers))
    root, manifest, files = store(folder, cycled(count), per_shard)
    transform = Transform(interpolation=interpolation)
    torch.manual_seed(0)
    entry = register(
        root,
        ModelEntry(
            name=reference,
            kind="timm",
            reference=reference,
            kwargs={"pretrained": False},
            transform=transform,
        ),
    )
    shards = [root.local_path(paths.shard(DATASET, shard.name)) for shard in manifest.shards]
    same = compared(root, manifest, files, shards, transform)
    plain = load(root, entry)
    last = load(root, entry).to(memory_format=torch.channels_last)
    workers = options.workers
    loader = timm_loader(files, transform, BATCH_SIZE, workers)
    clip = clip_loader(shards, transform, BATCH_SIZE, workers)
    sides: dict[str, Callable[[], int]] = {
        "timm": partial(timm_validate, plain, loader, False),
        "timm_channels_last": partial(timm_validate, last, loader, True),
        "clip_benchmark": partial(clip_classify, plain, clip),
        "shiftlake": partial(evaluated, root, reference, workers),
    }
    found: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    # The first round warms everything up and is not counted.
    for counted in range(options.rounds + 1):
        for side, run in sides.items():
            shutil.rmtree(root.local_path("predictions"), ignore_errors=True)
            started, before = time.perf_counter(), spent()
            seen = run()
            rate = seen / (time.perf_counter() - started)
            if seen != count:
                raise SystemExit(f"{side} saw {seen} of {count} images")
            if counted:
                found[side].append((rate, (spent() - before) / seen * 1e3))
    speed = {side: statistics.median(rate for rate, _ in each) for side, each in found.items()}
    cpu = {side: statistics.median(ms for _, ms in each) for side, each in found.items()}
    return {
        "model": reference,
        "filter": interpolation,
        "images": count,
        "images_compared_identical": same,
        "images_per_second": {side: round(value, 1) for side, value in speed.items()},
        "cpu_ms_per_image": {side: round(value, 2) for side, value in cpu.items()},
        "rounds": {side: [round(rate, 1) for rate, _ in each] for side, each in found.items()},
        "ratio": {
            side: round(speed["shiftlake"] / value, 2)
            for side, value in speed.items()
            if side != "shiftlake"
        },
        "cpu_ratio": {
            side: round(value / cpu["shiftlake"], 2)
            for side, value in cpu.items()
            if side != "shiftlake"
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(dict.fromkeys(m[0] for m in MODELS)))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of images")
    options = parser.parse_args()
    if not FOUND or importlib.util.find_spec("timm") is None:
        print("The peers need torchvision and timm, which are not installed: nothing was measured.")
        return
    torch.set_num_threads(options.threads)
    rows = []
    for reference, interpolation, count in MODELS:
        if reference in options.models:
            with tempfile.TemporaryDirectory() as folder:
                images = max(BATCH_SIZE, round(count * options.scale))
                rows.append(measure(Path(folder), reference, interpolation, images, options))
            print(json.dumps(rows[-1]), flush=True)
    report(rows, options)


def report(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    sides = ("timm", "timm_channels_last", "clip_benchmark")
    show(
        f"Images/s from shards to rows, {options.workers} workers, {options.threads} threads",
        [
            {
                "model": row["model"].removesuffix("_050"),
                "filter": row["filter"],
                "timm": row["images_per_second"]["timm"],
                "timm, c.l.": row["images_per_second"]["timm_channels_last"],
                "CLIP_b.": row["images_per_second"]["clip_benchmark"],
                "Shiftlake": row["images_per_second"]["shiftlake"],
                "ratios": " ".join(f"{row['ratio'][side]:.2f}" for side in sides),
                "CPU ratios": " ".join(f"{row['cpu_ratio'][side]:.2f}" for side in sides),
            }
            for row in rows
        ],
    )
    lowest = min(min(row["ratio"]["timm"], row["ratio"]["clip_benchmark"]) for row in rows)
    print(f"pixels identical in every case; lowest ratio to a peer as it comes {lowest}, bar {BAR}")
    names = ("torch", "torchvision", "timm", "webdataset", "pillow", "numpy", "numba")
    write(
        "evaluation",
        {
            "what": "a whole evaluation on a CPU, from shards to published rows, random weights",
            "peers": "timm's validation loop, CLIP_benchmark's loader and loop",
            "bar": BAR,
            "batch_size": BATCH_SIZE,
            "workers": options.workers,
            "torch_threads": options.threads,
            "rows": rows,
            "machine": machine(),
            "versions": {name: version(name) for name in names},
        },
    )


if __name__ == "__main__":
    main()
