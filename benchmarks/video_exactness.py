"""Count how often readers give the frames that were asked for, container by container.

    python -m benchmarks.video_exactness --peers FOLDER

Small clips that carry their numbers, of every kind that readers are known to miscount; eight sets
of up to 21 frames each: the first, the last and six at random places. A set is right if it holds
exactly the frames asked for. Nothing is timed. FOLDER as for ``benchmarks.video_decode``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import machine, show, write
from benchmarks.video_decode import COUNT, ask, start
from ops.video.decoding import open_video

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "video"))
from made_clips import CLIPS, MadeClip, read_number

READERS = {
    "PyAV, by time and rate": "PyAV, cfr",
    "OpenCV": "OpenCV",
    "decord": "decord",
    "torchcodec, exact": "tc exact",
    "torchcodec, approximate": "tc approx.",
    "ffmpeg command": "ffmpeg",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True)
    folder = parser.parse_args().peers
    peers = start(folder, READERS)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        for name, make in CLIPS.items():
            clip = make(Path(made) / name)
            count = min(COUNT, len(clip.numbers))
            last = len(clip.numbers) - count
            inner = np.random.default_rng(8).integers(0, last + 1, 6).tolist()
            row = {"clip": name, "Shiftlake": 0, **dict.fromkeys(READERS.values(), 0)}
            for first in (0, last, *inner):
                wanted = list(clip.numbers[first : first + count])
                row["Shiftlake"] += _ours(clip, first, count) == wanted
                for reader, column in READERS.items():
                    row[column] += _theirs(peers, folder, reader, clip, first, count) == wanted
            rows.append(row)
    for process in peers.values():
        process.communicate()
    show("Sets right of 8", rows)
    write("video_exactness", {"machine": machine(), "sets": 8, "rows": rows})


def _ours(clip: MadeClip, first: int, count: int) -> list[int | None]:
    with open_video(clip.path) as video:
        return [read_number(one.pixels) for one in video.read(range(first, first + count))]


def _theirs(
    peers: dict[str, Any], folder: Path, reader: str, clip: MadeClip, first: int, count: int
) -> list[int | None]:
    rate = (len(clip.seconds) - 1) / clip.seconds[-1]
    place = {"path": str(clip.path), "first": first, "count": count, "fps": rate}
    answer = ask(peers[reader], {**place, "size": (160, 96), "corner": False})
    if peers[reader].poll() is not None:
        peers.update(start(folder, [reader]))
    return answer["numbers"] if answer else []


if __name__ == "__main__":
    main()
