"""What can go wrong with a published file, for a person to act on.

The internal signals between a reader and the retry loop live in
:mod:`ops.fetch.body`, not here: a user never sees them.
"""

from __future__ import annotations

from ops.errors import ShiftlakeError


class FetchError(ShiftlakeError):
    """A published file could not be brought under the root."""


class ManualFile(FetchError):
    """The publisher offers no direct download: a person has to get the file and add it."""


class AllUrlsFailed(FetchError):
    """Every URL of the file was tried; the message lists each with its reason."""


class WrongContent(FetchError):
    """A file is there, but its size or hash is not the published one."""


class DiskFull(FetchError):
    """The disk has not enough room for the file, or ran full on the way."""


class UnknownFile(FetchError):
    """A file got by hand is none of the catalog's."""


class AmbiguousFile(FetchError):
    """A file got by hand could be several of the catalog's, and nothing tells which."""
