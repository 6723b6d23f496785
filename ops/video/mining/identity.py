"""Which video it is: the sha256 of its bytes, and a cheap look whether it is still the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ops.errors import ShiftlakeError

Stamp = tuple[int, int]
_FRAMES = (".jpg", ".jpeg")


def sha256_of(path: Path) -> str:
    """sha256 of a video file, or of a folder of frames: of their names and contents, sorted."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    state = hashlib.sha256()
    for frame in sorted(path.iterdir()):
        if frame.suffix.lower() in _FRAMES and frame.is_file():
            content = frame.read_bytes()
            state.update(f"{frame.name} {len(content)}\n".encode())
            state.update(content)
    return state.hexdigest()


def stamp_of(path: Path) -> Stamp:
    """Size and time of the last change, in nanoseconds; of a folder those of all its frames."""
    found = path.stat()
    if path.is_file():
        return found.st_size, found.st_mtime_ns
    size, newest = 0, found.st_mtime_ns
    with os.scandir(path) as frames:
        for frame in frames:
            if frame.name.lower().endswith(_FRAMES) and frame.is_file():
                told = frame.stat()
                size, newest = size + told.st_size, max(newest, told.st_mtime_ns)
    return size, newest


def require_same(path: Path, stamp: Stamp, name: str) -> None:
    """Refuse a video that changed since its sha256 was taken.

    Raises
    ------
    ShiftlakeError
        Frames of the new content would be sealed under the hash of the old.
    """
    try:
        now = stamp_of(path)
    except FileNotFoundError:
        now = None
    if now != stamp:
        raise ShiftlakeError(
            "A video changed while it was mined.",
            expected=f"{stamp[0]:,} bytes, unchanged",
            found="no file" if now is None else f"{now[0]:,} bytes, written since",
            where=name,
            remedy="mine again when it is no longer written",
        )
