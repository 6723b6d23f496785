"""A real HTTP server whose every answer a test can spoil, and files to ask it for."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ops.catalog import SourceFile
from ops.fetch import Patience

QUICK = Patience(tries=3, first=0.01, longest=0.05, asked=5.0, timeout=10.0)


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    sent: int = 0


@dataclass
class Answer:
    """What a path answers. `spoil` holds one fault per coming request, first come first served."""

    data: bytes = b""
    etag: str | None = '"v1"'
    content_type: str = "application/octet-stream"
    ranges: bool = True
    honours_if_range: bool = True
    declared: bool = True
    pause: float = 0.0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cookies: list[str] = field(default_factory=list)
    allow: Callable[[Request], bool] = lambda request: True
    spoil: list[dict[str, Any]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultServer

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.close_connection = True
        request = Request(self.path, dict(self.headers.items()))
        self.server.requests.append(request)
        answer = self.server.answers.get(self.path)
        if answer is None:
            return self._plain(404)
        if not answer.allow(request):
            return self._plain(403)
        fault = answer.spoil.pop(0) if answer.spoil else {}
        if "status" in fault:
            return self._plain(fault["status"], fault.get("headers", {}))
        if answer.status != 200:
            return self._plain(answer.status, answer.headers, answer.cookies)
        self._file(request, answer, fault)
        return None

    def _plain(
        self, status: int, headers: dict[str, str] | None = None, cookies: list[str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        for cookie in cookies or []:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, request: Request, answer: Answer, fault: dict[str, Any]) -> None:
        data, start = answer.data, 0
        wanted = re.match(r"bytes=(\d+)-$", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in (None, answer.etag) or not answer.honours_if_range
        if wanted and answer.ranges and same:
            start = int(wanted[1])
            if start >= len(data):
                return self._plain(416, {"Content-Range": f"bytes */{len(data)}"})
            self.send_response(206)
            shown = start + fault.get("shift", 0)
            self.send_header("Content-Range", f"bytes {shown}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Type", answer.content_type)
        if answer.etag:
            self.send_header("ETag", answer.etag)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        for cookie in answer.cookies:
            self.send_header("Set-Cookie", cookie)
        if answer.declared:
            self.send_header("Content-Length", str(len(data) - start))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        end = fault.get("cut", len(data))
        try:
            for at in range(start, end, 65536):
                piece = data[at : min(at + 65536, end)]
                frame = piece if answer.declared else b"%x\r\n%b\r\n" % (len(piece), piece)
                self.wfile.write(frame)
                request.sent += len(piece)
                time.sleep(answer.pause)
            if not answer.declared and end == len(data):
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        return None


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[Request] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        # The same server under a name that a client has to take for another host.
        self.other_url = f"http://localhost:{self.server_port}"

    def put(self, path: str, data: bytes = b"", **answer: Any) -> str:
        self.answers[path] = Answer(data, **answer)
        return self.url + path

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def source(url: str | None, *mirrors: str, name: str = "noise.tar", **facts: Any) -> SourceFile:
    entry = {
        "benchmark": "imagenet-c",
        "id": "noise",
        "name": name,
        "url": url,
        "mirrors": [{"url": mirror, "byte_identical": "yes"} for mirror in mirrors],
        **facts,
    }
    return SourceFile.model_validate(entry)


def known(url: str | None, data: bytes, *mirrors: str, **facts: Any) -> SourceFile:
    """A file whose size and sha256 the catalog knows."""
    return source(url, *mirrors, **{"bytes": len(data), "sha256": sha256(data), **facts})
