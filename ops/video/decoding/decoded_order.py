"""The order of presentation of files whose times do not tell it: that in which frames decode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np

from ops.video.decoding.containers import open_container, picture_stream
from ops.video.decoding.decoder import prepare
from ops.video.decoding.packet_table import NO_TIME, REMEDY, PacketTable
from ops.video.decoding.unreadable import UnreadableVideo

# Containers that hold one time of a frame, which is that of decoding.
_ONE_TIME = frozenset({"avi", "asf"})


def is_doubtful(container: Any, stream: Any, table: PacketTable) -> bool:
    """Whether times do not tell the order of presentation.

    AVI and ASF have room for one time only. Of some formats libav makes the other from what it
    sees in the pictures; of those where it does not (H.264, HEVC), frames seem to be presented in
    the order they are stored in, also those that are not.
    """
    timed = table.pts != NO_TIME
    stored = bool((np.diff(table.pts[timed]) > 0).all())
    reorders = container.format.name in _ONE_TIME and stream.codec_context.reorder_depth > 0
    return not timed.all() or (reorders and stored)


def in_decoded_order(path: Path, table: PacketTable) -> PacketTable:
    """Find the order of presentation by decoding the whole file.

    Returns
    -------
    PacketTable
        With its `order`.

    Raises
    ------
    UnreadableVideo
        If frames have no times, by which they could be told from each other.
    """
    order: list[int] = []
    untimed = 0
    with open_container(path) as container:
        stream = picture_stream(container, path.name)
        prepare(stream.codec_context)
        for packet in container.demux(stream):
            try:
                frames = stream.codec_context.decode(packet)
            except av.FFmpegError:
                continue
            found = [table.packet_at.get(frame.pts) for frame in frames]
            untimed += found.count(None)
            order += [place for place in found if place is not None and table.shown[place]]
    if untimed or not order or len(set(order)) < len(order):
        raise UnreadableVideo(
            expected="a time of its own for every frame",
            found=f"{untimed or 'some'} frames without one" if order else "no frame that decodes",
            where=path.name,
            remedy=REMEDY,
        )
    return replace(table, order=np.array(order, np.int64))
