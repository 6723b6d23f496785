"""Serve the page: on which address, under which names, until it is told to stop."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from ops.errors import ShiftlakeError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ANY = ("0.0.0.0", "::", "")


def names_of(host: str | None, port: int, allowed: Iterable[str] = ()) -> tuple[str, ...]:
    """Values of the ``Host`` header that name a page.

    Parameters
    ----------
    host : str or None
        Address it listens on; None is loopback.
    port : int
    allowed : iterable of str
        More names, such as that of a proxy before it; with a port where the browser shows one.

    Returns
    -------
    tuple of str
        Each once, as a browser writes them: an address of IPv6 in brackets, port 80 left out.
    """
    names = list(LOOPBACK)
    if host is not None:
        known = _own_addresses() if host in _ANY else [host]
        names += [_bracketed(name) for name in known]
    with_port = [f"{name}:{port}" for name in names]
    if port == 80:
        with_port += names
    for name in allowed:
        with_port += [name] if ":" in name else [name, f"{name}:{port}"]
    return tuple(dict.fromkeys(name.lower() for name in with_port))


def address_of(host: str | None, port: int, source: str | None, reviewer: str | None) -> str:
    """Address of the page, or of the overview of one source, signed in under a name if given."""
    name = _bracketed("127.0.0.1" if host is None else host)
    if host in _ANY:
        name = socket.gethostname()
    path = "/" if source is None else f"/review/{quote(source)}"
    return f"http://{name}:{port}{path}" + (f"?reviewer={quote(reviewer)}" if reviewer else "")


def listening(host: str | None, port: int) -> socket.socket:
    """A socket on the address; port 0 takes a free one.

    Raises
    ------
    ShiftlakeError
        If the port is taken, or the address is not this machine's.
    """
    address = host or "127.0.0.1"
    try:
        family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
    except OSError as error:
        raise ShiftlakeError(
            "The page cannot be served there.",
            expected="a free port of an address of this machine",
            found=error.strerror or str(error),
            where=f"{address}:{port}",
            remedy="choose another with --port, or stop what listens there",
        ) from error
    return found


def serve_reviews(
    app: ASGIApp, where: socket.socket, started: Callable[[], None] | None = None
) -> None:
    """Serve until interrupted; what was acknowledged is on disk whenever that comes."""
    settings = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        # A browser keeps its connection; nobody should have to wait for it to leave.
        timeout_graceful_shutdown=2,
    )
    server = _Server(settings, started)
    server.run(sockets=[where])


class _Server(uvicorn.Server):
    def __init__(self, settings: uvicorn.Config, started: Callable[[], None] | None) -> None:
        super().__init__(settings)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._told is not None and self.started:
            self._told()


def _own_addresses() -> list[str]:
    name = socket.gethostname()
    names = [name, socket.getfqdn()]
    with suppress(OSError):
        names += [str(info[4][0]) for info in socket.getaddrinfo(name, None)]
    return names


def _bracketed(name: str) -> str:
    try:
        return f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    except ValueError:
        return name
