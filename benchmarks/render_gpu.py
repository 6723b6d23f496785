"""Corrupted images per second on one GPU, in memory: what evaluating on the fly can be fed with.

Every corruption at its five severities, on a batch that is already on the device and stays there;
once as corrupted and once as stored (with the JPEG round trip that a stored dataset has). Making
the keys' draws is part of it, from the keys' strings on. Before anything is timed each condition's
pixels are compared with the CPU's, sample by sample. The rate of a corruption is that of its five
severities one after the other; the average over the 15 of the benchmark is that of all 75.

    python -m benchmarks.render_gpu [--images 2048] [--rounds 5] [--device cuda]

Without a CUDA device it says so and measures nothing, unless ``--device cpu`` is asked for.
"""

from __future__ import annotations

import argparse
import statistics
import time
from importlib.metadata import version
from typing import Any

import torch

from benchmarks.report import machine, show, write
from ops.corruptions import BENCHMARK_CORRUPTIONS, CORRUPTIONS, SEVERITIES
from ops.corruptions.batched import corrupt_batch

BAR = 30_000
COMPARED = 16
SIZE = 224


def pictures(count: int) -> torch.Tensor:
    """Shaded noise, uint8 of shape (count, 3, 224, 224): the work does not hang on the pixels."""
    generator = torch.Generator().manual_seed(0)
    coarse = torch.rand(count, 3, 8, 8, generator=generator)
    shades = torch.nn.functional.interpolate(coarse, size=(SIZE, SIZE), mode="bicubic")
    grain = torch.randn(count, 1, SIZE, SIZE, generator=generator)
    return (shades * 255 + grain * 12).clamp_(0, 255).to(torch.uint8)


def wait(device: torch.device) -> None:
    """Return when the device has nothing left to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def differing(images: torch.Tensor, keys: list[str], corruption: str, severity: int) -> float:
    """The fraction of samples in which the device's pixels are not the CPU's."""
    few = images[:COMPARED]
    here = corrupt_batch(few, corruption, severity, keys[:COMPARED]).cpu()
    there = corrupt_batch(few.cpu(), corruption, severity, keys[:COMPARED])
    return float((here != there).to(torch.float64).mean())


def seconds(
    images: torch.Tensor, keys: list[str], corruption: str, severity: int, stored: bool, rounds: int
) -> float:
    """Median time of a call on all images, after one that is not counted."""
    found = []
    for _ in range(rounds + 1):
        wait(images.device)
        started = time.perf_counter()
        corrupt_batch(images, corruption, severity, keys, stored=stored)
        wait(images.device)
        found.append(time.perf_counter() - started)
    return statistics.median(found[1:])


def measure(images: torch.Tensor, corruption: str, rounds: int) -> dict[str, Any]:
    """Rates and differences of one corruption."""
    keys = [f"image_{i:08d}" for i in range(len(images))]
    each = {
        stored: [seconds(images, keys, corruption, s, stored, rounds) for s in SEVERITIES]
        for stored in (False, True)
    }
    return {
        "corruption": corruption,
        "microseconds": [round(s / len(images) * 1e6, 2) for s in each[False]],
        "microseconds_stored": [round(s / len(images) * 1e6, 2) for s in each[True]],
        "differing": max(differing(images, keys, corruption, s) for s in SEVERITIES),
    }


def rate(rows: list[dict[str, Any]], column: str) -> float:
    """Images per second over all conditions of the rows."""
    spent = [microseconds for row in rows for microseconds in row[column]]
    return 1e6 * len(spent) / sum(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("There is no CUDA device here: nothing was measured.")
        return
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    images = pictures(arguments.images).to(device)
    rows = [measure(images, corruption, arguments.rounds) for corruption in CORRUPTIONS]
    show(
        f"Corrupted images/s in memory on {name}, {len(images)} images, {arguments.rounds} rounds",
        [
            {
                "corruption": row["corruption"],
                "images/s": round(rate([row], "microseconds")),
                "µs an image": round(1e6 / rate([row], "microseconds"), 1),
                "µs, stored": round(1e6 / rate([row], "microseconds_stored"), 1),
                "samples not the CPU's": f"{row['differing']:.1e}",
            }
            for row in rows
        ],
    )
    benchmark = [row for row in rows if row["corruption"] in BENCHMARK_CORRUPTIONS]
    plain, stored = (rate(benchmark, c) for c in ("microseconds", "microseconds_stored"))
    print(f"over the 15: {plain:,.0f} images/s, as stored {stored:,.0f}; bar {BAR:,} on a GPU")
    if device.type == "cuda":
        write(
            "render_gpu",
            {
                "what": "corrupted images per second in memory on one GPU",
                "bar": BAR,
                "images_per_second": round(plain),
                "images_per_second_stored": round(stored),
                "rows": rows,
                "device": name,
                "machine": machine(),
                "versions": {each: version(each) for each in ("torch", "numpy")},
            },
        )


if __name__ == "__main__":
    main()
