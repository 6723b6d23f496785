"""When every frame of a file is presented, and from where it can be decoded.

The table is made by reading the packets of the file once, without decoding any. It is what makes
frame numbers exact: what a container's header says of times, counts and rates is not relied on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from ops.video.decoding.containers import MAX_FRAMES
from ops.video.decoding.unreadable import UnreadableVideo

REMEDY = "repack it with `ffmpeg -fflags +genpts -i FILE -c copy NEW.mp4`, or leave it out"
NO_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class PacketTable:
    """The packets of a stream in the order of the file, which is that of decoding.

    Attributes
    ----------
    pts : int64 array, shape (packets,)
        Time of presentation in ticks; the least number there is where a packet has none.
    keys : bool array, shape (packets,)
        Whether decoding can begin there.
    shown : bool array, shape (packets,)
        Whether it is presented: not what an edit list hides.
    tick : float
        Seconds.
    problem : str or None
        Why reading ended before the end of the file.
    order : int64 array, shape (frames,), optional
        Packet of every frame in the order of presentation, where times do not tell it.
    """

    pts: npt.NDArray[np.int64]
    keys: npt.NDArray[np.bool_]
    shown: npt.NDArray[np.bool_]
    tick: float
    problem: str | None
    order: npt.NDArray[np.int64] | None = None

    @cached_property
    def packets(self) -> npt.NDArray[np.int64]:
        """Packet of every frame, in the order of presentation."""
        if self.order is not None:
            return self.order
        shown = np.flatnonzero(self.shown)
        return shown[np.argsort(self.pts[shown], kind="stable")]

    @cached_property
    def seconds(self) -> npt.NDArray[np.float64]:
        """Time of every frame from the first, ascending."""
        times = np.sort(self.pts[self.packets])
        return np.asarray((times - times[:1]) * self.tick, np.float64)

    @cached_property
    def frame_at(self) -> dict[int, int]:
        """Number of the frame that is presented at a tick."""
        return {time: frame for frame, time in enumerate(self.pts[self.packets].tolist())}

    @cached_property
    def packet_at(self) -> dict[int, int]:
        """Number of the packet with a time of presentation, hidden ones too."""
        return {time: packet for packet, time in enumerate(self.pts.tolist()) if time != NO_TIME}

    @cached_property
    def reach(self) -> npt.NDArray[np.int64]:
        """Latest time of presentation among the packets up to each."""
        return np.maximum.accumulate(self.pts)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Packets that decoding can begin at."""
        return np.flatnonzero(self.keys)

    @cached_property
    def _start_times(self) -> npt.NDArray[np.int64]:
        return self.pts[self.starts]

    def start_of(self, frame: int) -> int:
        """Place in `starts` of the last one from which a frame can be decoded; -1 if none.

        Of an open group of pictures the frames that are presented before the key picture lie
        after it in the file, and need the group before.
        """
        packet = self.packets[frame]
        stored = np.searchsorted(self.starts, packet, side="right")
        # Ascending too, which is checked.
        presented = np.searchsorted(self._start_times, self.pts[packet], side="right")
        return int(min(stored, presented)) - 1


def read_packets(container: Any, stream: Any, name: str) -> PacketTable:
    """Read the packets of a stream.

    Raises
    ------
    UnreadableVideo
        If there are no frames or over `MAX_FRAMES`, if frames have no times, or share one, or if
        the clock of the file jumps back.
    """
    times: list[int] = []
    keys: list[bool] = []
    shown: list[bool] = []
    problem = None
    hides = stream.codec_context.name == "vp8"
    try:
        for packet in container.demux(stream):
            if not packet.size:
                continue
            time = packet.pts
            times.append(NO_TIME if time is None else time)
            keys.append(packet.is_keyframe and time is not None)
            # VP8 keeps pictures that are only referred to in packets of their own.
            unseen = hides and not memoryview(packet)[0] & 0x10
            shown.append(not packet.is_discard and time is not None and not unseen)
            if len(times) > MAX_FRAMES:
                raise UnreadableVideo(
                    expected=f"at most {MAX_FRAMES:,} frames",
                    found=f"more than {MAX_FRAMES:,}",
                    where=name,
                )
    except av.FFmpegError as error:
        problem = f"the file cannot be read after frame {sum(shown)}: {error.strerror}"
    table = PacketTable(
        pts=np.array(times, np.int64),
        keys=np.array(keys, np.bool_),
        shown=np.array(shown, np.bool_),
        tick=float(stream.time_base),
        problem=problem,
    )
    _check_times(table, name)
    return table


def _check_times(table: PacketTable, name: str) -> None:
    if not table.shown.any():
        timed = bool((table.pts != NO_TIME).any())
        found = "no frames" if timed or not len(table.pts) else "frames without times"
        raise UnreadableVideo(found=found, where=name, remedy=REMEDY)
    # Others may be presented before what precedes them in the file, key pictures never.
    back = np.flatnonzero(np.diff(table.pts[table.starts]) < 0)
    if len(back):
        raise UnreadableVideo(
            expected="one clock from the first frame to the last",
            found=f"a clock that jumps back at key {back[0] + 1}, as of files put end to end",
            where=name,
            remedy=REMEDY,
        )
    if not np.diff(np.sort(table.pts[table.packets])).all():
        raise UnreadableVideo(
            expected="a time of its own for every frame",
            found="frames that share one",
            where=name,
            remedy=REMEDY,
        )
