"""Secrets: which request carries which, and how none ever reaches a text.

A host's own secret goes to that host only. Everything that is printed, raised, logged or
stored goes through :func:`clean` (one URL) or :func:`scrub` (free text) first.
"""

from __future__ import annotations

import base64
import os
import re
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

TOKEN_PREFIX = "SHIFTLAKE_TOKEN_"
COOKIE_PREFIX = "SHIFTLAKE_COOKIE_"
HUGGING_FACE_TOKEN = "HF_TOKEN"
HUGGING_FACE_ENDPOINT = "HF_ENDPOINT"

_OTHER_SECRETS = (HUGGING_FACE_TOKEN, "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
# An allow-list: signatures have too many names (X-Amz-*, sig, Policy, ...) to list them all.
_HARMLESS_PARAMETERS = {"id", "export", "download", "versionid"}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")


def variable_names(prefix: str, host: str, port: int | None = None) -> list[str]:
    """Names of the environment variables that may hold a host's secret, most specific first.

    Parameters
    ----------
    prefix : str
        ``SHIFTLAKE_TOKEN_`` or ``SHIFTLAKE_COOKIE_``.
    host : str
        For example ``image-net.org``, which gives ``SHIFTLAKE_TOKEN_IMAGE_NET_ORG``.
    port : int, optional
        Adds the name with the port in front.
    """
    names = [host] if port is None else [f"{host}:{port}", host]
    return [prefix + re.sub(r"[^A-Z0-9]", "_", name.upper()) for name in names]


def request_headers(url: str, first: str | None = None) -> dict[str, str]:
    """Headers with the secrets that belong to the host of `url`.

    Parameters
    ----------
    url : str
        The ``http(s)`` URL about to be asked.
    first : str, optional
        The URL the user asked for, where `url` was reached by a redirect. A redirect to
        another port gets no secret that was set for the bare host, and one from https to
        http gets none at all.
    """
    parts, origin = urlsplit(url), urlsplit(first or url)
    if origin.scheme == "https" and parts.scheme != "https":
        return {}
    host = parts.hostname or ""
    by_port = variable_names("", host, _port(parts))[0]
    names = [by_port]
    if _port(parts) in (_port(origin), _DEFAULT_PORTS.get(parts.scheme)):
        names += variable_names("", host)
    headers: dict[str, str] = {}
    if token := _first_set(TOKEN_PREFIX, names) or _hugging_face_token(parts):
        headers["Authorization"] = f"Bearer {token}"
    elif basic := _userinfo(parts) or (_userinfo(origin) if _same(parts, origin) else None):
        headers["Authorization"] = "Basic " + base64.b64encode(basic.encode()).decode()
    if cookie := _first_set(COOKIE_PREFIX, names):
        headers["Cookie"] = cookie
    return headers


def hugging_face_endpoint() -> str:
    """Base URL of the Hugging Face hub: ``$HF_ENDPOINT``, else the public one."""
    return os.environ.get(HUGGING_FACE_ENDPOINT, "").rstrip("/") or "https://huggingface.co"


def clean(url: str) -> str:
    """`url` without user, password, fragment and every query parameter that might sign it.

    Examples
    --------
    >>> clean("https://me:secret@host/a.tar?id=3&X-Amz-Signature=abc")
    'https://host/a.tar?id=3'
    """
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return "(malformed URL)"
    kept = [(name, value) for name, value in query if name.lower() in _HARMLESS_PARAMETERS]
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(kept), ""))


def scrub(text: str) -> str:
    """`text` with every URL cleaned and every secret of the environment masked."""
    text = _URL.sub(lambda found: clean(found.group()), text)
    for name, value in os.environ.items():
        secret = name.startswith((TOKEN_PREFIX, COOKIE_PREFIX)) or name in _OTHER_SECRETS
        if secret and len(value.strip()) >= 4:
            text = text.replace(value.strip(), "***")
    return text


def how_to_sign_in(url: str) -> str:
    """What a user sets so that a gated host lets them in."""
    parts = urlsplit(url)
    if _is_hugging_face(parts):
        return f"accept the terms on the file's page and set {HUGGING_FACE_TOKEN}"
    host = parts.hostname or ""
    token, cookie = (variable_names(kind, host)[0] for kind in (TOKEN_PREFIX, COOKIE_PREFIX))
    return f"set {token} (a bearer token) or {cookie} (the browser's cookie after signing in)"


def _first_set(prefix: str, names: list[str]) -> str | None:
    return next((v for n in names if (v := os.environ.get(prefix + n, "").strip())), None)


def _hugging_face_token(parts: SplitResult) -> str | None:
    return os.environ.get(HUGGING_FACE_TOKEN, "").strip() if _is_hugging_face(parts) else None


def _port(parts: SplitResult) -> int | None:
    return parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _same(one: SplitResult, other: SplitResult) -> bool:
    return (one.scheme, one.hostname, _port(one)) == (other.scheme, other.hostname, _port(other))


def _is_hugging_face(parts: SplitResult) -> bool:
    return _same(parts, urlsplit(hugging_face_endpoint()))


def _userinfo(parts: SplitResult) -> str | None:
    info, at, _ = parts.netloc.rpartition("@")
    return unquote(info) if at else None
