"""The real command ``shiftlake review`` in its own process, to be asked, killed, restarted."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ops.storage import Root

_COMMAND = "from pipelines.cli.main import app; app()"


class ReviewServer:
    """A server over a lake; restarted, it takes the same port."""

    def __init__(self, root: Root, state: Path, *arguments: str) -> None:
        self._root, self._state, self._arguments = root, state, arguments
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    def start(self, stderr: int | None = None) -> ReviewServer:
        settings = {"SHIFTLAKE_ROOT": self._root.url, "SHIFTLAKE_STATE": str(self._state)}
        command = [sys.executable, "-W", "ignore", "-c", _COMMAND, "review", *self._arguments]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Review at"):
                return self
        raise AssertionError("the server ended before it listened")

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        **parameters: Any,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer; a POST is sent as the page itself would."""
        own = {"Origin": self.url, "Content-Type": "application/json"} if method == "POST" else {}
        sent = {name: value for name, value in {**own, **(headers or {})}.items() if value}
        query = f"?{urlencode(parameters)}" if parameters else ""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path + query, data, sent)
        answer = connection.getresponse()
        found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def json(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The JSON of an answer that is well."""
        status, _, data = self.ask(method, path, body, **parameters)
        assert status == 200, data
        return json.loads(data)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
