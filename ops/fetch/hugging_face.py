"""Hugging Face addresses: ``hf://`` and web links become the hub's download URL.

The request itself is ordinary http; the token is attached in :mod:`ops.fetch.credentials`.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ops.fetch.body import Unavailable
from ops.fetch.credentials import hugging_face_endpoint

PUBLIC_HOST = "huggingface.co"

_HF = re.compile(
    r"hf://(?P<kind>datasets/|spaces/|models/|)(?P<owner>[^/@]+)/(?P<repo>[^/@]+)"
    r"(?:@(?P<revision>[^/]+))?/(?P<path>[^?#]+)$"
)
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?$')


def address(url: str) -> str:
    """The http URL to ask for an ``hf://`` URL or a link to the public hub.

    Parameters
    ----------
    url : str
        ``hf://datasets/<owner>/<repo>@<revision>/<path>`` (revision ``main`` if left out), or
        a ``https://huggingface.co/...`` link, which moves to ``$HF_ENDPOINT`` where that is set.

    Raises
    ------
    Unavailable
        If an ``hf://`` URL names no file.
    """
    if url.startswith("hf://"):
        found = _HF.match(url)
        if not found:
            raise Unavailable("not of the form hf://datasets/<owner>/<repo>@<revision>/<path>")
        kind = "" if found["kind"] == "models/" else found["kind"]
        revision = (found["revision"] or "main").replace("/", "%2F")
        repo = f"{found['owner']}/{found['repo']}"
        return f"{hugging_face_endpoint()}/{kind}{repo}/resolve/{revision}/{found['path']}"
    parts = urlsplit(url)
    if parts.hostname != PUBLIC_HOST:
        return url
    rest = parts.path.replace("/blob/", "/resolve/", 1)
    return hugging_face_endpoint() + rest + (f"?{parts.query}" if parts.query else "")


def stated_sha256(linked_etag: str | None) -> str | None:
    """The sha256 the hub states for a large file in ``X-Linked-ETag``, if it is one."""
    found = _SHA256.match((linked_etag or "").strip())
    return found.group(1) if found else None
