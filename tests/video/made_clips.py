"""Small videos in which every frame carries its own number, readable by a machine.

A frame's number is painted as a 16-bit binary code with parity, so that a test knows which frame
it was given whatever a decoder claims. Everything here writes with PyAV, one thread, and takes
milliseconds at the default size.

    clip = write_clip(tmp_path / "a.mp4", frames=60, gop=12)
    read_number(picture.pixels) == clip.numbers[picture.index]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from painted_frames import HEIGHT, WIDTH, Pixels, paint, read_number

__all__ = [
    "CLIPS",
    "MadeClip",
    "cut_without_encoding",
    "paint",
    "read_number",
    "write_audio_only",
    "write_clip",
    "write_frame_folder",
]

_TICKS = 90_000


@dataclass(frozen=True)
class MadeClip:
    """A file, and what a right reader finds in it in the order of presentation.

    Attributes
    ----------
    path : Path
    numbers : tuple of int
        Painted in each presented frame.
    seconds : tuple of float
        Of each, from the first.
    types : tuple of str
        I, P or B of each, where the writer chose them; else empty.
    """

    path: Path
    numbers: tuple[int, ...]
    seconds: tuple[float, ...]
    types: tuple[str, ...] = field(default=())


def write_clip(
    path: Path,
    *,
    frames: int = 60,
    fps: Fraction | float = 30,
    width: int = WIDTH,
    height: int = HEIGHT,
    codec: str = "libx264",
    gop: int = 12,
    b_frames: int = 2,
    times: Sequence[float] | None = None,
    numbers: Sequence[int] | None = None,
    rotation: int = 0,
    mirrored: bool = False,
    pix_fmt: str = "yuv420p",
    container: str | None = None,
    container_options: dict[str, str] | None = None,
    options: dict[str, str] | None = None,
    faststart: bool = False,
    colour: dict[str, int] | None = None,
    matrix: int | None = None,
    drawn: Callable[[int, int, int], Pixels] = paint,
) -> MadeClip:
    """Write a clip.

    Parameters
    ----------
    path : Path
        Its ending names the container unless `container` does.
    frames : int
        How many; ignored where `numbers` are given.
    fps : number
        Frames a second; of no effect where `times` are given, except in the header.
    width, height : int
        As displayed.
    codec : str
        Any encoder of PyAV: ``libx264``, ``libx265``, ``libvpx-vp9``, ``libsvtav1``, ``mpeg4``,
        ``mpeg2video``, ``mjpeg``, ``ffv1``.
    gop, b_frames : int
        Frames from one keyframe to the next; frames between references.
    times : sequence of float, optional
        Seconds at which each frame is presented: a variable frame rate.
    numbers : sequence of int, optional
        Painted into the frames in place of 0, 1, 2...
    rotation : int
        0, 90, 180 or 270: the file is tagged to be displayed so many degrees turned
        anticlockwise, and stored turned the other way, so that it displays upright.
    mirrored : bool
        Stored and tagged as a mirror image, as front cameras do.
    container_options, options : dict, optional
        Of the container and of the encoder.
    faststart : bool
        MP4 only: the index before the pictures.
    colour : dict, optional
        Tags: ``colorspace``, ``color_range``, ``color_primaries``, ``color_trc``.
    matrix : int, optional
        FFmpeg's number of the YUV matrix that is used, tagged or not: 1 is BT.709, 5 BT.601.
    drawn : callable
        `(number, width, height) -> pixels`, to draw something else than `paint`.

    Returns
    -------
    MadeClip
    """
    numbers = tuple(range(frames) if numbers is None else numbers)
    rate = Fraction(fps).limit_denominator(1001)
    asked = [float(place / rate) for place in range(len(numbers))] if times is None else times
    settings = dict(container_options or {})
    if faststart:
        settings["movflags"] = "+faststart"
    with av.open(str(path), "w", format=container, container_options=settings) as target:
        stream: Any = target.add_stream(codec, rate=rate)
        turned = rotation % 180 == 90
        stream.width, stream.height = (height, width) if turned else (width, height)
        stream.pix_fmt = pix_fmt
        context = stream.codec_context
        context.options = {**_options(codec, gop, b_frames), **(options or {})}
        context.thread_count = 1
        context.gop_size = gop
        context.max_b_frames = 0 if codec == "mjpeg" else b_frames
        for tag, value in (colour or {}).items():
            setattr(context, tag, value)
        ticks = _ticks(rate, times)
        context.time_base = ticks
        if rotation or mirrored:
            stream.set_display_rotation(rotation, hflip=mirrored)
        for number, time in zip(numbers, asked, strict=True):
            pixels = drawn(number, width, height)
            stored = np.rot90(pixels, -(rotation // 90)) if rotation else pixels
            stored = stored[:, ::-1] if mirrored else stored
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(stored), format="rgb24")
            frame.pts, frame.time_base = round(time / ticks), ticks
            if colour or matrix:
                wide = (colour or {}).get("color_range")
                frame = frame.reformat(format=pix_fmt, dst_colorspace=matrix, dst_color_range=wide)
            target.mux(stream.encode(frame))
        target.mux(stream.encode())
    return MadeClip(path, numbers, tuple(time - asked[0] for time in asked))


def write_audio_only(path: Path) -> Path:
    """Write a file with a second of silence and no picture."""
    with av.open(str(path), "w") as target:
        stream: Any = target.add_stream("aac", rate=8000)
        stream.layout = "mono"
        for start in range(0, 8000, 1000):
            frame: Any = av.AudioFrame.from_ndarray(
                np.zeros((1, 1000), np.float32), format="fltp", layout="mono"
            )
            frame.sample_rate, frame.pts = 8000, start
            target.mux(stream.encode(frame))
        target.mux(stream.encode())
    return path


def write_frame_folder(
    folder: Path, *, frames: int = 30, first: int = 0, width: int = WIDTH, height: int = HEIGHT
) -> MadeClip:
    """Write a folder of numbered JPEG files, as ImageNet-Vid has them: ``000000.JPEG``."""
    from PIL import Image

    folder.mkdir(parents=True)
    for number in range(frames):
        picture = Image.fromarray(paint(number, width, height))
        picture.save(folder / f"{first + number:06d}.JPEG", format="JPEG", quality=95)
    return MadeClip(folder, tuple(range(frames)), tuple(place / 30 for place in range(frames)))


def cut_without_encoding(clip: MadeClip, path: Path, start: int, stop: int) -> MadeClip:
    """Cut frames `start` to `stop` out of an MP4 by copying its packets.

    As every tool that cuts without encoding does, it keeps the pictures from the keyframe before
    `start` on, and an edit list hides them. `stop` is a keyframe or the end.
    """
    source: Any = av.open(str(clip.path))
    target: Any = av.open(str(path), "w")
    with source, target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        packets = [packet for packet in source.demux(stream) if packet.pts is not None]
        shown = sorted(packet.pts for packet in packets)
        first, end = shown[start], shown[stop - 1]
        keys = [p.pts for p in packets if p.is_keyframe and p.pts <= first]
        begun = False
        for packet in packets:
            begun = begun or (packet.is_keyframe and packet.pts == max(keys))
            if not begun or packet.pts > end:
                continue
            packet.pts, packet.dts = packet.pts - first, packet.dts - first
            packet.stream = copy
            target.mux(packet)
    seconds = tuple(time - clip.seconds[start] for time in clip.seconds[start:stop])
    return MadeClip(path, clip.numbers[start:stop], seconds)


def _dropped(frames: int = 60) -> list[int]:
    """Numbers of a clip that lost a third of its frames, in no pattern."""
    kept = np.random.default_rng(4).random(frames) > 0.3
    return [0, *(number for number in range(1, frames) if kept[number])]


def _variable(path: Path) -> MadeClip:
    numbers = _dropped()
    return write_clip(path, numbers=numbers, times=[number / 30 for number in numbers])


def _halved(path: Path) -> MadeClip:
    times = [place / 30 if place < 30 else 1 + (place - 30) / 15 for place in range(60)]
    return write_clip(path, times=times)


def _cut(path: Path) -> MadeClip:
    whole = write_clip(path.with_name(f"whole-{path.name}"), frames=80, gop=20)
    return cut_without_encoding(whole, path, 27, 60)


# One of each kind of file that readers are known to number wrongly, by name of file.
CLIPS: dict[str, Callable[[Path], MadeClip]] = {
    "plain.mp4": write_clip,
    "no-b.mp4": lambda path: write_clip(path, b_frames=0),
    "long-gop.mp4": lambda path: write_clip(path, gop=250, b_frames=3),
    "ntsc.mp4": lambda path: write_clip(path, fps=Fraction(30000, 1001)),
    "slow.mp4": lambda path: write_clip(path, fps=15),
    "film.mkv": lambda path: write_clip(path, fps=Fraction(24000, 1001)),
    "quicktime.mov": write_clip,
    "flash.flv": write_clip,
    "open-gop.mp4": lambda path: write_clip(path, options=_x264(12, 2, "open-gop=1")),
    "hevc.mp4": lambda path: write_clip(path, codec="libx265", frames=48, pix_fmt="yuv420p"),
    "ten-bit.mp4": lambda path: write_clip(path, pix_fmt="yuv420p10le"),
    "hevc.ts": lambda path: write_clip(path, codec="libx265", frames=48),
    "pyramid.mp4": lambda path: write_clip(
        path, options=_x264(40, 5, "b-pyramid=normal:ref=4") | {"preset": "fast"}
    ),
    "interlaced.ts": lambda path: write_clip(
        path, options=_x264(20, 2, "tff=1") | {"preset": "fast"}
    ),
    # No keyframes but the first: columns are renewed one after the other.
    "refresh.ts": lambda path: write_clip(
        path, b_frames=0, options=_x264(20, 0, "intra-refresh=1") | {"preset": "fast"}
    ),
    # One time a frame, which is that of decoding.
    "h264.avi": write_clip,
    "h264.asf": write_clip,
    "vp9.webm": lambda path: write_clip(path, codec="libvpx-vp9"),
    "av1.mkv": lambda path: write_clip(path, codec="libsvtav1", frames=40),
    "mpeg4.avi": lambda path: write_clip(path, codec="mpeg4"),
    "motion-jpeg.avi": lambda path: write_clip(path, codec="mjpeg", pix_fmt="yuvj420p"),
    "lossless.mkv": lambda path: write_clip(path, codec="ffv1", pix_fmt="bgr0"),
    "broadcast.ts": write_clip,
    "mpeg2.ts": lambda path: write_clip(path, codec="mpeg2video", fps=25),
    "mpeg2.mpg": lambda path: write_clip(path, codec="mpeg2video", fps=25),
    "variable.mp4": _variable,
    "variable.mkv": _variable,
    "halved.mp4": _halved,
    "cut.mp4": _cut,
    "fragmented.mp4": lambda path: write_clip(
        path, container_options={"movflags": "frag_keyframe+empty_moov"}
    ),
    "no-edit-list.mp4": lambda path: write_clip(path, container_options={"use_editlist": "0"}),
    "turned-90.mp4": lambda path: write_clip(path, rotation=90),
    "turned-180.mp4": lambda path: write_clip(path, rotation=180),
    "turned-270.mp4": lambda path: write_clip(path, rotation=270),
    "mirrored.mp4": lambda path: write_clip(path, mirrored=True),
    "three.mp4": lambda path: write_clip(path, frames=3),
}


def _ticks(rate: Fraction, times: Sequence[float] | None) -> Fraction:
    return 1 / rate if times is None else Fraction(1, _TICKS)


def _options(codec: str, gop: int, b_frames: int) -> dict[str, str]:
    if codec in ("libx264", "libx264rgb"):
        return _x264(gop, b_frames)
    if codec == "libx265":
        told = f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes={b_frames}:pools=none:log-level=0"
        return {"preset": "ultrafast", "crf": "20", "x265-params": f"{told}:frame-threads=1"}
    if codec == "libvpx-vp9":
        return {"deadline": "realtime", "cpu-used": "8", "crf": "20", "b": "0", "g": str(gop)}
    if codec == "libsvtav1":
        os.environ.setdefault("SVT_LOG", "1")  # else it talks on stderr
        return {"preset": "8", "crf": "5", "svtav1-params": f"keyint={gop}:lp=1"}
    if codec in ("mpeg4", "mpeg2video", "mjpeg"):
        return {"qmin": "2", "qmax": "4"}
    return {}


def _x264(gop: int, b_frames: int, more: str = "") -> dict[str, str]:
    told = (
        f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes={b_frames}:b-adapt=0:cpu-independent=1"
    )
    return {
        "preset": "ultrafast",
        "crf": "20",
        "x264-params": f"{told}:{more}" if more else told,
    }
