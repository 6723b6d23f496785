"""Sequences as H.264 videos in MP4, as ImageNet-P stores them, and back to frames.

Here: the bytes of one video. A stored sequence is a video of one frame a second. Storage
``"lossless"`` keeps every sample. Storage ``"published"`` has the settings of the published files:
libx264 with preset veryslow at constant rate factor 20, for the noises with tune grain at x264's
own 23; chroma is not subsampled. It changes the pixels: a noise loses about a fifth of its
standard deviation.

Encoder and decoder are those inside PyAV, and their versions matter: other versions of x264 make
other bytes, and of a published video another decoder may make other pixels, for H.264 says nothing
of the way from YUV to RGB. Here it is FFmpeg's, with the same pixels as OpenCV's ``VideoCapture``,
which the official evaluation uses. Lossless videos are RGB throughout: every decoder gives the
same.
"""

from __future__ import annotations

import io
from typing import Any, Literal

import av
import numpy as np
import numpy.typing as npt

from ops.errors import ShiftlakeError
from ops.pixels import UndecodableImage

Frames = npt.NDArray[np.uint8]
Storage = Literal["lossless", "published"]

# Three times what any perturbation has at twice its size; a few kilobytes can claim gigabytes.
MAX_FRAMES = 128
MAX_PIXELS = 448 * 448
# Opening a file decodes a little of every stream in it, those within this number under the limits.
_STREAMS = 64
# The bytes of x264's plain C code, at no cost in time. Left to itself, x264 has others for some
# processors, and for those with AVX-512 even from call to call.
_SAME = {"x264-params": "cpu-independent=1"}
_FASTEST = {"preset": "ultrafast", "qp": "0", **_SAME}
_PUBLISHED = {"preset": "veryslow", "crf": "20", **_SAME}
_PUBLISHED_GRAIN = {"preset": "veryslow", "tune": "grain", **_SAME}


class UndecodableVideo(UndecodableImage):
    """The bytes of a sample are no video of a sequence; `found` is the reason, in one line."""

    def __init__(
        self,
        what: str = "A video cannot be decoded.",
        *,
        expected: object = "an H.264 video in MP4",
        found: object,
        where: object = "a sample",
        remedy: str = "nothing, if it was published so: its frames count as wrong predictions",
    ) -> None:
        super().__init__(what, expected=expected, found=found, where=where, remedy=remedy)


def encode(frames: Frames, storage: Storage = "lossless", *, grain: bool = False) -> bytes:
    """Store frames as a video.

    Parameters
    ----------
    frames : uint8 array, shape (frames, height, width, 3)
        In RGB.
    storage : {"lossless", "published"}
        Identical pixels, fast and large, or the settings of the published files: small, and
        slower by a factor of 20.
    grain : bool
        Published settings of the noises; makes no difference to lossless storage.

    Returns
    -------
    bytes
        An MP4 file: of the same frames the same bytes always, under the same PyAV.

    Raises
    ------
    ShiftlakeError
        If the frames or the storage are not as told above.
    """
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or not frames.size:
        raise ShiftlakeError(
            "These are no frames of a video.",
            expected="a uint8 array of shape (frames, height, width, 3)",
            found=f"{frames.dtype} of shape {frames.shape}",
            where="frames",
            remedy="Give the result of ops.perturbations.sequence.",
        )
    codec, pixels, options = _settings(storage, grain)
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as container:
        stream: Any = container.add_stream(codec, rate=1, options=options)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = pixels
        stream.codec_context.thread_count = 1
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return target.getvalue()


def decode(data: bytes, *, frames: int | None = None) -> Frames:
    """Decode a video to its frames.

    Parameters
    ----------
    data : bytes
        An MP4 file of H.264, with chroma subsampled or not.
    frames : int, optional
        How many there must be; by default any number up to `MAX_FRAMES`.

    Returns
    -------
    uint8 array, shape (frames, height, width, 3)
        In RGB.

    Raises
    ------
    UndecodableVideo
        If the content is missing, cut or damaged anywhere, of another format, of another number
        of frames, or over `MAX_FRAMES` frames or `MAX_PIXELS` pixels each. Nothing over these
        limits is ever held in memory.
    """
    most = MAX_FRAMES if frames is None else frames
    try:
        found = _decode(data, most)
    except av.FFmpegError as error:
        reason = error.strerror or type(error).__name__
        raise UndecodableVideo(found=f"{reason} ({len(data)} bytes)") from error
    if not found or (frames is not None and len(found) != frames):
        raise UndecodableVideo(expected=f"{frames or 'some'} frames", found=f"{len(found)} frames")
    if len({frame.shape for frame in found}) > 1:
        raise UndecodableVideo(expected="frames of one size", found="frames of several sizes")
    return np.stack(found)


def _settings(storage: Storage, grain: bool) -> tuple[str, str, dict[str, str]]:
    """Encoder, pixel format and options."""
    if storage == "lossless":
        return "libx264rgb", "rgb24", _FASTEST
    if storage == "published":
        return "libx264", "yuv444p", _PUBLISHED_GRAIN if grain else _PUBLISHED
    raise ShiftlakeError(
        "There is no such storage of a sequence.",
        expected="'lossless' or 'published'",
        found=repr(storage),
        where="storage",
        remedy="Use 'lossless', or 'published' for the settings of the published files.",
    )


def _decode(data: bytes, most: int) -> list[Frames]:
    # One thread: the samples of a shard are what runs in parallel. Damage is an error, where the
    # decoder would by default make something up.
    options = {"max_pixels": str(MAX_PIXELS), "threads": "1", "err_detect": "explode"}
    # The format is not guessed: among those that FFmpeg knows are lists of other files to open.
    open_: Any = av.open  # its annotations want the options of streams to be strings
    with open_(io.BytesIO(data), format="mp4", stream_options=[options] * _STREAMS) as container:
        if not container.streams.video or len(container.streams) > _STREAMS:
            raise UndecodableVideo(found="no video in the file")
        stream = container.streams.video[0]
        if stream.codec_context.name != "h264":
            raise UndecodableVideo(found=f"a video of format {stream.codec_context.name}")
        _check_size(stream.codec_context.width, stream.codec_context.height)
        stream.codec_context.options = options
        found: list[Frames] = []
        for frame in container.decode(stream):
            _check_size(frame.width, frame.height)
            if frame.is_corrupt:
                raise UndecodableVideo(found=f"frame {len(found)} is damaged")
            if len(found) == most:
                raise UndecodableVideo(
                    expected=f"at most {most} frames", found=f"more than {most} frames"
                )
            found.append(frame.to_ndarray(format="rgb24"))
    return found


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise UndecodableVideo(
            expected=f"at most {MAX_PIXELS:,} pixels a frame",
            found=f"frames of {width} x {height} pixels, over the limit of {MAX_PIXELS:,}",
        )
