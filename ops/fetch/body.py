"""What a reader of any scheme hands to the transfer: an open body, or one of three signals.

Readers (:mod:`ops.fetch.http`, :mod:`ops.fetch.s3`, :mod:`ops.fetch.local`) know their protocol;
they do not know what file is asked for, where it goes or how often to try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

# Read at a time: stays in the processor cache until it is written and hashed.
PIECE = 1 << 18


class Transient(Exception):
    """The same request may well succeed later.

    Parameters
    ----------
    reason : str
        For a person, without credentials.
    wait : float or None
        Seconds the server asked to wait (``Retry-After``).
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Unavailable(Exception):
    """The URL does not give the file, and asking again does not help."""


class RangeRefused(Exception):
    """The server cannot continue at the offset asked for (416, or a failed precondition).

    Parameters
    ----------
    total : int or None
        Size of the whole file where the server tells it.
    """

    def __init__(self, total: int | None = None) -> None:
        super().__init__("the range asked for was refused")
        self.total = total


@dataclass
class Body:
    """An open response.

    Attributes
    ----------
    start : int
        Offset in the file of the first byte of `read`: 0, or the offset asked for.
    total : int or None
        Size of the whole file in bytes, as the server declares it.
    validator : str or None
        What identifies this state of the file: a strong ``ETag``, else ``Last-Modified``.
    content_type : str
        In lower case, without parameters; empty where unknown.
    read : callable
        The next bytes, at most :data:`PIECE`; empty at the end. Raises :class:`Transient`.
    close : callable
        Releases the connection.
    hashes : dict of str to str
        Hashes the host states for the file (kind to lower-case hex).
    encoding : str
        Packing that the server says it put around the file, lower case; empty where none.
    """

    start: int
    total: int | None
    validator: str | None
    content_type: str
    read: Callable[[], bytes]
    close: Callable[[], None]
    hashes: dict[str, str] = field(default_factory=dict)
    encoding: str = ""
