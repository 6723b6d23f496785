"""Which reader opens which URL: the one place that knows all schemes."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from ops.fetch.body import Body, Unavailable
from ops.fetch.http import TIMEOUT_SECONDS, open_http
from ops.fetch.local import open_local
from ops.fetch.s3 import open_s3

_READERS: dict[str, Callable[..., Body]] = {
    "http": open_http,
    "https": open_http,
    "hf": open_http,
    "s3": open_s3,
    "file": open_local,
}


def open_url(
    url: str, *, offset: int = 0, validator: str | None = None, timeout: float = TIMEOUT_SECONDS
) -> Body:
    """Open any supported URL (``http``, ``https``, ``hf``, ``s3``, ``file``) from `offset` on.

    Raises
    ------
    Transient
        If the same request may succeed later.
    Unavailable
        If it will not; also for a scheme that has no reader.
    RangeRefused
        If the file cannot be continued at `offset`.
    """
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        raise Unavailable("the URL is malformed") from None
    if scheme not in _READERS:
        raise Unavailable(f"no reader for {scheme or 'a URL without a scheme'}")
    return _READERS[scheme](url, offset=offset, validator=validator, timeout=timeout)
