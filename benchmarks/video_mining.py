"""How fast videos become sealed frame sets, with one process and with two, and in what memory.

A thousand videos of 1280 x 720 are a few different ones under many names: mining takes each for
itself. There is no peer: nothing public builds frame sets out of videos.

    python -m benchmarks.video_mining --videos 1000
    python -m benchmarks.video_mining --width 3840 --height 2160 --videos 8 --frames 60
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import tempfile
import time
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from benchmarks.sharding import family, resident
from ops.catalog import load
from ops.storage import open_root
from ops.video.checks import check_frame_sets
from ops.video.mining import mine
from ops.video.sources import read_source

RESULT = Path(__file__).parent / "results" / "video_mining.json"
DISTINCT = 8
BAR = 1.8


def picture(number: int, seed: int, width: int, height: int) -> npt.NDArray[np.uint8]:
    """A pan over soft noise, as detailed as a photograph of its size."""
    random = np.random.default_rng(seed)
    small = random.integers(0, 256, (height // 4 + 1, width // 4 + 200, 3), dtype=np.uint8)
    part = small[:, number : number + width // 4 + 1]
    return np.ascontiguousarray(part.repeat(4, axis=0).repeat(4, axis=1)[:height, :width])


def write_video(path: Path, seed: int, options: argparse.Namespace) -> None:
    """H.264 at 30 frames a second, a keyframe every twelve frames, as cameras write."""
    with av.open(str(path), "w") as target:
        stream: Any = target.add_stream("libx264", rate=Fraction(30))
        stream.width, stream.height, stream.pix_fmt = options.width, options.height, "yuv420p"
        stream.codec_context.options = {"preset": "veryfast", "crf": "26", "g": "12", "bf": "2"}
        for number in range(options.frames):
            pixels = picture(number, seed, options.width, options.height)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        target.mux(stream.encode())


def write_source(folder: Path, options: argparse.Namespace) -> None:
    """A source of many names for a few videos."""
    videos = folder / "bench" / "videos"
    videos.mkdir(parents=True)
    rows = []
    for number in range(options.videos):
        path = videos / f"video{number:05d}.mp4"
        if number < DISTINCT:
            write_video(path, number, options)
        else:
            os.link(videos / f"video{number % DISTINCT:05d}.mp4", path)
        rows.append({"video": path.name, "labels": [number % 30]})
    (folder / "bench" / "labels.json").write_text(json.dumps(rows))
    entry = {
        "kind": "folder",
        "videos": "videos",
        "labels": "labels.json",
        "label_space": "imagenet_vid30",
        "synthetic": True,
    }
    # YAML takes JSON as it is.
    (folder / "bench" / "source.yaml").write_text(json.dumps(entry))


def mine_there(lake: str, videos: str, workers: int) -> None:
    """Mine all of it, in a process that is measured."""
    mine(open_root(lake), load(), read_source(videos, "bench"), workers=workers)


def run(lake: Path, videos: Path, workers: int) -> tuple[int, float, float]:
    """Mine in a process of its own.

    Returns
    -------
    int
        The most bytes resident in it and its workers together.
    float
        Seconds of CPU of all of them: what another load of the machine does not stretch.
    float
        Those of the process that hands out the work, which more processes do not shorten.
    """
    child = get_context("spawn").Process(target=mine_there, args=(str(lake), str(videos), workers))
    child.start()
    assert child.pid is not None
    peak = 0
    ticks: dict[int, int] = {}
    while child.is_alive():
        try:
            peak = max(peak, resident(child.pid))
            for pid in family(child.pid):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks[pid] = int(fields[11]) + int(fields[12])
        except OSError:
            continue
        finally:
            time.sleep(0.05)
    child.join()
    if child.exitcode != 0:
        raise SystemExit("the mining failed")
    second = os.sysconf("SC_CLK_TCK")
    return peak, sum(ticks.values()) / second, ticks[child.pid] / second


def contents(lake: Path) -> dict[str, str]:
    """sha256 of every file of a lake, by path."""
    root = open_root(lake)
    return {
        path: hashlib.sha256(root.read_bytes(path)).hexdigest()
        for path in root.list("")
        if not path.startswith(".")
    }


def measure(options: argparse.Namespace, base: Path) -> dict[str, Any]:
    """Mine with one process and with two, and compare what came out."""
    write_source(base / "videos", options)
    found: dict[str, Any] = {}
    before: dict[str, str] | None = None
    for workers in (1, 2):
        lake = base / f"lake{workers}"
        os.sync()
        load_before = os.getloadavg()[0]
        start = time.perf_counter()
        peak, cpu, first = run(lake, base / "videos", workers)
        seconds = time.perf_counter() - start
        now = contents(lake)
        if before is not None and now != before:
            raise SystemExit("another number of processes made other bytes")
        before = now
        checks = check_frame_sets(open_root(lake), "frame_sets/bench")
        if problems := [line for lines, _ in checks.values() for line in lines]:
            raise SystemExit(f"the mining is wrong: {problems[:3]}")
        found[str(workers)] = {
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2),
            "cpu_seconds_of_first": round(first, 2),
            "videos_per_second": round(options.videos / seconds, 2),
            "frames": checks["counts"][1]["frames"],
            "peak_bytes": peak,
            "load_before": round(load_before, 2),
        }
        shutil.rmtree(lake)
    return found


def main() -> None:
    """Measure, print and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=90)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--no-result", action="store_true", help="print only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as base:
        found = measure(options, Path(base))
    one, two = found["1"], found["2"]
    speedup = one["seconds"] / two["seconds"]
    alone = two["cpu_seconds_of_first"]
    # Of a machine with nothing else to do: the first process works alone, the two share the rest.
    by_cpu = one["cpu_seconds"] / (alone + (two["cpu_seconds"] - alone) / 2)
    print(
        f"{options.videos:,} videos of {options.width} x {options.height}, "
        f"{options.frames} frames each\n"
    )
    heads = f"{'processes':>9}{'s':>9}{'CPU s':>9}{'videos/s':>10}{'frames':>9}"
    print(f"{heads}{'peak MB':>9}{'load':>6}")
    for workers, row in found.items():
        print(
            f"{workers:>9}{row['seconds']:9.1f}{row['cpu_seconds']:9.1f}{row['videos_per_second']:10.2f}"
            f"{row['frames']:9,}{row['peak_bytes'] / 1e6:9.0f}{row['load_before']:6.1f}"
        )
    print(f"\ntwo processes: {speedup:.2f} x one by the clock, {by_cpu:.2f} x by CPU (bar: {BAR})")
    print("the same bytes")
    if not options.no_result:
        RESULT.write_text(
            json.dumps(
                {
                    "machine": f"{platform.machine()}, {os.cpu_count()} CPUs",
                    "videos": options.videos,
                    "frames": options.frames,
                    "size": [options.width, options.height],
                    "processes": found,
                    "speedup": round(speedup, 3),
                    "speedup_by_cpu": round(by_cpu, 3),
                },
                indent=1,
            )
            + "\n"
        )


if __name__ == "__main__":
    main()
