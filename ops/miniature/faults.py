"""What can go wrong on the way, to be injected by path and by request count."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Kind = Literal["status", "cut", "no_ranges", "short", "wrong_bytes", "html"]


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Parameters
    ----------
    kind : str
        `status`: answer with `status` and no file. `cut`: announce the whole length, send
        `after` bytes, close the connection. `short`: announce and send only `after` bytes, as if
        that were all. `wrong_bytes`: send the right number of bytes with some of them changed.
        `html`: send a page with status 200, as a download portal does. `no_ranges`: ignore Range.
    path : str
        Shell pattern of the request path, for example `/imagenet-c/*`.
    first : int
        First matching request that fails, counted from 1.
    times : int or None
        How many requests fail; None for all from `first` on.
    after : int
        Bytes sent before a `cut`, or announced by `short`.
    status : int
        HTTP status of the kind `status`.
    retry_after : int or None
        Seconds for a Retry-After header of the kind `status`.
    """

    kind: Kind
    path: str = "/*"
    first: int = 1
    times: int | None = 1
    after: int = 1000
    status: int = 503
    retry_after: int | None = None

    def concerns(self, path: str) -> bool:
        """Return whether the pattern matches a request path."""
        return fnmatchcase(path, self.path)

    def strikes(self, nth: int) -> bool:
        """Return whether the `nth` request it concerns is to fail."""
        return self.first <= nth and (self.times is None or nth < self.first + self.times)


def changed(content: bytes, offset: int) -> bytes:
    """Return the content of a file from `offset` on with every 997th byte of the file inverted."""
    spoilt = bytearray(content)
    for place in range(-offset % 997, len(spoilt), 997):
        spoilt[place] ^= 0xFF
    return bytes(spoilt)
