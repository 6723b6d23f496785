"""Short mp4 files with fixed bytes: H.264 where PyAV is installed, else Motion JPEG.

H.264 is what upstream publishes; PyAV is no dependency of the project, so the second way exists,
a minimal MP4 container (ISO/IEC 14496-12) around JPEG pictures that every player opens.
"""

from __future__ import annotations

import importlib.util
import io
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ops.miniature import encode

# Measured with libx264 of PyAV 18.1: without cpu-independent the same frames came out with up to
# nine different encodings, even on one thread and one machine.
_X264 = {"crf": "20", "x264-params": "threads=1:cpu-independent=1"}

Frames = Sequence[NDArray[np.uint8]]


def codec() -> str:
    """Return `h264` or `mjpeg`: what `mp4` writes in this environment."""
    return "mjpeg" if importlib.util.find_spec("av") is None else "h264"


def mp4(frames: Frames, *, fps: int = 30) -> bytes:
    """Return a video.

    Parameters
    ----------
    frames : sequence of ndarray of uint8, shape (height, width, 3)
        RGB pictures of one size; height and width are even.
    fps : int
        Frames a second.

    Returns
    -------
    bytes
        An mp4 file of exactly `len(frames)` frames.
    """
    return h264(frames, fps=fps) if codec() == "h264" else motion_jpeg(frames, fps=fps)


def h264(frames: Frames, *, fps: int) -> bytes:
    """Return the frames as H.264 (libx264, crf 20, yuv420p) through PyAV."""
    import av
    from av.video.stream import VideoStream

    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options=_X264)
        if not isinstance(stream, VideoStream):
            raise TypeError(f"libx264 opened {type(stream).__name__}, not a video stream")
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return target.getvalue()


def motion_jpeg(frames: Frames, *, fps: int) -> bytes:
    """Return the frames as JPEG pictures in a minimal MP4 container."""
    high, wide = frames[0].shape[:2]
    pictures = [encode.jpeg(Image.fromarray(pixels), quality=92) for pixels in frames]
    kind = _box(b"ftyp", b"isom", struct.pack(">I", 512), b"isomiso2mp41")
    data = _box(b"mdat", *pictures)
    count = len(pictures)
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    entry = _box(
        b"jpeg",
        bytes(6) + struct.pack(">H", 1) + bytes(16) + struct.pack(">HH", wide, high),
        struct.pack(">IIIH", 0x480000, 0x480000, 0, 1) + bytes(32),
        struct.pack(">Hh", 24, -1),
    )
    table = _box(
        b"stbl",
        _full(b"stsd", struct.pack(">I", 1) + entry),
        _full(b"stts", struct.pack(">III", 1, count, 1)),
        _full(b"stsc", struct.pack(">IIII", 1, 1, count, 1)),
        _full(b"stsz", struct.pack(f">II{count}I", 0, count, *map(len, pictures))),
        _full(b"stco", struct.pack(">II", 1, len(kind) + 8)),
    )
    media = _box(
        b"mdia",
        _full(b"mdhd", struct.pack(">IIIIHH", 0, 0, fps, count, 0x55C4, 0)),
        _full(b"hdlr", bytes(4) + b"vide" + bytes(12) + b"video\0"),
        _box(
            b"minf",
            _full(b"vmhd", bytes(8), flags=1),
            _box(b"dinf", _full(b"dref", struct.pack(">I", 1) + _full(b"url ", b"", flags=1))),
            table,
        ),
    )
    track = _full(
        b"tkhd",
        struct.pack(">IIIII", 0, 0, 1, 0, count) + bytes(16) + matrix,
        struct.pack(">II", wide << 16, high << 16),
        flags=3,
    )
    movie = _full(
        b"mvhd",
        struct.pack(">IIIIIH", 0, 0, fps, count, 0x10000, 0x100) + bytes(10) + matrix,
        bytes(24) + struct.pack(">I", 2),
    )
    return kind + data + _box(b"moov", movie, _box(b"trak", track, media))


def _box(name: bytes, *content: bytes) -> bytes:
    body = b"".join(content)
    return struct.pack(">I", len(body) + 8) + name + body


def _full(name: bytes, *content: bytes, flags: int = 0) -> bytes:
    return _box(name, struct.pack(">I", flags), *content)
