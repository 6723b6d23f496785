"""What the tests of this room share: a torchvision that imports, and a hub on the loopback."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
import torch

from ops.storage import Root, open_root


@pytest.fixture(scope="session", autouse=True)
def torchvision_operators() -> torch.library.Library:
    """Declare two operators that torchvision asks for when it is imported.

    A torchvision that was built for CUDA has none of its operators beside a torch for CPUs.
    """
    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        import torchvision  # noqa: F401
    except ImportError:
        pass
    except RuntimeError:
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
    # What is declared lasts as long as its library.
    return library


@pytest.fixture(autouse=True)
def trusted_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of this folder's own module may be named as architectures."""
    monkeypatch.setenv("SHIFTLAKE_CODE", "weight_parts")


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@dataclass
class Hub:
    """Repositories as the Hugging Face hub publishes them, over real HTTP."""

    url: str = ""
    # Files by repository and commit; branches and tags by repository.
    commits: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def publish(self, repository: str, files: dict[str, bytes], name: str = "main") -> str:
        """A new commit with these files; `name` is the branch or tag that points at it."""
        content = sorted((path, hashlib.sha1(data).hexdigest()) for path, data in files.items())
        commit = hashlib.sha1(json.dumps([repository, content]).encode()).hexdigest()
        self.commits[repository, commit] = files
        self.names[repository, name] = commit
        return commit

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of a request."""
        self.asked.append(path)
        parts = unquote(path.partition("?")[0]).strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            repository = "/".join(parts[2:4])
            commit = self._commit(repository, parts[5] if len(parts) > 5 else "main")
            if commit is None:
                return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
            files = [{"rfilename": file} for file in self.commits[repository, commit]]
            body = {"_id": "1", "id": repository, "sha": commit, "siblings": files, "tags": []}
            return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()
        if len(parts) > 4 and parts[2] == "resolve":
            repository, file = "/".join(parts[:2]), "/".join(parts[4:])
            commit = self._commit(repository, parts[3])
            if commit is None:
                return 404, {"X-Error-Code": "RevisionNotFound"}, b""
            files_there = self.commits[repository, commit]
            if file not in files_there:
                return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b""
            data = files_there[file]
            tag = f'"{hashlib.sha1(data).hexdigest()}"'
            return 200, {"ETag": tag, "X-Repo-Commit": commit}, data
        return 404, {}, b""

    def _commit(self, repository: str, revision: str) -> str | None:
        if (repository, revision) in self.commits:
            return revision
        return self.names.get((repository, revision))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub that the installed client is pointed at, with a cache of its own."""
    constants = pytest.importorskip("huggingface_hub.constants")
    there = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, body_too: bool) -> None:
            status, headers, body = there.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if body_too:
                self.wfile.write(body)

        def do_GET(self) -> None:
            self._send(True)

        def do_HEAD(self) -> None:
            self._send(False)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    there.url = f"http://127.0.0.1:{server.server_port}"
    # The client reads HF_ENDPOINT and its cache's place once, when it is imported.
    monkeypatch.setattr(constants, "ENDPOINT", there.url)
    template = there.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()
