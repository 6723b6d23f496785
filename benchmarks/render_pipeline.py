"""From a JPEG file to the 75 JPEG files of ImageNet-C: the whole pipeline, and how it scales.

The peers' pipelines decode and resize a photograph again for each output and save it as Pillow
does (quality 85, optimised), as their scripts do; Shiftlake's engine does it once for all.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.evaluation_input import cpu_seconds
from benchmarks.render_environment import Peer
from benchmarks.render_peer import timed
from benchmarks.report import show
from ops.corruptions import Key
from ops.corruptions.arguments import MODES, Mode
from ops.corruptions.encoding import encode_jpeg
from ops.corruptions.engine import corrupt_all, render
from ops.corruptions.names import BENCHMARK_CORRUPTIONS, SEVERITIES
from ops.pixels import decode, resize_and_crop

CONDITIONS = [(name, severity) for name in BENCHMARK_CORRUPTIONS for severity in SEVERITIES]
BARS = {"fast": 70.0, "scaling": 1.8}
REPEATS = 4
# Short rounds, many of them: some fall between what else the machine does.
IMAGES_PER_ROUND, ROUNDS = 16, 20
QUIET = 0.1


def rendered(file: bytes, mode: Mode = "fast") -> int:
    """Bytes of the 75 files made of one."""
    pixels = resize_and_crop(decode(file), 256, 224)
    return sum(len(data) for _, data in render(pixels, CONDITIONS, Key("photograph"), mode=mode))


def pipeline(files: Sequence[bytes], peers: dict[str, Peer], passes: int) -> dict[str, float]:
    """Measure and print CPU milliseconds for one source image, by side."""
    pixels = [resize_and_crop(decode(file), 256, 224) for file in files]
    key = Key("photograph")
    outputs = [[image for _, image in corrupt_all(each, CONDITIONS, key)] for each in pixels]
    sides: dict[str, Callable[[int], object]] = {
        mode: lambda i, mode=mode: rendered(files[i], mode) for mode in MODES
    }
    sides["decode and resize"] = lambda i: resize_and_crop(decode(files[i]), 256, 224)
    sides["encode"] = lambda i: [encode_jpeg(image) for image in outputs[i]]
    samples: dict[str, list[list[float]]] = {}
    for _ in range(passes):
        taken = {name: peer.pipeline(CONDITIONS) for name, peer in peers.items()}
        for side, call in sides.items():
            call(0)
            # A pass of a peer takes seconds, one of Shiftlake's less than others' interruptions.
            taken[side] = [[] for _ in files]
            for _ in range(REPEATS):
                for into, row in zip(taken[side], timed(call, len(files)), strict=True):
                    into.extend(row)
        for side, rows in taken.items():
            kept = samples.setdefault(side, [[] for _ in files])
            for into, row in zip(kept, rows, strict=True):
                into.extend(row)
    found = {k: statistics.fmean(map(statistics.median, rows)) for k, rows in samples.items()}
    show(
        "CPU ms from one 500 x 375 JPEG to its 75 JPEGs",
        [
            {"side": side, "ms": round(value, 1), "fast is": f"{value / found['fast']:.1f}x"}
            for side, value in found.items()
        ],
    )
    print(f"fast: {found['fast']:.1f} ms, bar {BARS['fast']:.0f}")
    return {side: round(value, 3) for side, value in found.items()}


def scaling(files: Sequence[bytes], patience: float) -> dict[str, Any]:
    """Measure and print outputs a second with one worker and two, wall clock.

    Each round waits until other programs rest, for so many seconds of patience in all.
    """
    until = time.monotonic() + patience
    work = [files[index % len(files)] for index in range(IMAGES_PER_ROUND)]
    rates: dict[str, list[float]] = {}
    others: dict[str, list[float]] = {}
    with (
        ThreadPoolExecutor(1) as thread,
        ThreadPoolExecutor(2) as threads,
        ProcessPoolExecutor(1, get_context("spawn")) as process,
        ProcessPoolExecutor(2, get_context("spawn")) as processes,
    ):
        pools = {
            "1 thread": thread,
            "2 threads": threads,
            "1 process": process,
            "2 processes": processes,
        }
        for pool in pools.values():
            list(pool.map(rendered, work))
        for _ in range(ROUNDS):
            while time.monotonic() < until and _used_by_others() > QUIET:
                time.sleep(0.5)
            for name, pool in pools.items():
                rate, busy = _rate(pool, work)
                rates.setdefault(name, []).append(rate)
                others.setdefault(name, []).append(busy)
    found: dict[str, Any] = {}
    for one, two in (("1 thread", "2 threads"), ("1 process", "2 processes")):
        quiet = [i for i in range(ROUNDS) if max(others[one][i], others[two][i]) < QUIET]
        kept = quiet or range(ROUNDS)
        found[two] = {
            # Whatever else runs here or beside this machine can only slow a round down.
            "best_ratio": round(max(rates[two]) / max(rates[one]), 2),
            "best": round(max(rates[two])),
            "best_of_one": round(max(rates[one])),
            "median_ratio": round(
                statistics.median(rates[two][i] / rates[one][i] for i in kept), 2
            ),
            "quiet_rounds": len(quiet),
        }
    show(
        f"Outputs a second from JPEG files, wall clock, {ROUNDS} rounds",
        [{"workers": name, **row} for name, row in found.items()],
    )
    print(
        f"bar {BARS['scaling']}; the median ratio is that of rounds with others below {QUIET} cores"
    )
    rounded = {name: [round(rate) for rate in values] for name, values in rates.items()}
    return {
        **found,
        "rounds": rounded,
        "cores_used_by_others": {k: [round(value, 2) for value in v] for k, v in others.items()},
    }


def _rate(pool: Executor, work: Sequence[bytes]) -> tuple[float, float]:
    """Outputs a second, and the cores that other programs were using."""
    start, before = time.perf_counter(), _busy_seconds() - cpu_seconds()
    list(pool.map(rendered, work))
    wall, others = time.perf_counter() - start, _busy_seconds() - cpu_seconds() - before
    return len(work) * len(CONDITIONS) / wall, max(0.0, others / wall)


def _used_by_others() -> float:
    """Cores that other programs use just now."""
    before = _busy_seconds()
    time.sleep(0.3)
    return (_busy_seconds() - before) / 0.3


def _busy_seconds() -> float:
    """Seconds that all cores together have worked since the machine started."""
    user, nice, system, *_ = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")
