"""Who may speak to the page: its own browser windows, under its own names, and nobody else.

The page has no password. A foreign page in the same browser can still send requests to loopback,
and a foreign name can be made to resolve to it, so each request has to name the page as its host,
and what changes something has to come from the page itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A decision is some hundred bytes; a browser that was offline all day sends them in parts.
LARGEST_BODY = 1 << 20

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_READING = ("GET", "HEAD")


class Guard:
    """Refuse foreign hosts and origins, and give every answer the headers of the page.

    Parameters
    ----------
    app : ASGIApp
    hosts : collection of str
        Values of the ``Host`` header that name this page, with their ports.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self.refusal(str(scope["method"]), Headers(scope=scope))
        answer = self._app if refusal is None else refusal
        await answer(scope, receive, send_guarded)

    def refusal(self, method: str, headers: Headers) -> Response | None:
        """Why a request is refused; None where it may pass."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _refused(
                403, "This page is not served under that name. Start it with --allow-host NAME."
            )
        origins = headers.getlist("origin")
        own = [_is_own(origin, hosts[0].lower()) for origin in origins]
        site = headers.get("sec-fetch-site", "none")
        walked_in = headers.get("sec-fetch-mode") == "navigate" and method in _READING
        if not all(own) or (site not in ("same-origin", "none") and not walked_in):
            return _refused(403, "Another site asked for this.")
        if method in _READING:
            return None
        if method != "POST":
            return _refused(405, "GET, HEAD and POST are understood.")
        if len(origins) != 1:
            return _refused(403, "Only the page itself may change something: no Origin was sent.")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return _refused(415, "A decision is sent as application/json.")
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            return _refused(411, "The length of the body has to be stated.")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            return _refused(413, f"At most {LARGEST_BODY:,} bytes are taken at once.")
        return None


def _is_own(origin: str, host: str) -> bool:
    # A proxy may have taken the encryption off, so the scheme is left open.
    parts = urlsplit(origin.lower())
    return parts.scheme in ("http", "https") and origin.lower() == f"{parts.scheme}://{host}"


def _refused(status: int, why: str) -> Response:
    body = json.dumps({"error": why}) + "\n"
    return PlainTextResponse(body, status, media_type="application/json")
