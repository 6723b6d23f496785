"""How many threads OpenCV starts: one, while this package calls it, for images run in parallel.

The number belongs to the whole process, so it is put back as the caller had it. No result depends
on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_inside = 0
_before = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep OpenCV from starting threads; the last to leave puts back what the first one found."""
    global _inside, _before
    import cv2  # not needed to talk about corruptions

    with _LOCK:
        if not _inside:
            _before = cv2.getNumThreads()
            cv2.setNumThreads(1)
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                cv2.setNumThreads(_before)
