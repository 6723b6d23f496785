"""How fast a fetch is against curl: download over loopback, hash and receipt included.

A tiny server in a process of its own answers with sendfile, so that it is not what is measured.
The runs of all contestants alternate; the table shows medians.

    python benchmarks/download.py --mib 2048 --runs 5
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from ops.catalog import SourceFile
from ops.fetch import fetch
from ops.storage import open_root

RESULT = Path(__file__).parent / "results" / "download.json"


def serve(path: str, ready: Connection) -> None:
    size = Path(path).stat().st_size
    with socket.create_server(("127.0.0.1", 0)) as server, Path(path).open("rb") as file:
        ready.send(server.getsockname()[1])
        while True:
            client, _ = server.accept()
            with client:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (part := client.recv(65536)):
                        break
                    request += part
                client.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                    b'ETag: "1"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % size
                )
                sent = 0
                while sent < size:
                    sent += os.sendfile(client.fileno(), file.fileno(), sent, 1 << 26)


def make_file(path: Path, mib: int) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for _ in range(mib):
            piece = os.urandom(1 << 20)
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def with_curl(url: str, folder: Path) -> None:
    subprocess.run(["curl", "-s", "-f", "-o", folder / "file.tar", url], check=True)


def with_curl_and_sha256sum(url: str, folder: Path) -> None:
    with_curl(url, folder)
    subprocess.run(["sha256sum", folder / "file.tar"], check=True, stdout=subprocess.DEVNULL)


def with_curl_sha256sum_and_sync(url: str, folder: Path) -> None:
    with_curl_and_sha256sum(url, folder)
    subprocess.run(["sync", folder / "file.tar"], check=True)


def with_fetch(url: str, folder: Path, size: int, sha256: str) -> None:
    file = SourceFile.model_validate(
        {
            "benchmark": "speed",
            "id": "file",
            "name": "file.tar",
            "url": url,
            "bytes": size,
            "sha256": sha256,
        }
    )
    receipt = fetch(open_root(folder), file)
    if receipt.sha256 != sha256:
        raise SystemExit("the download is wrong")


def measure(work: Callable[[Path], None], base: Path) -> float:
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        # What the run before left to be written back must not be charged to this one.
        os.sync()
        start = time.perf_counter()
        work(folder)
        return time.perf_counter() - start
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=2048, help="size of the file in MiB")
    parser.add_argument("--runs", type=int, default=5, help="runs of each contestant")
    parser.add_argument("--folder", type=Path, default=None, help="disk to write to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        base = Path(name)
        served = base / "served"
        sha256 = make_file(served, options.mib)
        size = served.stat().st_size
        context = get_context("spawn")
        ready, told = context.Pipe(duplex=False)
        server = context.Process(target=serve, args=(str(served), told), daemon=True)
        server.start()
        url = f"http://127.0.0.1:{ready.recv()}/file.tar"
        contestants: dict[str, Callable[[Path], None]] = {
            "curl": lambda folder: with_curl(url, folder),
            "curl, sha256sum": lambda folder: with_curl_and_sha256sum(url, folder),
            "curl, sha256sum, sync": lambda folder: with_curl_sha256sum_and_sync(url, folder),
            "fetch (hash, sync, receipt)": lambda folder: with_fetch(url, folder, size, sha256),
        }
        seconds: dict[str, list[float]] = {each: [] for each in contestants}
        for _ in range(options.runs):
            for each, work in contestants.items():
                seconds[each].append(measure(work, base))
        server.terminate()
    report(seconds, options.mib)


def report(seconds: dict[str, list[float]], mib: int) -> None:
    medians = {each: statistics.median(values) for each, values in seconds.items()}
    base = medians["curl"]
    print(f"{mib} MiB over loopback, median of {len(seconds['curl'])} alternating runs\n")
    print(f"{'':30}{'s':>8}{'MiB/s':>9}{'x curl':>9}")
    for each, value in medians.items():
        print(f"{each:30}{value:8.2f}{mib / value:9.0f}{base / value:9.2f}")
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "mib": mib,
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "curl": subprocess.check_output(["curl", "--version"], text=True).split()[1],
        },
        "seconds": {each: [round(v, 4) for v in values] for each, values in seconds.items()},
        "mib_per_second": {each: round(mib / value, 1) for each, value in medians.items()},
        "times_curl": {each: round(base / value, 3) for each, value in medians.items()},
    }
    RESULT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
