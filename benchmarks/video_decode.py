"""Time 21 consecutive frames at random places of a video, decoded and written as JPEG.

    python -m benchmarks.video_decode --peers FOLDER

Clips of 1280 x 720, H.264, 30 frames a second, with a keyframe every 12 frames and every 250, of an
easy picture (4 Mb/s) and a hard one (24 Mb/s); every frame carries its number, and a set counts as
right if every number is. Opening the file is in the time, and in ours the reading of the whole
table of packets. All readers take turns at every place, one process each. FOLDER is filled with
the peers' environment and the clips where it is empty.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.filter import Graph

from benchmarks.report import machine, show, write
from benchmarks.video_decode_peer import CODE, READERS, clock, painted
from ops.video.decoding import frame_jpeg, open_video

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "video"))
from painted_frames import paint

PEERS = (
    *("av==18.1.0", "decord==0.6.0", "numpy", "opencv-python-headless==5.0.0.93"),
    *("torch==2.13.0+cpu", "torchcodec==0.13.0"),
)
OURS = "Shiftlake"
FRAMES, FPS, COUNT = 600, 30, 21
# Keyframes and B-frames between references; megabits a second.
GROUPS = ((12, 2), (250, 3))
SOURCES = {"testsrc2": 4, "mandelbrot": 24}


def make_clips(folder: Path) -> list[Path]:
    """Write the clips that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {
        (source, gop): folder / f"{source}-{gop}.mp4" for source in SOURCES for gop, _ in GROUPS
    }
    for source, megabits in SOURCES.items():
        for gop, b_frames in GROUPS:
            if not wanted[source, gop].is_file():
                _make_clip(wanted[source, gop], source, megabits, gop, b_frames)
    return list(wanted.values())


def _make_clip(path: Path, source: str, megabits: int, gop: int, b_frames: int) -> None:
    graph = Graph()
    begin = graph.add(source, f"size=1280x720:rate={FPS}")
    end = graph.add("buffersink")
    begin.link_to(end)
    graph.configure()
    with av.open(str(path), "w") as target:
        stream: Any = target.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        stream.bit_rate = megabits * 1_000_000
        stream.codec_context.options = {
            "preset": "veryfast" if megabits > 10 else "medium",
            "x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes={b_frames}",
        }
        for number in range(FRAMES):
            pixels = graph.pull().to_ndarray(format="rgb24").copy()
            tall, wide = CODE
            pixels[:tall, :wide] = paint(number, wide, 2 * tall)[:tall]
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = number
            target.mux(stream.encode(frame))
        target.mux(stream.encode())


def ours(path: Path, first: int) -> dict[str, Any]:
    """Read and write one set; as a peer answers."""
    begun = clock()
    with open_video(path) as video:
        pictures = video.read(range(first, first + COUNT))
    decoded = clock()
    for picture in pictures:
        frame_jpeg(picture)
    written = clock()
    return {
        "numbers": [painted(picture.pixels) for picture in pictures],
        "cpu": [1e3 * (decoded[0] - begun[0]), 1e3 * (written[0] - decoded[0])],
        "wall": [1e3 * (decoded[1] - begun[1]), 1e3 * (written[1] - decoded[1])],
    }


def peer_python(folder: Path) -> Path:
    """The peers' interpreter, with them installed."""
    python = folder / "venv" / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def start(folder: Path, names: Iterable[str] = READERS) -> dict[str, Any]:
    """Start a process for every reader."""
    script = Path(__file__).with_name("video_decode_peer.py")
    return {
        name: subprocess.Popen(
            [str(peer_python(folder)), str(script), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for name in names
    }


def ask(peer: Any, order: dict[str, Any]) -> dict[str, Any] | None:
    """Have a reader do what is ordered; None where it failed."""
    if peer.poll() is not None:
        return None
    peer.stdin.write(json.dumps(order) + "\n")
    peer.stdin.flush()
    line = peer.stdout.readline()
    found = json.loads(line) if line else {"error": "it died"}
    return None if "error" in found else found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--places", type=int, default=8)
    told = parser.parse_args()
    cv2.setNumThreads(1)
    clips = make_clips(told.peers / "clips")
    peers = start(told.peers)
    load, begun = os.getloadavg(), time.time()
    results: list[dict[str, Any]] = []
    for clip in clips:
        found = _clip(clip, peers, told.places)
        rows = [{"reader": name, **row} for name, row in found.items()]
        show(f"{COUNT} frames of {clip.stem}, ms a set", rows)
        results += [{"clip": clip.stem, **row} for row in rows]
    for process in peers.values():
        process.communicate()
    write(
        "video_decode",
        {
            "machine": machine(),
            "load": [round(value, 2) for value in (*load, *os.getloadavg())],
            "seconds": round(time.time() - begun),
            "places": told.places,
            "rows": results,
        },
    )


def _clip(clip: Path, peers: dict[str, Any], places: int) -> dict[str, dict[str, Any]]:
    firsts = np.random.default_rng(21).integers(0, FRAMES - COUNT, places).tolist()
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in (OURS, *peers)}
    # The first round is warm-up.
    for turn, first in enumerate([firsts[0], *firsts]):
        names = list(answers)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if name == OURS:
                answer = ours(clip, first)
            else:
                place = {"path": str(clip), "first": first, "count": COUNT, "fps": FPS}
                answer = ask(peers[name], {**place, "size": (1280, 720), "corner": True})
            if answer and turn:
                answer["right"] = answer["numbers"] == list(range(first, first + COUNT))
                answers[name].append(answer)
    return {name: _row(found, places) for name, found in answers.items()}


def _row(found: list[dict[str, Any]], places: int) -> dict[str, Any]:
    def middle(clock_: str, value: Any) -> float | str:
        return round(statistics.mean(value(one[clock_]) for one in found), 1) if found else "-"

    return {
        "decode, CPU": middle("cpu", lambda pair: pair[0]),
        "with JPEG, CPU": middle("cpu", sum),
        "with JPEG, wall": middle("wall", sum),
        "right": f"{sum(one['right'] for one in found)}/{places}",
    }


if __name__ == "__main__":
    main()
