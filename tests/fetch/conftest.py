"""Servers for this room: HTTP with faults, and S3."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fault_server import FaultServer

from ops.storage import Root, open_root


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def root(tmp_path: Any) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HF_ENDPOINT", "SHIFTLAKE_SCRATCH", "SHIFTLAKE_ZENODO_API"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def s3(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An S3 client of the running server, with the environment pointing there."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret-key")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3")
    client.create_bucket(Bucket="lake")
    return client
