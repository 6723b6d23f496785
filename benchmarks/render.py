"""Rendering ImageNet-C beside the published packages: CPU time, one process, one thread.

The peers are imagenet-c 0.0.3 and imagecorruptions (PyPI 1.1.2 and git head), patched only as far
as they need to run; each sits in a process of its own and takes turns with Shiftlake, a block of
one condition at a time, on the same photographs. A figure is the median over all passes for each
photograph, then the mean over the photographs. Shiftlake is timed three ways: *fast*, one
condition at a time by its key; *fast x5*, the five severities together, as datasets are made;
*exact*, the bits of imagenet-c with a generator replayed.

    python -m benchmarks.render --peers FOLDER [--images 6] [--passes 3] [--only fog frost]

FOLDER holds the scratch environment of ``tests/parity/make_fixtures.py``, and is filled where it
is empty (needs ImageMagick 6 and the package index). Without it only Shiftlake is timed.
Workers have ``benchmarks.render_scaling``, ImageNet-P ``benchmarks.render_sequences`` and the GPU
``benchmarks.render_gpu``.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from benchmarks.evaluation_input import photograph
from benchmarks.render_environment import ONE_THREAD, Peer, prepare, write_photographs
from benchmarks.render_peer import resized, timed
from benchmarks.render_pipeline import pipeline
from benchmarks.report import machine, show, write
from ops.corruptions import Key, corrupt
from ops.corruptions.engine import corrupt_all
from ops.corruptions.names import BENCHMARK_CORRUPTIONS, CORRUPTIONS, SEVERITIES

BARS = {"fast": 50.0, "exact": 160.0}
MODES = ("fast", "fast x5", "exact")
Figures = dict[str, dict[str, list[float]]]


def ours(images: Sequence[Any], corruption: str) -> dict[str, Callable[[int, int], object]]:
    """Shiftlake's ways to make one condition, or the five severities of one corruption."""
    keys = [Key(f"n01440764/ILSVRC2012_val_{index:08d}") for index in range(len(images))]
    generators = [np.random.RandomState(index) for index in range(len(images))]
    together = [(corruption, severity) for severity in SEVERITIES]

    def fast(index: int, severity: int) -> object:
        return corrupt(images[index], corruption, severity, key=keys[index])

    def five(index: int, severity: int) -> object:
        return list(corrupt_all(images[index], together, keys[index]))

    def exact(index: int, severity: int) -> object:
        rng = generators[index]
        return corrupt(images[index], corruption, severity, rng=rng, mode="exact")

    return {"fast": fast, "fast x5": five, "exact": exact}


def conditions(
    images: Sequence[Any], peers: dict[str, Peer], wanted: Sequence[str], passes: int
) -> Figures:
    """Milliseconds of each corruption, by side and severity; *fast x5* is a fifth of the five."""
    count = len(images)
    found: Figures = {}
    for corruption in wanted:
        samples: dict[tuple[str, int], list[list[float]]] = {}
        made = ours(images, corruption)
        for turn in range(passes):
            for severity in SEVERITIES:
                taken = {
                    name: peer.condition(corruption, severity, turn == 0)
                    for name, peer in peers.items()
                }
                for mode, call in made.items():
                    if mode == "fast x5" and severity != SEVERITIES[0]:
                        continue
                    call(0, severity)  # what the peer's process pushed out of the caches
                    taken[mode] = timed(lambda i: call(i, severity), count)  # noqa: B023
                for name, rows in taken.items():
                    kept = samples.setdefault((name, severity), [[] for _ in range(count)])
                    for into, row in zip(kept, rows, strict=True):
                        into.extend(row)
        figures: dict[str, list[float]] = {}
        for (name, _), rows in samples.items():
            figures.setdefault(name, []).append(statistics.fmean(map(statistics.median, rows)))
        figures["fast x5"] = [figures["fast x5"][0] / len(SEVERITIES)] * len(SEVERITIES)
        found[corruption] = figures
        print(f"{corruption}: " + ", ".join(f"{k} {sum(v):.1f}" for k, v in figures.items()))
    return found


def slower(found: Figures, peers: Sequence[str]) -> list[dict[str, Any]]:
    """Every condition in which a peer was faster than a mode of Shiftlake."""
    cases = []
    for corruption, figures in found.items():
        for severity, *times in zip(SEVERITIES, *(figures[peer] for peer in peers), strict=True):
            best = min(times)
            cases += [
                {
                    "condition": f"{corruption}/{severity}",
                    "mode": mode,
                    "ms": round(figures[mode][severity - 1], 3),
                    "fastest peer": peers[times.index(best)],
                    "its ms": round(best, 3),
                }
                for mode in ("fast", "exact")
                if figures[mode][severity - 1] > best
            ]
    return cases


def totals(found: Figures) -> Figures:
    """Sums over the five severities of the 15 corruptions of the benchmark, and of all 19."""
    sums: Figures = {}
    for title, names in (("the 75", BENCHMARK_CORRUPTIONS), ("the 95", CORRUPTIONS)):
        if set(names) <= set(found):
            sides = found[names[0]]
            sums[title] = {side: [sum(sum(found[name][side]) for name in names)] for side in sides}
    return sums


def row(title: str, at: dict[str, float], peers: Sequence[str]) -> dict[str, Any]:
    """A row of the table: milliseconds, and how many times faster than the fastest peer."""
    cells: dict[str, Any] = {"condition": title}
    cells |= {name: f"{at[name]:.2f}" for name in (*peers, *MODES)}
    for mode in ("fast", "exact") if peers else ():
        cells[f"{mode} is"] = f"{min(at[name] for name in peers) / at[mode]:.1f}x"
    return cells


def report(found: Figures, peers: Sequence[str]) -> dict[str, Any]:
    """Print the figures of the conditions and what they are held to."""
    sums = totals(found)
    rows = [
        row(f"{corruption}/{severity}", {k: v[severity - 1] for k, v in figures.items()}, peers)
        for corruption, figures in found.items()
        for severity in SEVERITIES
    ]
    rows += [row(title, {k: v[0] for k, v in side.items()}, peers) for title, side in sums.items()]
    show("CPU ms per 224 x 224 image", rows)
    cases = slower(found, peers) if peers else []
    if cases:
        show("A peer is faster", cases)
    elif peers:
        print("no condition is slower than any peer's, in either mode")
    for side, bar in (("fast x5", BARS["fast"]), ("exact", BARS["exact"])) if sums else ():
        print(f"{side}: {sums['the 75'][side][0]:.1f} ms for the 75, bar {bar:.0f}")
    return {
        "bars": BARS,
        "cpu_ms": {
            corruption: {side: [round(value, 4) for value in values] for side, values in v.items()}
            for corruption, v in found.items()
        },
        "totals_cpu_ms": {
            title: {side: round(value, 2) for side, [value] in sides.items()}
            for title, sides in sums.items()
        },
        "slower_than_a_peer": cases,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="scratch folder of the published packages")
    parser.add_argument("--images", type=int, default=6, help="photographs, 6 at most")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CORRUPTIONS, help="write no results file")
    arguments = parser.parse_args()
    if any(os.environ.get(name) != count for name, count in ONE_THREAD.items()):
        # The libraries read these when they are loaded, which they are by now.
        command = [sys.executable, "-m", "benchmarks.render", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        inputs = Path(folder)
        names = prepare(arguments.peers.resolve()) if arguments.peers else []
        if names:
            write_photographs(arguments.peers.resolve(), inputs)
        else:
            for index in range(arguments.images):
                (inputs / f"{index}.jpg").write_bytes(photograph(index))
        for surplus in sorted(inputs.iterdir())[arguments.images :]:
            surplus.unlink()
        photographs = {path.stem: path.read_bytes() for path in sorted(inputs.iterdir())}
        files = list(photographs.values())
        images = [np.asarray(resized(Image.open(io.BytesIO(file)))) for file in files]
        peers = {
            name: stack.enter_context(Peer(arguments.peers.resolve(), name, inputs))
            for name in names
        }
        wanted = arguments.only or CORRUPTIONS
        for corruption in wanted:  # compiled, before a peer's turn is waited for
            for call in ours(images, corruption).values():
                call(0, SEVERITIES[0])
        found = report(conditions(images, peers, wanted, arguments.passes), names)
        if arguments.only:
            return
        found["pipeline_cpu_ms"] = pipeline(files, peers, arguments.passes)
    print(
        "More of rendering: benchmarks.render_scaling, .render_sequences (ImageNet-P), .render_gpu"
    )
    libraries = ("numpy", "numba", "scipy", "opencv-python-headless", "pillow")
    found |= {
        "what": "CPU milliseconds to render ImageNet-C, one process, one thread",
        "images": list(photographs),
        "machine": machine(),
        "versions": {name: version(name) for name in libraries},
    }
    if names:
        write("render", found)


if __name__ == "__main__":
    main()
