"""Lines of the event log, a few at a time: each entry is a transaction of its own on the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Somebody who watches a run should not have to wait for its next line.
_SECONDS = 5.0


@contextmanager
def gathered(log: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Put lines that come shortly after one another into one entry.

    A benchmark of 75 conditions has 75 lines, often within a second or two; 75 entries would take
    longer than the work they tell of.

    Parameters
    ----------
    log : callable
        Writes an entry.

    Yields
    ------
    callable
        Takes a line. The first is written at once, those of the next five seconds together, and
        what is left at the end of the block, also of one that fails.
    """
    waiting: list[str] = []
    written = float("-inf")

    def flush() -> None:
        nonlocal written
        if waiting:
            log("\n".join(waiting))
            waiting.clear()
            written = time.monotonic()

    def line(text: str) -> None:
        waiting.append(text)
        if time.monotonic() - written >= _SECONDS:
            flush()

    try:
        yield line
    finally:
        flush()
