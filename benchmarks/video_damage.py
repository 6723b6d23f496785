"""Count how many damaged frames are left out, and how many pass for sound, format by format.

    python -m benchmarks.video_damage

Nine copies of a clip of 150 frames each, with 1, 5 and 20 bits of their packets flipped. A frame is
wrong if its pixels are not those of the undamaged clip. Nothing is timed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import av
import numpy as np

from benchmarks.report import machine, show, write
from ops.video.decoding import open_video

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "video"))
from made_clips import write_clip

FRAMES = 150
_X265 = "keyint=30:min-keyint=30:scenecut=0:bframes=2:pools=none:log-level=0:frame-threads=1"
CLIPS: dict[str, tuple[str, dict[str, Any]]] = {
    "H.264 in MP4": ("a.mp4", {}),
    "H.264 in Matroska": ("a.mkv", {}),
    "H.264 in MPEG-TS": ("a.ts", {}),
    "MPEG-4 in AVI": ("a.avi", {"codec": "mpeg4"}),
    "AV1 in Matroska": ("b.mkv", {"codec": "libsvtav1"}),
    "VP9 in WebM": ("a.webm", {"codec": "libvpx-vp9"}),
    "HEVC in MP4": ("h.mp4", {"codec": "libx265"}),
    "HEVC in Matroska": ("h.mkv", {"codec": "libx265"}),
    "HEVC with picture hashes": (
        "s.mp4",
        {"codec": "libx265", "options": {"x265-params": f"{_X265}:hash=1"}},
    ),
}


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for title, (name, options) in CLIPS.items():
            path = write_clip(Path(folder) / name, frames=FRAMES, gop=30, **options).path
            rows.append({"clip": title, **_counted(path)})
            print(rows[-1], file=sys.stderr)
    show("damaged frames of 1,350", rows)
    write("video_damage", {"machine": machine(), "rows": rows})


def _counted(path: Path) -> dict[str, int]:
    with av.open(str(path)) as file:
        packets = [(p.pos, p.size) for p in file.demux(video=0) if p.size]
    truth = _pixels(path)
    data = path.read_bytes()
    found = {"left out": 0, "wrong but kept": 0}
    for seed in range(9):
        draw = np.random.default_rng(seed)
        changed = bytearray(data)
        for _ in range((1, 5, 20)[seed % 3]):
            start, size = packets[int(draw.integers(len(packets)))]
            changed[start + int(draw.integers(size))] ^= 1 << int(draw.integers(8))
        damaged = path.with_name(f"damaged-{path.name}")
        damaged.write_bytes(changed)
        for index, pixels in _pixels(damaged).items():
            if pixels is None:
                found["left out"] += 1
            else:
                found["wrong but kept"] += not np.array_equal(pixels, truth[index])
    return found


def _pixels(path: Path) -> dict[int, Any]:
    with open_video(path) as video:
        return {one.index: one.pixels for one in video.read(range(video.n_frames))}


if __name__ == "__main__":
    main()
