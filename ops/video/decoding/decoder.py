"""The decoder of a stream: the one that says most about damage."""

from __future__ import annotations

from typing import Any

import av

from ops.video.decoding.containers import MAX_PIXELS


def prepare(context: Any) -> None:
    """Set up the decoder that FFmpeg chose for a stream."""
    options = {"max_pixels": str(MAX_PIXELS)}
    if context.name == "hevc":
        # It flags next to nothing. This makes it stop at what breaks the structure of a packet, and
        # compare pictures with the hashes that some encoders put beside them.
        options["err_detect"] = "crccheck+explode"
    _alone(context, options)


def libvpx(context: Any) -> Any | None:
    """Give the decoder that stands in for FFmpeg's own of VP9, or None.

    FFmpeg's passes damaged pictures off as sound; libvpx refuses them, gives the same pixels and
    takes as long. It tells neither picture types nor orientation, and in PyAV has eight bits only.
    """
    if context.name != "vp9" or context.format is None:
        return None
    if any(part.bits > 8 for part in context.format.components):
        return None
    try:
        own: Any = av.CodecContext.create("libvpx-vp9", "r")
    except ValueError:
        return None  # PyAV was built without it.
    _alone(own, {"max_pixels": str(MAX_PIXELS)})
    return own


def _alone(context: Any, options: dict[str, str]) -> None:
    # One thread: videos are what runs in parallel, and with several a decoder passes more damage
    # off as sound.
    context.options = options
    context.thread_type, context.thread_count = "NONE", 1
