"""How rendering scales over two workers: outputs a second from JPEG files, wall clock.

One and two threads, one and two processes take turns in short rounds. Each round waits until other
programs rest, and says what they used; whatever runs here or beside this machine can only slow a
round down. Only Shiftlake is measured.

    python -m benchmarks.render_scaling [--rounds 20] [--patience 60]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.evaluation_input import cpu_seconds, photograph
from benchmarks.render_pipeline import CONDITIONS, rendered
from benchmarks.report import machine, show, write

BAR = 1.8
IMAGES_PER_ROUND = 16
# Of a core: below it, other programs count as resting.
QUIET = 0.1


def scaling(work: Sequence[bytes], rounds: int, patience: float) -> dict[str, Any]:
    """Measure and print outputs a second, waiting for so many seconds in all for others to rest."""
    until = time.monotonic() + patience
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
        for _ in range(rounds):
            while time.monotonic() < until and _used_by_others() > QUIET:
                time.sleep(0.5)
            for name, pool in pools.items():
                rate, busy = _rate(pool, work)
                rates.setdefault(name, []).append(rate)
                others.setdefault(name, []).append(busy)
    found: dict[str, Any] = {}
    for one, two in (("1 thread", "2 threads"), ("1 process", "2 processes")):
        quiet = [i for i in range(rounds) if max(others[one][i], others[two][i]) < QUIET]
        kept = quiet or range(rounds)
        found[two] = {
            "best_ratio": round(max(rates[two]) / max(rates[one]), 2),
            "best": round(max(rates[two])),
            "best_of_one": round(max(rates[one])),
            "median_ratio": round(
                statistics.median(rates[two][i] / rates[one][i] for i in kept), 2
            ),
            "quiet_rounds": len(quiet),
        }
    show(
        f"Outputs a second from JPEG files, wall clock, {rounds} rounds",
        [{"workers": name, **row} for name, row in found.items()],
    )
    print(f"bar {BAR}; the median ratio is that of rounds with others below {QUIET} cores")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for quiet")
    arguments = parser.parse_args()
    work = [photograph(index) for index in range(IMAGES_PER_ROUND)]
    found = scaling(work, arguments.rounds, arguments.patience)
    what = "ImageNet-C outputs a second from JPEG files, wall clock, by workers"
    write("render_scaling", {"what": what, "bar": BAR, "machine": machine(), **found})


if __name__ == "__main__":
    main()
