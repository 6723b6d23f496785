"""One URL to one partial file: continue, retry, count, and stop early at a wrong answer.

Which URL comes next, and whether the finished bytes are the right ones, is decided in
:mod:`ops.fetch.download`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops.fetch import page, space
from ops.fetch.body import Body, RangeRefused, Transient, Unavailable
from ops.fetch.credentials import clean
from ops.fetch.expected import Expected
from ops.fetch.hashing import Hashing
from ops.fetch.partial import Partial
from ops.fetch.urls import open_url

if TYPE_CHECKING:
    from tenacity import RetryCallState

# Written and hashed at a time; small enough that a kill loses little.
BATCH_BYTES = 1 << 18
BATCH_SECONDS = 0.25
# A wrong answer is kept for inspection up to here; a published archive may be 148 GB.
ASIDE_BYTES = 64 << 20


@dataclass(frozen=True)
class Patience:
    """How long to insist.

    Attributes
    ----------
    tries : int
        Requests in a row that bring nothing new, before a URL is given up.
    first, longest : float
        Seconds of the first wait, which doubles each time, and its bound.
    asked : float
        Longest ``Retry-After`` that is honoured, seconds.
    timeout : float
        Seconds without a byte after which a connection counts as broken.
    """

    tries: int = 6
    first: float = 1.0
    longest: float = 60.0
    asked: float = 600.0
    timeout: float = 60.0


class WrongAnswer(Exception):
    """The server gives something else; the first bytes of it lie in the partial's `aside`."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


@dataclass
class Transfer:
    """Brings one file into its partial, from as many URLs as it takes.

    Parameters
    ----------
    what : str
        Name of the file, for messages.
    archive_format : str or None
        As the catalog describes it.
    expected : Expected
    partial : Partial
    hashing : Hashing
        Always fed with exactly the bytes of the partial.
    patience : Patience
    progress : callable
        Called with (bytes here, bytes in all or None).
    log : callable
    """

    what: str
    archive_format: str | None
    expected: Expected
    partial: Partial
    hashing: Hashing
    patience: Patience
    progress: Callable[[int, int | None], None]
    log: Callable[[str], None]
    attempts: int = 0
    _furthest: int = 0
    _idle: int = 0
    # Set when `url` cannot continue the bytes here: they go only once its answer looks right.
    _afresh: bool = False

    def run(self, url: str) -> None:
        """Download until the last byte is in the partial.

        Raises
        ------
        Transient
            If the server stayed in trouble for longer than the patience.
        Unavailable
            If it does not give the file.
        WrongAnswer
            If what it gives is not the file.
        DiskFull
        """
        from tenacity import Retrying, retry_if_exception_type

        self._furthest, self._idle, self._afresh = self.partial.size, 0, False
        insist = Retrying(
            retry=retry_if_exception_type((Transient, RangeRefused)),
            stop=self._gives_up,
            wait=self._wait,
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            insist(self._once, url)
            self.partial.sync()
        except RangeRefused:
            raise Unavailable("it refuses every range asked for") from None
        finally:
            self.partial.close()

    def _once(self, url: str) -> None:
        self._rehash()
        if self.partial.is_complete:
            return
        offset, validator = self._resume_point(url)
        self.attempts += 1
        self._idle += 1
        try:
            body = open_url(url, offset=offset, validator=validator, timeout=self.patience.timeout)
        except RangeRefused as refused:
            if offset and refused.total == offset:
                return
            self.log(f"{self.what}: {clean(url)} cannot continue it; asking from the start")
            self._afresh = True
            raise
        with closing(body):
            self._receive(url, offset, body)

    def _resume_point(self, url: str) -> tuple[int, str | None]:
        """Offset to ask for, and the validator that guards it."""
        partial = self.partial
        if self._afresh:
            return 0, None
        if partial.url == clean(url) and partial.validator:
            return partial.size, partial.validator
        # Without a validator only a known hash can tell whether the two ends fit.
        return (partial.size, None) if self.expected.hashes else (0, None)

    def _receive(self, url: str, offset: int, body: Body) -> None:
        partial, known = self.partial, self.expected.size
        head = self._head(body)
        self._refuse_wrong_answer(body, head)
        total = known if body.total is None else body.total
        if body.start:
            if self._changed(url, body):
                self._afresh = True
                raise Transient("the file changed on the server")
            partial.joined = True
            self.log(f"{self.what}: continued at {offset:,} bytes from {clean(url)}")
        else:
            if offset:
                self.log(f"{self.what}: the server sends it from the start again")
            self._afresh = False
            partial.restart(clean(url), body.validator, total)
            self.hashing.reset()
        if body.hashes:
            self.expected.learn("the host", None, body.hashes)
        if total is not None:
            space.require(partial.path.parent, total - partial.size, self.what)
        self.progress(partial.size, total)
        with space.explained(partial.path.parent, self.what):
            self._copy(body, head, total)
        if total is not None and self.hashing.fed < total:
            raise Transient(f"the answer ended at {self.hashing.fed:,} of {total:,} bytes")

    def _changed(self, url: str, body: Body) -> bool:
        """Whether the rest on offer belongs to another file than the bytes already here."""
        partial = self.partial
        pairs: list[tuple[object, object]] = [(body.total, partial.total)]
        if partial.url == clean(url):
            pairs.append((body.validator, partial.validator))
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)

    def _copy(self, body: Body, head: list[bytes], total: int | None) -> None:
        pieces, held, since = head, sum(map(len, head)), time.monotonic()
        try:
            while piece := body.read():
                pieces.append(piece)
                held += len(piece)
                if held >= BATCH_BYTES or time.monotonic() - since > BATCH_SECONDS:
                    # Taken over first: a failing write must not be repeated below.
                    batch, pieces, held = pieces, [], 0
                    self._keep(batch, total)
                    since = time.monotonic()
                if total is not None and self.hashing.fed > total:
                    # Longer than it can be; the size will be refused, the disk is spared.
                    return
        finally:
            if pieces:
                self._keep(pieces, total)

    def _keep(self, pieces: list[bytes], total: int | None) -> None:
        self.partial.append(pieces)
        self.hashing.feed(pieces)
        self.progress(self.hashing.fed, total)
        if self.hashing.fed > self._furthest:
            self._furthest, self._idle = self.hashing.fed, 0

    def _head(self, body: Body) -> list[bytes]:
        """Enough first bytes to tell a page from an archive, before anything is overwritten."""
        if body.start:
            return []
        pieces: list[bytes] = []
        while sum(map(len, pieces)) < page.SNIFF_BYTES and (piece := body.read()):
            pieces.append(piece)
        return pieces

    def _refuse_wrong_answer(self, body: Body, head: list[bytes]) -> None:
        first = b"".join(head)[: page.SNIFF_BYTES]
        known = self.expected.size
        if body.start == 0 and page.is_page(first, body.content_type, self.archive_format):
            self._put_aside(body, head)
            raise WrongAnswer(self.archive_format or "the file", page.describe(first))
        # Of a .gz, servers say so of its own bytes. Elsewhere only a known hash could tell.
        own = body.encoding in ("", "identity") or self.what.endswith((".gz", ".tgz"))
        if not own and not self.expected.hashes:
            self._put_aside(body, head)
            raise WrongAnswer("the file as it is", f"the file in {body.encoding} encoding")
        if known is not None and body.total is not None and body.total != known:
            self._put_aside(body, head)
            raise WrongAnswer(
                f"{known:,} bytes ({self.expected.said_by['size']})", f"{body.total:,} bytes"
            )

    def _put_aside(self, body: Body, head: list[bytes]) -> None:
        kept = 0
        aside = self.partial.aside
        with space.explained(aside.parent, self.what), aside.open("wb") as file:
            for piece in head:
                kept += file.write(piece)
            # What came before a break is enough to look at.
            with suppress(Transient):
                while kept < ASIDE_BYTES and (piece := body.read()):
                    kept += file.write(piece)

    def _rehash(self) -> None:
        """Bring the hashes level with the bytes on disk."""
        if self.hashing.fed == self.partial.size:
            return
        self.hashing.reset()
        if self.partial.size:
            self.log(f"{self.what}: hashing the {self.partial.size:,} bytes already here")
            with self.partial.path.open("rb") as file:
                self.hashing.feed_file(file)

    def _gives_up(self, state: RetryCallState) -> bool:
        return self._idle >= self.patience.tries

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Transient) and error.wait is not None:
            return min(error.wait, self.patience.asked)
        return min(self.patience.first * 2.0 ** max(0, self._idle - 1), self.patience.longest)

    def _tell(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        pause = state.next_action.sleep if state.next_action else 0.0
        self.log(f"{self.what}: {error}; again in {pause:.1f} s")
