"""Telling a web page from a published file: the commonest wrong answer of a server."""

from __future__ import annotations

import re

from ops.fetch.credentials import scrub

SNIFF_BYTES = 4096

_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_MARKUP = ("html", "xml")


def is_page(head: bytes, content_type: str, archive_format: str | None) -> bool:
    """Whether the answer is a web page in place of the file.

    Parameters
    ----------
    head : bytes
        The first bytes, some hundred at least unless the file is shorter.
    content_type : str
        As the server states it, lower case; empty where unknown.
    archive_format : str or None
        The catalog's description; a file that is itself markup is never taken for a page.
    """
    if any(word in (archive_format or "").lower() for word in _MARKUP):
        return False
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # Servers do label archives as text/html; binary bytes prove that they are wrong.
    return text.startswith(b"<") or (content_type == "text/html" and b"\0" not in head)


def describe(head: bytes) -> str:
    """The page in a few words, with its title where there is one."""
    found = _TITLE.search(head)
    title = " ".join(found.group(1).decode("utf-8", "replace").split())[:120] if found else ""
    return f"an HTML page titled {scrub(title)!r}" if title else "an HTML page"
