"""Serving a miniature over HTTP, from start to shutdown."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

from ops.errors import ShiftlakeError
from ops.miniature.faults import Fault
from ops.miniature.handler import Handler
from ops.miniature.service import MiniatureServer
from ops.miniature.upstream import MARKER, MiniatureUpstream, finished


@contextmanager
def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    faults: Sequence[Fault] = (),
    rate: float | None = None,
) -> Iterator[MiniatureServer]:
    """Serve a built miniature until the context ends.

    Addresses are `/<benchmark>/<file name>`, `/redirect/<path>` (302 to `/<path>`),
    `/overlay.yaml`, `/truth.json` and `/api/records/<id>` in the shape of Zenodo's API.

    Parameters
    ----------
    folder : Path
        What `build` wrote.
    host, port : str, int
        Where to listen; port 0 takes a free one.
    faults : sequence of Fault
        Faults in force from the start.
    rate : float or None
        Bytes a second of each connection.

    Yields
    ------
    MiniatureServer

    Raises
    ------
    ShiftlakeError
        If the folder holds no finished miniature.
    """
    state = MiniatureServer(_finished(folder), faults=list(faults), rate=rate)

    class Bound(Handler):
        server_state = state

    server = ThreadingHTTPServer((host, port), Bound)
    server.daemon_threads = True
    state.url = f"http://{host}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _finished(folder: Path) -> MiniatureUpstream:
    upstream = finished(folder)
    if upstream is None:
        raise ShiftlakeError(
            "There is no finished miniature to serve.",
            expected=f"a folder with {MARKER}",
            found="none",
            where=folder,
            remedy="Build it first: ops.miniature.build(folder).",
        )
    return upstream
