"""The few boxes of an MP4 that are looked at before libav is: is its index there, and is it sane.

An index of a few bytes can claim any number of samples, and libav makes room for all of them before
it looks for the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_OUTER = (b"ftyp", b"mdat", b"moov", b"free", b"skip", b"wide", b"pnot")
_NESTED = (b"trak", b"mdia", b"minf", b"stbl")
# Boxes that are looked at in all, so that a made-up file cannot keep us busy.
_MOST = 100_000


def is_mp4(head: bytes) -> bool:
    """Whether the first bytes of a file are those of an MP4 or QuickTime file."""
    return head[4:8] in _OUTER


def has_index(path: Path) -> bool:
    """Whether there is a ``moov`` box, and whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        return any(name == b"moov" and end <= size for name, _, end in _boxes(file, 0, size))


def claimed_samples(path: Path) -> tuple[int, int]:
    """Count what the tables of the index claim.

    Returns
    -------
    pictures : int
        Most samples of a track of pictures.
    all : int
        Most samples of any track.
    """
    size = path.stat().st_size
    pictures = most = 0
    with path.open("rb") as file:
        for name, begin, end in _boxes(file, 0, size):
            if name == b"moov":
                for is_picture, count in _tracks(file, begin, min(end, size)):
                    most = max(most, count)
                    pictures = max(pictures, count if is_picture else 0)
    return pictures, most


def _tracks(file: BinaryIO, begin: int, end: int, depth: int = 0) -> Iterator[tuple[bool, int]]:
    """Of every table of samples: whether it is of pictures, and how many it claims."""
    is_picture = True
    for name, start, stop in _boxes(file, begin, end):
        if name in _NESTED and depth < len(_NESTED):
            for inner, count in _tracks(file, start, min(stop, end), depth + 1):
                yield is_picture and inner, count
        elif name == b"hdlr":
            file.seek(start + 8)
            # Beside the kind of a track, QuickTime names that of a reference to its data.
            is_picture = file.read(4) in (b"vide", b"alis", b"url ")
        elif name in (b"stsz", b"stz2"):
            file.seek(start + 8)
            yield is_picture, int.from_bytes(file.read(4), "big")


def _boxes(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, begin and end of the content of every box in a stretch of a file."""
    for _ in range(_MOST):
        if begin + 8 > end:
            return
        file.seek(begin)
        head = file.read(16)
        length, past = int.from_bytes(head[:4], "big"), 8
        if length == 1:
            length, past = int.from_bytes(head[8:16], "big"), 16
        elif length == 0:
            length = end - begin
        if length < past:
            return
        yield head[4:8], begin + past, begin + length
        begin += length
