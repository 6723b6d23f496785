"""Opening a video file safely, and saying in one line why it is none.

libav's messages stay where they are: passed on to Python's logging from a decoder's own threads
they can stop the process for good.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av

from ops.video.decoding.mp4_boxes import claimed_samples, has_index, is_mp4
from ops.video.decoding.unreadable import UnreadableVideo

# Self-contained files with a time for every frame. FFmpeg knows many more formats, among them
# lists of other files and addresses (hls, concat, dash, image2), which no video may make us read.
FORMATS = (
    "mov",
    "mp4",
    "matroska",
    "webm",
    "avi",
    "mpegts",
    "mpeg",
    "flv",
    "asf",
    "ogg",
    "nut",
    "mxf",
    "gif",
)
# Those of 8K video, 8192 x 4320: nothing larger is published, and a few bytes can claim gigabytes.
MAX_PIXELS = 8192 * 4320
# Two days at 30 frames a second.
MAX_FRAMES = 5_200_000
# Opening a file decodes a little of every stream in it, those within this number under the limits.
MAX_STREAMS = 64

_LISTS = (b"#EXTM3U", b"ffconcat", b"[playlist]", b"<MPD", b"<?xml", b"v=0\r", b"v=0\n")


def open_container(path: Path) -> Any:
    """Open a video file.

    Returns
    -------
    av.container.InputContainer

    Raises
    ------
    UnreadableVideo
        If it is missing, empty, or of no known format.
    """
    if not path.is_file():
        raise UnreadableVideo(found="no such file", where=path.name)
    if not path.stat().st_size:
        raise UnreadableVideo(found="0 bytes", where=path.name)
    _check_claims(path)
    limits = {"max_pixels": str(MAX_PIXELS), "threads": "1"}
    try:
        try:
            return _open(path, [limits] * MAX_STREAMS)
        except ValueError:
            # Broadcast formats name no streams up front to have options for. Theirs stay under
            # libav's own limit while the file is opened, and under ours from then on.
            return _open(path, None)
    except (av.FFmpegError, OSError, ValueError) as error:
        raise UnreadableVideo(found=_reason(path, error), where=path.name) from error


def picture_stream(container: Any, name: str) -> Any:
    """Find the stream of pictures: the first that is no cover of a record.

    Raises
    ------
    UnreadableVideo
        If there is none, or its pictures are over `MAX_PIXELS`, or no decoder is known.
    """
    streams = container.streams
    if len(streams) > MAX_STREAMS:
        raise UnreadableVideo(
            expected=f"at most {MAX_STREAMS} streams", found=f"{len(streams)} streams", where=name
        )
    cover = av.stream.Disposition.attached_pic
    found = [stream for stream in streams.video if not stream.disposition & cover]
    if not found:
        kinds = sorted({stream.type for stream in streams})
        raise UnreadableVideo(
            found=f"no pictures in the file, only {', '.join(kinds) or 'damage'}", where=name
        )
    stream = found[0]
    context = stream.codec_context
    if context is None or not context.name:
        raise UnreadableVideo(found="pictures of a format without a decoder", where=name)
    check_size(context.width, context.height, name)
    for other in streams:
        if other.index != stream.index:
            other.discard = av.stream.Discard.all
    return stream


def check_size(width: int, height: int, name: str) -> None:
    """Refuse pictures over `MAX_PIXELS`.

    Raises
    ------
    UnreadableVideo
    """
    if width * height > MAX_PIXELS:
        raise UnreadableVideo(
            expected=f"at most {MAX_PIXELS:,} pixels a frame",
            found=f"frames of {width} x {height} pixels",
            where=name,
        )


def _check_claims(path: Path) -> None:
    with path.open("rb") as file:
        if not is_mp4(file.read(8)):
            return
    pictures, samples = claimed_samples(path)
    size = path.stat().st_size
    if pictures > MAX_FRAMES or samples > size:
        raise UnreadableVideo(
            expected=f"at most {MAX_FRAMES:,} frames, and a byte for every sample",
            found=f"an index that claims {samples:,} samples, in a file of {size:,} bytes",
            where=path.name,
        )


def _open(path: Path, stream_options: list[dict[str, str]] | None) -> Any:
    open_: Any = av.open  # its annotations want the options of streams to be strings
    return open_(
        # An absolute path begins with a slash, so that no name is taken for an address.
        str(path.absolute()),
        metadata_errors="replace",
        container_options={"format_whitelist": ",".join(FORMATS), "protocol_whitelist": "file"},
        stream_options=stream_options,
    )


def _reason(path: Path, error: Exception) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    size = path.stat().st_size
    if start[:9].lower() in (b"<!doctype", b"<html") or start[:5].lower() == b"<html":
        return f"a web page, {size} bytes"
    if start.startswith(_LISTS):
        return "a list of other files or addresses, which is not followed"
    if is_mp4(head) and not has_index(path):
        return "an MP4 without its index (moov): the end of the file is missing"
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{' '.join(str(told).split())} ({size} bytes)"
