"""Making very many small objects at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection(pause: bool = True) -> Iterator[None]:
    """Let the collector of cyclic garbage rest while many objects are made that all stay.

    It would walk through all of them again and again, for half of the time.
    """
    pause = pause and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
