"""The report in a browser: one page on loopback, read from the lake as it is asked for.

A page of Dagster cannot link to a file on disk, and a lake may lie in S3.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from ops.storage import Root, paths

NAME = "report.html"
_NONE = b"There is no report yet: materialize results/report, or run `shiftlake report`.\n"


@contextmanager
def serve_report(root: Root, port: int) -> Iterator[str]:
    """Serve the report while the context lasts.

    Parameters
    ----------
    root : Root
        Of which ``results/report.html`` is served, and nothing else.
    port : int
        TCP port on 127.0.0.1; 0 takes a free one.

    Yields
    ------
    str
        The page's address.

    Raises
    ------
    OSError
        If the port is taken.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(root))
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True, name="report").start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{NAME}"
    finally:
        server.shutdown()
        server.server_close()


def _handler(root: Root) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            own = (f"127.0.0.1:{port}", f"localhost:{port}") if (port := self._port()) else ()
            # Another site's name that resolves to loopback must not read it.
            if self.headers.get("Host") not in own:
                self._answer(403, "text/plain", b"This page is for this machine alone.\n")
            elif self.path not in ("/", f"/{NAME}"):
                self._answer(404, "text/plain", b"The report is at /report.html.\n")
            elif not root.exists(paths.results(NAME)):
                self._answer(404, "text/plain", _NONE)
            else:
                self._answer(200, "text/html", root.read_bytes(paths.results(NAME)))

        do_HEAD = do_GET

        def _port(self) -> int:
            return int(self.connection.getsockname()[1])

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the terminal belongs to Dagster."""

    return Handler
