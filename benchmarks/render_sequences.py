"""Rendering ImageNet-P beside the official script: CPU time, pixels only, one process, one thread.

The script is make_imagenet_p.py of hendrycks/robustness, its own blocks executed one at a time with
the three names that later releases changed (``tests/parity/reference_outputs.py``) and with each
saved frame kept in memory instead. It sits in a process of its own and takes turns with Shiftlake,
a sequence at a time, on the same photographs. A figure is the median over the passes for each
photograph, then the mean over the photographs. Shiftlake is timed two ways: *fast*, by its key, as
datasets are made; *exact*, with the generators replayed, whose frames are compared with the
script's own.

    python -m benchmarks.render_sequences --peers FOLDER [--images 3] [--passes 3] [--only snow]

FOLDER holds the scratch environment of ``tests/parity/make_fixtures.py``, and is filled where it
is empty (needs ImageMagick 6 and the package index); ``--imagenet-p FILE`` is the script, by
default fetched at its pinned commit.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from PIL import Image

from benchmarks.render_environment import ONE_THREAD, write_photographs
from benchmarks.report import machine, show, write
from ops.perturbations import PERTURBATIONS, perturbations, sequence
from tests.parity import reference_outputs
from tests.parity.make_fixtures import IMAGENET_P, build

BAR = 15.0
SCRIPT = Path(__file__).with_name("sequences_peer.py")
Figures = dict[str, dict[str, float]]


class Official:
    """The official script in a process of its own that makes a sequence when told."""

    def __init__(self, python: Path, script: Path, inputs: Path) -> None:
        self.process = subprocess.Popen(
            [python, SCRIPT, script, inputs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **ONE_THREAD,
                "MAGICK_THREAD_LIMIT": "1",
                "PYTHONPATH": str(Path(reference_outputs.__file__).parent),
            },
        )

    def milliseconds(self, name: str, image: int, seed: int, frames: Path | None = None) -> float:
        """CPU milliseconds of a sequence; its frames are written where a file is given."""
        assert self.process.stdin
        assert self.process.stdout
        order = {"name": name, "image": image, "seed": seed, "frames": frames and str(frames)}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the official script stopped at {order}; its error stands above")
        return float(json.loads(answer))


def taken(call: Callable[[], object]) -> float:
    """CPU milliseconds of a call."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def levels(wanted: Sequence[str]) -> list[tuple[str, str, int]]:
    """Folder, perturbation and difficulty of everything to be timed."""
    return [
        (folder, name, difficulty)
        for name, known in perturbations().items()
        for difficulty, folder in enumerate(known.conditions, start=1)
        if not wanted or folder in wanted
    ]


def timed(
    official: Official, images: Sequence[Any], wanted: Sequence[str], passes: int, folder: Path
) -> tuple[Figures, dict[str, int]]:
    """Milliseconds of each sequence by side, and how many frames were not the script's."""
    found: Figures = {}
    different: dict[str, int] = {}
    for condition, name, difficulty in levels(wanted):

        def fast(image: int) -> object:
            key = f"n01440764/ILSVRC2012_val_{image:08d}"
            return sequence(images[image], name, key=key, difficulty=difficulty)  # noqa: B023

        def exact(image: int) -> Any:
            drawn = torch.Generator().manual_seed(image), np.random.RandomState(image)
            rng = drawn[0] if name == "gaussian_noise" else drawn[1]  # noqa: B023
            return sequence(images[image], name, rng=rng, mode="exact", difficulty=difficulty)  # noqa: B023

        kept: dict[str, list[list[float]]] = {
            side: [[] for _ in images] for side in ("official", "fast", "exact")
        }
        different[condition] = 0
        for image in range(len(images)):
            frames = folder / "frames.npy"
            official.milliseconds(condition, image, image, frames)
            fast(image)
            apart = (np.load(frames) != exact(image)).any(axis=(1, 2, 3))
            different[condition] += int(apart.sum())
        for _ in range(passes):
            for image in range(len(images)):
                kept["official"][image].append(official.milliseconds(condition, image, image))
                kept["fast"][image].append(taken(lambda: fast(image)))  # noqa: B023
                kept["exact"][image].append(taken(lambda: exact(image)))  # noqa: B023
        found[condition] = {
            side: statistics.fmean(map(statistics.median, rows)) for side, rows in kept.items()
        }
    return found, different


def report(found: Figures, different: dict[str, int]) -> dict[str, Any]:
    """Print a row for each sequence and the total of the 10; return that total."""
    rows = [_row(name, at, different[name]) for name, at in found.items()]
    total: dict[str, float] = {}
    if set(PERTURBATIONS) <= set(found):
        total = {
            side: sum(found[name][side] for name in PERTURBATIONS)
            for side in ("official", "fast", "exact")
        }
        rows.append(_row("the 10", total, sum(different[name] for name in PERTURBATIONS)))
    show("CPU ms per sequence, pixels only", rows)
    for mode in ("fast", "exact"):
        for name, at in found.items():
            if at[mode] > at["official"]:
                print(f"{name}: the official script is faster than {mode}")
    if total:
        print(f"fast must be {BAR:g} times faster: {total['official'] / total['fast']:.1f}")
    return total


def _row(name: str, at: dict[str, float], different: int) -> dict[str, Any]:
    row: dict[str, Any] = {"sequence": name}
    row |= {side: f"{at[side]:.1f}" for side in ("official", "fast", "exact")}
    row |= {f"{mode} is": f"{at['official'] / at[mode]:.1f}x" for mode in ("fast", "exact")}
    return row | {"exact frames that differ": different}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="scratch folder")
    parser.add_argument("--imagenet-p", type=Path, help="make_imagenet_p.py")
    parser.add_argument("--images", type=int, default=3, help="photographs, 6 at most")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="write no results file")
    arguments = parser.parse_args()
    if any(os.environ.get(name) != count for name, count in ONE_THREAD.items()):
        # The libraries read these when they are loaded, which they are by now.
        command = [sys.executable, "-m", "benchmarks.render_sequences", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    scratch = arguments.peers.resolve()
    python = scratch / "venv" / "bin" / "python"
    if not python.exists():
        build(scratch)
    script = arguments.imagenet_p or scratch / "make_imagenet_p.py"
    if not script.exists():
        urllib.request.urlretrieve(IMAGENET_P, script)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_photographs(scratch, folder)
        photographs = sorted(folder.glob("*.jpg"))[: arguments.images]
        images = []
        for path in photographs:
            image = Image.open(io.BytesIO(path.read_bytes()))
            width, height = (int(256 * side / min(image.size)) for side in image.size)
            images.append(np.asarray(image.resize((width, height), Image.Resampling.BILINEAR)))
            np.save(path.with_suffix(".npy"), images[-1])
        official = Official(python, script.resolve(), folder)
        found, different = timed(official, images, arguments.only, arguments.passes, folder)
        official.process.communicate()
    total = report(found, different)
    if not arguments.only:
        libraries = ("numpy", "numba", "opencv-python-headless", "torch")
        write(
            "render_sequences",
            {
                "what": "CPU milliseconds to make the frames of one sequence of ImageNet-P",
                "bar": BAR,
                "machine": machine(),
                "images": [path.stem for path in photographs],
                "versions": {name: version(name) for name in libraries},
                "milliseconds": found,
                "the 10": total,
                "exact frames that differ": different,
            },
        )


if __name__ == "__main__":
    main()
