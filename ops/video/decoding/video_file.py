"""A video file, frame by exact frame.

Positions are found in the file's own table of packets, never by multiplying with a rate: a frame
is kept if and only if the decoder returns it with the time that the table has for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
from av.video.reformatter import Colorspace, VideoReformatter

from ops.video.decoding.containers import MAX_PIXELS, check_size
from ops.video.decoding.damage import Damage
from ops.video.decoding.orientation import orientation, upright
from ops.video.decoding.packet_reader import PacketReader
from ops.video.decoding.picture import Picture, PictureType
from ops.video.decoding.rate import frame_rate
from ops.video.decoding.unreadable import UnreadableVideo
from ops.video.decoding.video import Video

_TYPES: dict[int, PictureType] = {1: "I", 2: "P", 3: "B"}
_MATRICES = {
    0: "rgb",
    1: "bt709",
    4: "fcc",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "ycgco",
    9: "bt2020nc",
    10: "bt2020c",
}
_UNTAGGED = 2
# Phones film it where nobody asked for it.
_HDR = {
    number: f"high dynamic range ({name}), which is not tone-mapped: its pictures are pale"
    for number, name in ((16, "PQ"), (18, "HLG"))
}
_HD = 720
# Formats in which pictures that no other refers to are known as such, and may be left out on the
# way to the first wanted one. HEVC's mark speaks of one of several layers only.
_MARKS_UNREFERRED = frozenset({"h264", "mpeg1video", "mpeg2video", "mpeg4"})
# Frames apart from which on it is cheaper to look for a place anew than to decode what is between.
_APART = 12
# The last resort begins at the first frame; beyond so many packets it would cost minutes.
_LAST_RESORT = 2_000


class _Look(NamedTuple):
    """Size and orientation of frames as they are stored."""

    width: int
    height: int
    degrees: int
    mirrored: bool


class VideoFile(Video):
    """A file of any of the containers in :mod:`ops.video.decoding.containers`.

    Parameters
    ----------
    path : Path
    untagged_hd_is_bt709 : bool
        Take untagged pictures of 720 rows and more for BT.709, as they mostly are, and not for
        BT.601 as every reader does by default.

    Raises
    ------
    UnreadableVideo
        If it is missing, of no known format, without pictures or without exact times.
    """

    def __init__(self, path: Path, *, untagged_hd_is_bt709: bool = False) -> None:
        self.where = path.name
        self._hd_is_bt709 = untagged_hd_is_bt709
        self._reformatter = VideoReformatter()
        self._damaged: set[int] = set()
        self._seen: _Look | None = None
        self._looked = False
        self._reader = PacketReader(path)
        self._table = table = self._reader.table
        self._told = _Look(self._reader.width, self._reader.height, 0, False)
        self.codec = self._reader.codec
        self.color_space = _MATRICES.get(self._reader.matrix)
        self.n_frames, self.seconds = len(table.packets), table.seconds
        self.fps, self.variable_rate = frame_rate(self.seconds, table.tick, self._reader.rates)
        problem = table.problem
        if problem is None and self._reader.promised > len(table.pts):
            there = f"{len(table.pts)} of {self._reader.promised}"
            problem = f"cut short: {there} frames are in the file"
        self.problem = "; ".join(filter(None, (problem, _HDR.get(self._reader.transfer)))) or None
        if not self._told.width * self._told.height and not self._look.width:
            self.close()
            raise UnreadableVideo(
                expected=f"frames of at most {MAX_PIXELS:,} pixels",
                found="frames of no size, or of one that is not believed",
                where=self.where,
            )

    @property
    def width(self) -> int:
        """Pixels from left to right, as displayed."""
        look = self._look
        return look.height if look.degrees % 180 else look.width

    @property
    def height(self) -> int:
        """Pixels from top to bottom, as displayed."""
        look = self._look
        return look.width if look.degrees % 180 else look.height

    @property
    def rotation(self) -> int:
        """Degrees, anticlockwise, by which stored pictures were turned: 0, 90, 180 or 270."""
        return self._look.degrees

    @property
    def n_damaged(self) -> int:
        """Frames asked for up to now that could not be given, each counted once."""
        return len(self._damaged)

    @property
    def _look(self) -> _Look:
        """What the first decoded frame was like; decodes one where none was asked for yet."""
        if self._seen is None and self._reader.is_open and not self._looked:
            self._looked = True
            start, _ = next(self._starts(0))
            for _ in self._decoded(start, {0}, hurried=False):
                break
        return self._seen or self._told

    def close(self) -> None:
        """Let go of the file; it cannot be read after that."""
        self._reader.close()

    def pictures(self, indices: Sequence[int]) -> Iterator[Picture]:
        """Give frames one at a time; see :meth:`Video.pictures`."""
        for run in self._runs(self._asked(indices)):
            left = dict.fromkeys(run, "it does not decode")
            for start, hurried in self._starts(run[0]):
                for picture in self._decoded(start, set(left), hurried=hurried):
                    if picture.problem is None:
                        del left[picture.index]
                        yield picture
                    else:
                        left[picture.index] = picture.problem
                if not left:
                    break
            self._damaged |= left.keys()
            for index, problem in left.items():
                yield Picture(index, float(self.seconds[index]), None, None, problem)

    def _runs(self, asked: Sequence[int]) -> Iterator[list[int]]:
        """Part frames into runs that are decoded each from one start."""
        run: list[int] = []
        for index in asked:
            if run and index - run[-1] > _APART:
                place = self._table.start_of(index)
                start = self._table.starts[place] if place >= 0 else 0
                if start > self._table.packets[run[-1]] + _APART:
                    yield run
                    run = []
            run.append(index)
        if run:
            yield run

    def _starts(self, index: int) -> Iterator[tuple[int, bool]]:
        """Packets to begin at, the nearest first, and whether to hurry on the way from there."""
        place = self._table.start_of(index)
        keys = self._table.starts
        nearest = int(keys[place]) if place >= 0 else 0
        yield nearest, self.codec in _MARKS_UNREFERRED
        before = int(keys[place - 1]) if place > 0 else 0
        yield before, False
        if 0 < before <= _LAST_RESORT:
            yield 0, False

    def _decoded(self, start: int, wanted: set[int], *, hurried: bool) -> Iterator[Picture]:
        """Decode from a packet on until every wanted frame was met, or cannot be any more."""
        damage = Damage(self._table, start)
        held: list[Picture] = []
        for frame in self._frames(start, wanted, damage, hurried):
            if frame.pts not in self._table.packet_at:
                continue
            if frame.is_corrupt:
                damage.found_in(self._table.packet_at[frame.pts])
            index = self._table.frame_at.get(frame.pts)
            if index in wanted:
                held.append(self._picture(index, frame))
            while held and damage.is_known(held[0].index, frame.pts):
                yield damage.judged(held.pop(0))
        yield from map(damage.judged, held)

    def _frames(self, start: int, wanted: set[int], damage: Damage, hurried: bool) -> Iterator[Any]:
        """What the decoder gives from a packet on, up to the last that is wanted."""
        needed = {int(self._table.packets[index]) for index in wanted}
        last = max(needed)
        for place, packet in self._reader.packets_from(start):
            context = self._reader.context
            context.skip_frame = "NONREF" if hurried and place not in needed else "DEFAULT"
            frames = _fed(context, packet)
            if frames is None:
                damage.found_in(place)
            yield from frames or ()
            if place >= last:
                break
        # What it still holds back: to feed it further packets would cost a frame each.
        yield from _fed(self._reader.context, None) or ()

    def _kind(self, index: int, frame: Any) -> PictureType | None:
        told = _TYPES.get(int(frame.pict_type))
        if told is None and self.codec == "vp9":
            # libvpx does not tell; of VP9 there are no others.
            return "I" if self._table.keys[self._table.packets[index]] else "P"
        return told

    def _picture(self, index: int, frame: Any) -> Picture:
        seconds, kind = float(self.seconds[index]), self._kind(index, frame)
        degrees, mirrored = self._reader.turn or orientation(frame)
        look = _Look(frame.width, frame.height, degrees, mirrored)
        usual = self._seen or self._told._replace(degrees=degrees, mirrored=mirrored)
        if look != usual and usual.width:
            size = f"{frame.width} x {frame.height} pixels"
            return Picture(index, seconds, kind, None, f"of another size or turn: {size}")
        if frame.is_corrupt:
            return Picture(index, seconds, kind, None, "the decoder flags it as damaged")
        check_size(frame.width, frame.height, self.where)
        self._seen = look
        matrix = None
        if self._hd_is_bt709 and frame.colorspace == _UNTAGGED and frame.height >= _HD:
            matrix = Colorspace.ITU709
        try:
            rgb = self._reformatter.reformat(
                frame, format="rgb24", src_colorspace=matrix, threads=1
            ).to_ndarray()
        except (av.FFmpegError, ValueError) as error:
            return Picture(index, seconds, kind, None, f"its colours are not known: {error}")
        return Picture(index, seconds, kind, upright(np.asarray(rgb), degrees, mirrored))


def _fed(context: Any, packet: Any) -> list[Any] | None:
    """Frames that come out for a packet; None where it does not decode."""
    try:
        return list(context.decode(packet))
    except av.FFmpegError:
        return None
