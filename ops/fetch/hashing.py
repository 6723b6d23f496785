"""Hashes: computed beside the transfer, and compared as people write them.

Each kind runs in a thread of its own; hashlib releases the GIL, so on two cores the transfer
does not wait for them.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections.abc import Iterable, Sequence
from typing import BinaryIO

PIECE = 1 << 20
KINDS = ("sha256", "sha1", "md5")

# At most this many batches wait for a slower hash.
_WAITING = 32


def normal(value: str | None) -> str | None:
    """A hash as this project compares it: stripped, lower case, without an ``md5:`` in front."""
    text = (value or "").strip().lower().rpartition(":")[2].strip()
    return text or None


def needed(expected: Iterable[str]) -> tuple[str, ...]:
    """The kinds to compute: sha256 always, and what else it takes to check `expected`.

    md5 is the slow one: it is computed only where no stronger hash is known.
    """
    known = set(expected)
    kinds = ["sha256"]
    if "sha256" not in known:
        kinds += [kind for kind in ("sha1", "md5") if kind in known][:1]
    return tuple(kinds)


def of_file(file: BinaryIO, kinds: Sequence[str]) -> dict[str, str]:
    """Hashes of an open file, kind to lower-case hex."""
    with Hashing(kinds) as hashing:
        hashing.feed_file(file)
        return hashing.digests()


def git_blob_sha1(file: BinaryIO, size: int) -> str:
    """The name git gives a file of `size` bytes; it begins with the size, so it comes last."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


class Hashing:
    """Hashes of several kinds over one stream of bytes.

    Parameters
    ----------
    kinds : sequence of str
        Out of :data:`KINDS`.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = tuple(kinds)
        self._lanes: list[_Lane] = []
        self.fed = 0
        self.reset()

    def __enter__(self) -> Hashing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reset(self) -> None:
        """Begin again with an empty stream."""
        self.close()
        self._lanes = [_Lane(kind) for kind in self.kinds]
        self.fed = 0

    def feed(self, pieces: list[bytes]) -> None:
        """Append `pieces`; returns at once unless a hash is far behind."""
        self.fed += sum(map(len, pieces))
        for lane in self._lanes:
            lane.queue.put(pieces)

    def feed_file(self, file: BinaryIO) -> None:
        """Append an open file from where it stands to its end."""
        while piece := file.read(PIECE):
            self.feed([piece])

    def digests(self) -> dict[str, str]:
        """Wait for all hashes, kind to lower-case hex; nothing can be fed afterwards."""
        self._finish()
        return {lane.kind: lane.hash.hexdigest() for lane in self._lanes}

    def close(self) -> None:
        """Stop the threads."""
        self._finish()
        self._lanes = []

    def _finish(self) -> None:
        for lane in self._lanes:
            lane.queue.put(None)
        for lane in self._lanes:
            lane.thread.join()


class _Lane:
    """One kind of hash, its thread and what waits for it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hash = hashlib.new(kind, usedforsecurity=False)
        self.queue: queue.Queue[list[bytes] | None] = queue.Queue(_WAITING)
        self.thread = threading.Thread(target=self._run, name=f"hash-{kind}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (pieces := self.queue.get()) is not None:
            for piece in pieces:
                self.hash.update(piece)
