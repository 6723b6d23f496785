"""Which frames of a damaged stream are not to be trusted.

A decoder flags the frame in which it meets damage and hardly any of those that are predicted from
it, though they show it just as well. So everything from a damaged packet to the next place at which
decoding can begin anew counts as damaged.
"""

from __future__ import annotations

from dataclasses import replace

from ops.video.decoding.packet_table import PacketTable
from ops.video.decoding.picture import Picture


class Damage:
    """What is known of damage in one pass of decoding.

    Parameters
    ----------
    table : PacketTable
    start : int
        Packet that decoding began at.
    """

    def __init__(self, table: PacketTable, start: int) -> None:
        self._table = table
        self._begun = table.pts[start]
        self._packets: list[int] = []

    def found_in(self, packet: int) -> None:
        """Note that a packet does not decode, or gave a flagged frame."""
        # What is presented before the start of an open group lacks the group before it, no more.
        if self._table.pts[packet] >= self._begun:
            self._packets.append(packet)

    def is_known(self, index: int, pts: int) -> bool:
        """Whether all that a frame may depend on was presented, at a time of presentation.

        References may be presented after the frames that are predicted from them, and only then
        show their flag.
        """
        return bool(self._table.reach[self._table.packets[index]] <= pts)

    def judged(self, picture: Picture) -> Picture:
        """Give a picture as it is, or without pixels where damage lies between it and its start."""
        if not self._packets or picture.problem is not None:
            return picture
        packet = int(self._table.packets[picture.index])
        place = self._table.start_of(picture.index)
        start = int(self._table.starts[place]) if place >= 0 else 0
        if any(start <= damaged <= packet for damaged in self._packets):
            return replace(picture, pixels=None, problem="it is predicted from a damaged frame")
        return picture
