"""Google Drive's page between the link and a large file: recognise it, and go on.

The page is told by its content, never by the host that served it, so that a proxy or a copy of
the service behaves alike. Nothing here makes a request.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

_FILE_LINK = re.compile(r"^/file/d/(?P<id>[^/]+)")
_QUOTA = (b"Quota exceeded", b"Too many users have viewed or downloaded this file")


def address(url: str) -> str:
    """The download URL of a Drive link; other URLs come back unchanged."""
    parts = urlsplit(url)
    if parts.hostname == "drive.google.com" and (found := _FILE_LINK.match(parts.path)):
        return f"https://drive.google.com/uc?export=download&id={found['id']}"
    return url


def next_url(page: bytes, url: str) -> str | None:
    """Where the confirm page leads to.

    Parameters
    ----------
    page : bytes
        An HTML page, UTF-8.
    url : str
        The URL it came from, for relative links.

    Returns
    -------
    str or None
        The URL of the file itself, or None where this is not a confirm page.
    """
    reader = _ConfirmPage()
    try:
        reader.feed(page.decode("utf-8", "replace"))
        if reader.action is not None and "id" in reader.fields:
            target = urlsplit(urljoin(url, reader.action))
            query = dict(parse_qsl(target.query, keep_blank_values=True)) | reader.fields
            return urlunsplit(target._replace(query=urlencode(query), fragment=""))
        return None if reader.link is None else urljoin(url, reader.link)
    except ValueError:
        # A page with a malformed link is no confirm page of Drive's.
        return None


def refusal(page: bytes) -> str | None:
    """Why Drive does not give the file, where the page is its quota notice."""
    if any(notice in page for notice in _QUOTA):
        return "Google Drive's download quota for this file is used up; it opens again in a day"
    return None


class _ConfirmPage(HTMLParser):
    """Finds the download form (today's page) or the link with a confirm token (the older one)."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self.link: str | None = None
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form" and values.get("id") == "download-form":
            self.action, self._inside = values.get("action", ""), True
        elif tag == "input" and self._inside and values.get("type") == "hidden":
            self.fields[values.get("name", "")] = values.get("value", "")
        elif tag == "a" and "confirm" in dict(parse_qsl(urlsplit(values.get("href", "")).query)):
            self.link = values["href"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
