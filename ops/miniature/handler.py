"""One HTTP exchange: ranges, validators, redirects, slowness and injected faults."""

from __future__ import annotations

import json
import re
import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from ops.miniature.faults import Fault, changed
from ops.miniature.overlay import file_url
from ops.miniature.service import MiniatureServer, Request

ZENODO_RECORDS: dict[str, str] = {
    "2235448": "imagenet-c",
    "3565846": "imagenet-p",
    "2535967": "cifar-10-c",
    "3555552": "cifar-100-c",
}
PAGE = b"<!DOCTYPE html><html><title>Virus scan warning</title>Download anyway?</html>\n"
BLOCK = 64 * 1024


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for one server; a subclass binds `server_state`."""

    server_state: MiniatureServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer with head and body."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer with the head alone."""
        self._answer(body=False)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent: what was asked is in the log of the server object."""

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/redirect/"):
            self._send(302, b"", body, {"Location": self.path.removeprefix("/redirect")})
            return
        fault = self.server_state.fault_for(path)
        if fault is not None and fault.kind == "status":
            wait = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            self._send(fault.status, b"", body, wait)
            return
        if fault is not None and fault.kind == "html":
            self._send(200, PAGE, body, {"Content-Type": "text/html; charset=utf-8"})
            return
        page = self._page(path)
        if page is not None:
            self._send(200, page[0], body, {"Content-Type": page[1]})
            return
        files = self.server_state.upstream.files
        facts = next((f for f in files if path == f"/{f['benchmark']}/{f['name']}"), None)
        if facts is None:
            self._send(404, b"not found\n", body, {"Content-Type": "text/plain"})
        else:
            self._file(facts, fault, body)

    def _page(self, path: str) -> tuple[bytes, str] | None:
        state = self.server_state
        if path == "/overlay.yaml":
            text = yaml.safe_dump(state.upstream.overlay(state.url), sort_keys=False)
            return text.encode(), "application/yaml"
        if path == "/truth.json":
            return (state.upstream.folder / "truth.json").read_bytes(), "application/json"
        record = ZENODO_RECORDS.get(path.removeprefix("/api/records/"))
        if path.startswith("/api/records/") and record is not None:
            files = [
                {
                    "key": facts["name"],
                    "size": facts["bytes"],
                    "checksum": f"md5:{facts['md5']}",
                    "links": {"self": file_url(facts, state.url)},
                }
                for facts in state.upstream.files
                if facts["benchmark"] == record and facts["name"].endswith(".tar")
            ]
            answer = {"id": int(path.rpartition("/")[2]), "files": files}
            return json.dumps(answer).encode(), "application/json"
        return None

    def _file(self, facts: dict[str, Any], fault: Fault | None, body: bool) -> None:
        path = self.server_state.upstream.path(facts["benchmark"], facts["id"])
        content = path.read_bytes()
        etag = f'"{facts["sha256"][:32]}"'
        headers = {"Content-Type": "application/octet-stream", "ETag": etag}
        kind = None if fault is None else fault.kind
        start, stop, status = 0, len(content), 200
        if kind != "no_ranges":
            headers["Accept-Ranges"] = "bytes"
            wanted = self._range(len(content), etag)
            if wanted is not None:
                start, stop = wanted
                status = 206
                headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            if start >= stop:
                unsatisfied = {"Content-Range": f"bytes */{len(content)}"}
                self._send(416, b"", body, unsatisfied)
                return
        part = content[start:stop]
        sent = None
        if fault is not None and kind == "wrong_bytes":
            part = changed(part, start)
        elif fault is not None and kind == "short":
            part = part[: fault.after]
        elif fault is not None and kind == "cut":
            sent = fault.after
        self._send(status, part, body, headers, sent)

    def _range(self, length: int, etag: str) -> tuple[int, int] | None:
        condition = self.headers.get("If-Range")
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if match is None or match.groups() == ("", "") or condition not in (None, etag):
            return None
        first, last = match.groups()
        if first == "":
            return max(0, length - int(last)), length
        return int(first), min(length, int(last) + 1 if last else length)

    def _send(
        self,
        status: int,
        content: bytes,
        body: bool,
        headers: dict[str, str],
        cut_after: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        told = content if cut_after is None else content[:cut_after]
        count = self._write(told) if body else 0
        path = unquote(urlsplit(self.path).path)
        asked = self.headers.get("Range")
        self.server_state.record(Request(self.command, path, asked, status, count))
        if body and len(told) < len(content):
            self.close_connection = True

    def _write(self, content: bytes) -> int:
        rate = self.server_state.rate
        block = BLOCK if rate is None else max(1, min(BLOCK, int(rate / 20)))
        written = 0
        try:
            while written < len(content):
                piece = content[written : written + block]
                self.wfile.write(piece)
                written += len(piece)
                if rate is not None:
                    time.sleep(len(piece) / rate)
        except (BrokenPipeError, ConnectionResetError):
            # The other side hung up, which a download tool may do at any time.
            self.close_connection = True
        return written
