"""How long an interval of mCE takes: 50,000 photographs, 75 conditions, whole photographs drawn.

Every contestant has a process of its own, so that its peak memory is its own; they take turns.
Resampling all 75 errors gives the interval of every metric that is a function of them; resampling
one score a photograph gives that of mCE alone. The loops draw as they would without Shiftlake, so
bounds differ by the chance of the draws.

    python -m benchmarks.bootstrap [--runs 3] [--resamples 1000 10000]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import machine, show, write
from ops.metrics import (
    alexnet_errors,
    corruptions_15,
    mce_pct,
    percentile_interval,
    resampled_means,
)

IMAGES, SEVERITIES = 50_000, 5
BAR = {1000: 10.0}
# A plain loop over all 75 errors takes minutes: it is timed on so many resamples.
LOOPED = 1000

Wrong = NDArray[np.bool_]


def answers() -> Wrong:
    """Which photographs a made-up model has wrong in which cell, shape (IMAGES, 75).

    A hard photograph is hard in every cell, as renderings of one photograph are.
    """
    rng = np.random.default_rng(0)
    difficulty = rng.normal(size=(IMAGES, 1))
    cells = len(corruptions_15()) * SEVERITIES
    return difficulty + 0.7 * rng.normal(size=(IMAGES, cells)) > np.linspace(-0.6, 1.0, cells)


def mce(errors: NDArray[np.floating]) -> NDArray[np.float64]:
    """MCE of errors by cell, shape (..., 75) to (...)."""
    means = errors.reshape(*errors.shape[:-1], -1, SEVERITIES).mean(axis=-1)
    by_name = {name: means[..., i] for i, name in enumerate(corruptions_15())}
    return mce_pct(by_name, alexnet_errors())


def score(wrong: Wrong) -> NDArray[np.float64]:
    """One number a photograph, of which mCE is the mean."""
    own = np.repeat([100 / 75 / alexnet_errors().mean[name] for name in corruptions_15()], 5)
    return np.asarray(wrong @ own)


def with_shiftlake(wrong: Wrong, resamples: int) -> tuple[float, float]:
    return percentile_interval(mce(resampled_means(wrong, resamples=resamples)))


def with_a_loop(wrong: Wrong, resamples: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    found = [mce(wrong[rng.integers(0, IMAGES, IMAGES)].mean(axis=0)) for _ in range(resamples)]
    return percentile_interval(np.array(found))


def with_a_loop_over_scores(wrong: Wrong, resamples: int) -> tuple[float, float]:
    rng, one = np.random.default_rng(0), score(wrong)
    found = [one[rng.integers(0, IMAGES, IMAGES)].mean() for _ in range(resamples)]
    return percentile_interval(np.array(found))


def with_scipy(wrong: Wrong, resamples: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    found = bootstrap(
        (score(wrong),),
        np.mean,
        n_resamples=resamples,
        batch=100,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


CONTESTANTS: dict[str, tuple[Callable[[Wrong, int], tuple[float, float]], str]] = {
    "shiftlake": (with_shiftlake, "all 75 errors"),
    "numpy loop": (with_a_loop, "all 75 errors"),
    "numpy loop, scores": (with_a_loop_over_scores, "mCE alone"),
    "scipy, scores": (with_scipy, "mCE alone"),
}


def measure(name: str, resamples: int) -> dict[str, Any]:
    """Seconds, bounds and peak memory of this process."""
    wrong = answers()
    start, cpu = time.perf_counter(), time.process_time()
    lo, hi = CONTESTANTS[name][0](wrong, resamples)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu": cpu, "peak_mib": peak, "lo": lo, "hi": hi}


def apart(name: str, resamples: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.bootstrap", "--only", name, str(resamples)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--resamples", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--only", nargs=2, metavar=("NAME", "RESAMPLES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only[0], int(options.only[1]))))
        return
    rows = []
    for resamples in options.resamples:
        timed = {
            name: min(resamples, LOOPED if name == "numpy loop" else resamples)
            for name in CONTESTANTS
        }
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTESTANTS}
        for _ in range(options.runs):
            for name in CONTESTANTS:
                found[name].append(apart(name, timed[name]))
        for name, runs in found.items():
            seconds, cpu = (
                statistics.median(run[clock] for run in runs) for clock in ("seconds", "cpu")
            )
            times = resamples / timed[name]
            rows.append(
                {
                    "resamples": resamples,
                    "way": name,
                    "gives": CONTESTANTS[name][1],
                    "median s": round(seconds * times, 2),
                    "CPU s": round(cpu * times, 2),
                    "timed on": timed[name],
                    "peak MiB": round(max(run["peak_mib"] for run in runs)),
                    "interval": f"{runs[0]['lo']:.3f} to {runs[0]['hi']:.3f}",
                }
            )
    title = f"Interval of mCE, {IMAGES:,} photographs x 75 conditions, median of {options.runs}"
    show(title, rows)
    print(f"bar: {BAR[1000]:g} s for 1,000 resamples")
    write(
        "bootstrap",
        {"what": title, "machine": machine(), "bar_seconds": BAR, "rows": rows},
    )


if __name__ == "__main__":
    main()
