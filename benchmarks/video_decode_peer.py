"""One reader of videos, timed in a process of its own.

Runs in the scratch environment of ``benchmarks/video_decode.py`` and imports nothing of this
project but the reading of painted frame numbers. The name of the reader is given; orders are read
as lines of JSON, ``{"path", "first", "count", "fps", "size", "corner"}``, and each is answered by
one line: CPU and wall milliseconds of opening, positioning and decoding to RGB or BGR in memory,
the same of writing JPEG, and the numbers that the frames carry, in their corner or all over. What
goes wrong is answered as ``{"error"}``.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "video"))
from painted_frames import read_number

# The corner that the number is painted in, as of a picture twice as high.
CODE = (96, 320)
JPEG = [
    *(cv2.IMWRITE_JPEG_QUALITY, 95),
    *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420),
]
# Of the frames as displayed, which a pipe does not tell.
SIZE = {"shown": (1280, 720)}
Reader = Callable[[str, int, int, float], list[Any]]


def opencv(threads: int) -> Reader:
    def read(path: str, first: int, count: int, fps: float) -> list[Any]:
        options = [cv2.CAP_PROP_N_THREADS, threads] if threads else []
        capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG, options)
        capture.set(cv2.CAP_PROP_POS_FRAMES, first)
        return [capture.read()[1] for _ in range(count)]

    return read


def decord(threads: int) -> Reader:
    from decord import VideoReader

    def read(path: str, first: int, count: int, fps: float) -> list[Any]:
        frames = VideoReader(path, num_threads=threads).get_batch(range(first, first + count))
        return list(frames.asnumpy())

    return read


def torchcodec(mode: str, threads: int) -> Reader:
    import torch
    from torchcodec.decoders import VideoDecoder

    torch.set_num_threads(1)

    def read(path: str, first: int, count: int, fps: float) -> list[Any]:
        decoder = VideoDecoder(
            path, dimension_order="NHWC", num_ffmpeg_threads=threads, seek_mode=mode
        )
        return list(decoder.get_frames_in_range(first, first + count).data.numpy())

    return read


def ffmpeg(path: str, first: int, count: int, fps: float) -> list[Any]:
    width, height = SIZE["shown"]
    told = f"ffmpeg -v error -nostdin -threads 1 -ss {(first - 0.25) / fps if first else 0} -i"
    after = f"-frames:v {count} -f rawvideo -pix_fmt bgr24 -"
    made = subprocess.run(
        [*told.split(), path, *after.split()], stdout=subprocess.PIPE, check=True
    ).stdout
    return list(np.frombuffer(made, np.uint8).reshape(-1, height, width, 3))


def pyav(path: str, first: int, count: int, fps: float) -> list[Any]:
    """As its documentation shows it: seek by time, keep from a time on."""
    import av

    frames: list[Any] = []
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        container.seek(int(first / fps / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            if round(frame.time * fps) >= first:
                frames.append(frame.to_ndarray(format="bgr24"))
            if len(frames) == count:
                return frames
    return frames


READERS: dict[str, tuple[bool, Callable[[], Reader]]] = {
    "PyAV, by time and rate": (False, lambda: pyav),
    "OpenCV": (False, lambda: opencv(1)),
    "OpenCV, its own threads": (False, lambda: opencv(0)),
    "decord": (True, lambda: decord(1)),
    "torchcodec, exact": (True, lambda: torchcodec("exact", 1)),
    "torchcodec, approximate": (True, lambda: torchcodec("approximate", 1)),
    "torchcodec, exact, its own threads": (True, lambda: torchcodec("exact", 0)),
    "ffmpeg command": (False, lambda: ffmpeg),
}


def clock() -> tuple[float, float]:
    """CPU seconds of this process and those it waited for, and wall seconds."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    return spent, time.perf_counter()


def painted(frame: Any) -> int | None:
    """The number in the corner of a frame."""
    tall, wide = CODE
    corner = np.zeros((2 * tall, wide, 3), np.uint8)
    corner[:tall] = frame[:tall, :wide]
    return read_number(corner)


def answer(read: Reader, is_rgb: bool, order: dict[str, Any]) -> dict[str, Any]:
    """Do what is ordered."""
    SIZE["shown"] = tuple(order["size"])
    begun = clock()
    frames = read(order["path"], order["first"], order["count"], order["fps"])
    decoded = clock()
    for frame in frames:
        cv2.imencode(".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR) if is_rgb else frame, JPEG)
    written = clock()
    return {
        "numbers": [(painted if order["corner"] else read_number)(frame) for frame in frames],
        "cpu": [1e3 * (decoded[0] - begun[0]), 1e3 * (written[0] - decoded[0])],
        "wall": [1e3 * (decoded[1] - begun[1]), 1e3 * (written[1] - decoded[1])],
    }


def main() -> None:
    cv2.setNumThreads(1)
    is_rgb, make = READERS[sys.argv[1]]
    answers, sys.stdout = sys.stdout, sys.stderr
    read = make()
    for line in sys.stdin:
        try:
            found = answer(read, is_rgb, json.loads(line))
        except Exception as error:  # a reader's failure is its answer
            found = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
