"""The packets of a video file from any place on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import av
import numpy as np

from ops.errors import ShiftlakeError
from ops.video.decoding.containers import open_container, picture_stream
from ops.video.decoding.decoded_order import in_decoded_order, is_doubtful
from ops.video.decoding.decoder import libvpx, prepare
from ops.video.decoding.orientation import orientation
from ops.video.decoding.packet_table import PacketTable, read_packets
from ops.video.decoding.unreadable import UnreadableVideo


class PacketReader:
    """An open file with its table of packets.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    table : PacketTable
    codec : str
        FFmpeg's name of the format of the pictures.
    matrix, transfer : int
        FFmpeg's numbers of the tagged YUV matrix, and of the transfer of light to numbers.
    width, height : int
        As stored, by the header; 0 where it is not believed.
    rates : list of float
        Frames a second, by the header.
    promised : int
        Packets, by the header; 0 where it does not tell.
    turn : (int, bool) or None
        Orientation as :func:`orientation` gives it, where frames do not tell it themselves.

    Raises
    ------
    UnreadableVideo
        If the file is missing, of no known format, without pictures or without exact times.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._container: Any = open_container(path)
        self._libvpx: Any = None
        self.turn: tuple[int, bool] | None = None
        try:
            self._stream: Any = picture_stream(self._container, path.name)
            prepare(self._stream.codec_context)
            # Copied: libav's objects must not be asked anything once their file is closed.
            context = self._stream.codec_context
            self.codec = str(context.codec.canonical_name)
            self.matrix, self.transfer = int(context.colorspace), int(context.color_trc)
            self.width, self.height = int(context.width), int(context.height)
            rates = (self._stream.average_rate, self._stream.guessed_rate)
            self.rates = [float(rate) for rate in rates if rate]
            self.promised = int(self._stream.frames)
            self.table: PacketTable = read_packets(self._container, self._stream, path.name)
            if is_doubtful(self._container, self._stream, self.table):
                self.table = in_decoded_order(path, self.table)
            if (own := libvpx(context)) is not None:
                self.turn = self._first_turn()
                self._libvpx = own
        # Of streams that contradict each other PyAV says only that there is no such index.
        except (av.FFmpegError, IndexError, ValueError) as error:
            self.close()
            told = getattr(error, "strerror", None) or "damaged streams"
            raise UnreadableVideo(found=str(told), where=path.name) from error
        except BaseException:
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        """Whether it can be read."""
        return self._container is not None

    @property
    def context(self) -> Any:
        """The decoder; another one after the file had to be opened anew."""
        stream = self._opened()
        return self._libvpx or stream.codec_context

    def close(self) -> None:
        """Let go of the file."""
        container, self._container, self._stream = self._container, None, None
        if container is not None:
            container.close()

    def packets_from(self, start: int) -> Iterator[tuple[int, Any]]:
        """Give the packets from one on, with their numbers, to a decoder that begins anew.

        Some containers are searched by place in the file and land late: then from some keys
        further back, and at last from the beginning.
        """
        stream, table = self._opened(), self.table
        if self._libvpx is not None and self._libvpx.is_open:
            # The decoder of a stream is emptied when its file is searched.
            self._libvpx.flush_buffers()
        key = int(np.searchsorted(table.starts, start, side="right")) - 1
        for target in (key, key - 1, key - 3):
            if target < 0:
                break
            try:
                self._container.seek(int(table.pts[table.starts[target]]), stream=stream)
            except av.FFmpegError:
                break
            packets = self._numbered()
            first = next(packets, None)
            if first is not None and first[0] <= start:
                yield from (pair for pair in chain((first,), packets) if pair[0] >= start)
                return
        self.close()
        self._container = open_container(self._path)
        self._stream = picture_stream(self._container, self._path.name)
        prepare(self._stream.codec_context)
        yield from (pair for pair in self._numbered() if pair[0] >= start)

    def _first_turn(self) -> tuple[int, bool]:
        """Orientation of the first frame, as the stream's own decoder tells it."""
        for place, packet in self.packets_from(0):
            try:
                frames = self._opened().codec_context.decode(packet)
            except av.FFmpegError:
                break
            if frames:
                return orientation(frames[0])
            if place > 1:
                break
        return 0, False

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        """Packets from where the file stands, from the first that is in the table on."""
        place = None
        try:
            for packet in self._container.demux(self._opened()):
                if not packet.size:
                    continue
                known = self.table.packet_at.get(packet.pts) if packet.pts is not None else None
                if known is not None:
                    place = known
                elif place is not None:
                    place += 1
                if place is not None:
                    yield place, packet
        except (av.FFmpegError, IndexError):
            return

    def _opened(self) -> Any:
        if self._stream is None:
            raise ShiftlakeError(
                "This video was closed.",
                expected="an open video",
                found="one that was closed",
                where=self._path.name,
                remedy="Read frames inside the `with open_video(...)` block.",
            )
        return self._stream
