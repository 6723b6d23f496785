"""The http(s) reader: ranges, redirects, status codes, and Drive's page in between.

Retrying is the transfer's business; secrets and redirect rules for them are in
:mod:`ops.fetch.credentials`.
"""

from __future__ import annotations

import logging
import re
import urllib.request
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from ops.fetch import drive, hugging_face
from ops.fetch.body import PIECE, Body, RangeRefused, Transient, Unavailable
from ops.fetch.credentials import clean, how_to_sign_in, request_headers, scrub

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

TIMEOUT_SECONDS = 60.0
MAX_HOPS = 10

_REDIRECTS = (301, 302, 303, 307, 308)
_AGAIN = (408, 425, 429)
_PAGE_BYTES = 1 << 20
_QUERY = re.compile(r"\?[^\s'\"]*")
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)$")

# By scheme and host: what was given over https is not told over http.
_Cookies = dict[tuple[str, str], dict[str, str]]


def open_http(
    url: str, *, offset: int = 0, validator: str | None = None, timeout: float = TIMEOUT_SECONDS
) -> Body:
    """Ask for a URL from `offset` on.

    Parameters
    ----------
    url : str
        An ``http(s)`` URL, with user and password where the server wants them.
    offset : int
        First byte wanted. The server may ignore it: look at the body's `start`.
    validator : str, optional
        ETag or date of the bytes already there; if the file changed since, it comes whole.
    timeout : float
        Seconds without a byte after which the connection counts as broken.

    Raises
    ------
    Transient, Unavailable, RangeRefused
    """
    _require_well_formed(url)
    first = url = drive.address(hugging_face.address(url))
    cookies: _Cookies = {}
    hashes: dict[str, str] = {}
    for _ in range(MAX_HOPS):
        headers = _headers(url, first, cookies)
        if offset:
            headers["Range"] = f"bytes={offset}-"
            if validator:
                headers["If-Range"] = validator
        # A pool for each hop: proxies differ by scheme and host, and a connection that the server
        # is about to close is never used again.
        response = _ask(_pool(url, timeout), url, headers)
        _keep_cookies(cookies, url, response)
        if stated := hugging_face.stated_sha256(response.headers.get("X-Linked-ETag")):
            hashes["sha256"] = stated
        if response.status in _REDIRECTS and (target := response.headers.get("Location")):
            response.close()
            url = _hop(url, target)
            continue
        _refuse_status(response, url, offset)
        prefix = b""
        if response.status == 200 and _content_type(response) == "text/html":
            prefix = _read(response, _PAGE_BYTES)
            if reason := drive.refusal(prefix):
                response.close()
                raise Unavailable(reason)
            if target := drive.next_url(prefix, url):
                response.close()
                url = _hop(url, target)
                continue
        return _body(response, offset, prefix, hashes)
    raise Unavailable(f"more than {MAX_HOPS} redirects, the last to {clean(url)}")


def read_document(url: str, limit: int = 4 << 20, timeout: float = TIMEOUT_SECONDS) -> bytes:
    """A small document, whole.

    Raises
    ------
    Transient, Unavailable
    """
    body = open_http(url, timeout=timeout)
    try:
        pieces, size = [], 0
        while piece := body.read():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise Unavailable(f"a document of more than {limit:,} bytes")
        return b"".join(pieces)
    finally:
        body.close()


class _WithoutQueries(logging.Filter):
    """Takes the queries, which may be signatures, out of urllib3's own debug lines."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _QUERY.sub("", scrub(record.getMessage())), ()
        return True


_WITHOUT_QUERIES = _WithoutQueries()


def _pool(url: str, timeout: float) -> PoolManager:
    import urllib3

    logging.getLogger("urllib3.connectionpool").addFilter(_WITHOUT_QUERIES)
    limits = urllib3.Timeout(connect=min(timeout, 20.0), read=timeout)
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        userinfo, at, _ = urlsplit(proxy).netloc.rpartition("@")
        secret = urllib3.make_headers(proxy_basic_auth=userinfo) if at else None
        return urllib3.ProxyManager(proxy, proxy_headers=secret, timeout=limits, retries=False)
    return urllib3.PoolManager(timeout=limits, retries=False)


def _headers(url: str, first: str, cookies: _Cookies) -> dict[str, str]:
    # identity: a length and a range must count the bytes of the file, not of a compression.
    headers = {"User-Agent": "shiftlake", "Accept": "*/*", "Accept-Encoding": "identity"}
    headers |= request_headers(url, first)
    if given := cookies.get(urlsplit(url)[:2]):
        pairs = [f"{name}={value}" for name, value in given.items()]
        headers["Cookie"] = "; ".join([headers["Cookie"], *pairs] if "Cookie" in headers else pairs)
    return headers


def _ask(pool: PoolManager, url: str, headers: dict[str, str]) -> BaseHTTPResponse:
    from urllib3.exceptions import HTTPError, LocationParseError, LocationValueError

    try:
        return pool.request(
            "GET", url, headers=headers, preload_content=False, redirect=False, retries=False
        )
    except (LocationParseError, LocationValueError):
        raise Unavailable("the URL is malformed") from None
    except (HTTPError, OSError) as error:
        # `from None`: the original text may hold the URL with its signature.
        raise Transient(f"{type(error).__name__}: {scrub(str(error))}") from None


def _require_well_formed(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise Unavailable("the URL is malformed") from None


def _hop(url: str, target: str) -> str:
    try:
        reached = urljoin(url, target)
    except ValueError:
        raise Unavailable("a redirect to a malformed URL") from None
    _require_well_formed(reached)
    if urlsplit(reached).scheme not in ("http", "https"):
        raise Unavailable(f"a redirect to {clean(reached)}, which is not http")
    return reached


def _keep_cookies(cookies: _Cookies, url: str, response: BaseHTTPResponse) -> None:
    for line in response.headers.getlist("Set-Cookie"):
        try:
            morsels = SimpleCookie(line)
        except CookieError:
            continue
        kept = cookies.setdefault(urlsplit(url)[:2], {})
        kept.update({name: morsel.coded_value for name, morsel in morsels.items()})


def _refuse_status(response: BaseHTTPResponse, url: str, offset: int) -> None:
    status = response.status
    if status == 200 or (status == 206 and offset):
        return
    response.close()
    answer = f"HTTP {status} {response.reason or ''}".strip()
    if status == 416:
        found = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
        raise RangeRefused(int(found[3]) if found and found[3] != "*" else None)
    if status in _AGAIN or status >= 500:
        raise Transient(answer, _retry_after(response.headers.get("Retry-After")))
    if status in (401, 403):
        raise Unavailable(f"{answer}: access is restricted; {how_to_sign_in(url)}")
    raise Unavailable(answer)


def _retry_after(value: str | None) -> float | None:
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _content_type(response: BaseHTTPResponse) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _body(response: BaseHTTPResponse, offset: int, prefix: bytes, hashes: dict[str, str]) -> Body:
    length = response.headers.get("Content-Length", "")
    start, total = 0, int(length) if length.isdecimal() else None
    if response.status == 206:
        found = _CONTENT_RANGE.match(response.headers.get("Content-Range", "").strip())
        if not found or found[1] is None or int(found[1]) != offset:
            stated = response.headers.get("Content-Range", "none")
            response.close()
            # Bytes from elsewhere in the file would corrupt it silently: begin again instead.
            raise RangeRefused(None) from ValueError(f"Content-Range: {scrub(stated)}")
        start, total = offset, None if found[3] == "*" else int(found[3])
    etag = response.headers.get("ETag", "").strip()
    waiting = [prefix] if prefix else []
    return Body(
        start=start,
        total=total,
        # A weak ETag may name different bytes, so it cannot guard a continuation.
        validator=(etag if etag.startswith('"') else "") or response.headers.get("Last-Modified"),
        content_type=_content_type(response),
        read=lambda: waiting.pop() if waiting else _read(response, PIECE, at_once=True),
        close=response.close,
        hashes=hashes,
        encoding=response.headers.get("Content-Encoding", "").strip().lower(),
    )


def _read(response: BaseHTTPResponse, amount: int, *, at_once: bool = False) -> bytes:
    """The next bytes as they were sent; `at_once` returns what has arrived."""
    from urllib3.exceptions import HTTPError

    try:
        if at_once:
            return response.read1(amount, decode_content=False)
        return response.read(amount, decode_content=False)
    except (HTTPError, OSError) as error:
        raise Transient(f"{type(error).__name__}: {scrub(str(error))}") from None
