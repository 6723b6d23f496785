"""What a publisher offers right now, without downloading it."""

from __future__ import annotations

from dataclasses import dataclass

from ops.catalog import SourceFile
from ops.fetch.body import RangeRefused, Transient, Unavailable
from ops.fetch.credentials import clean
from ops.fetch.receipt import Receipt
from ops.fetch.urls import open_url


@dataclass(frozen=True)
class Offer:
    """A file as the first answering URL declares it.

    Attributes
    ----------
    url : str
        Without credentials.
    bytes : int or None
        Declared size.
    sha256 : str or None
        Declared hash, where the host states one.
    """

    url: str
    bytes: int | None
    sha256: str | None

    def differs(self, receipt: Receipt) -> str | None:
        """In words, how the offer differs from the copy at hand; None if nothing is known to."""
        if self.bytes is not None and self.bytes != receipt.bytes:
            return f"{self.bytes:,} bytes at {self.url}, {receipt.bytes:,} bytes at hand"
        if self.sha256 is not None and self.sha256 != receipt.sha256:
            return f"sha256 {self.sha256} at {self.url}, {receipt.sha256} at hand"
        return None


def probe(file: SourceFile, *, timeout: float = 10.0) -> Offer | None:
    """Ask for a file's size and hash; no byte of it is read.

    Parameters
    ----------
    file : SourceFile
    timeout : float
        Seconds for each URL.

    Returns
    -------
    Offer or None
        None where no URL answers.
    """
    for url in file.urls:
        try:
            body = open_url(url, timeout=timeout)
        except (Transient, Unavailable, RangeRefused):
            continue
        body.close()
        return Offer(clean(url), body.total, body.hashes.get("sha256"))
    return None
