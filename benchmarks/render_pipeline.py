"""From a JPEG file to the 75 JPEG files of ImageNet-C: the whole pipeline, in CPU time.

The peers' pipelines decode and resize a photograph again for each output and save it as Pillow
does (quality 85, optimised), as their scripts do; Shiftlake's engine does it once for all.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

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
BAR = 70.0
REPEATS = 4


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
    print(f"fast: {found['fast']:.1f} ms, bar {BAR:.0f}")
    return {side: round(value, 3) for side, value in found.items()}
