"""A small HTTP proxy that stands before an S3 server and fails and dawdles now and then."""

from __future__ import annotations

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ERROR = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code>'
    b"<Message>Please try again.</Message></Error>"
)


class FlakyProxy(ThreadingHTTPServer):
    """Forwards requests to `target`; every `fail_every`-th gets 500 or 503 instead."""

    daemon_threads = True

    def __init__(self, target: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.fail_every = 0
        self.dawdle_every = 0
        self.refuse_all = False
        self.requests = 0
        self.failed = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def verdict(self) -> tuple[int, bytes] | None:
        with self.lock:
            self.requests += 1
            number = self.requests
            if self.refuse_all or (self.fail_every and number % self.fail_every == 0):
                self.failed += 1
                return (503, b"SlowDown") if self.failed % 2 else (500, b"InternalError")
        if self.dawdle_every and number % self.dawdle_every == 0:
            time.sleep(0.05)
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FlakyProxy

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        failure = self.server.verdict()
        if failure is not None:
            self.answer(failure[0], {"Content-Type": "application/xml"}, ERROR % failure[1])
            return
        connection = http.client.HTTPConnection(*self.server.target)
        connection.request(self.command, self.path, body, dict(self.headers))
        response = connection.getresponse()
        self.answer(response.status, dict(response.headers), response.read())
        connection.close()

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward

    def log_message(self, format: str, *args: object) -> None:
        pass
