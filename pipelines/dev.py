"""The Dagster page and daemon on loopback, on the real lake or on the demo's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import dagster as dg

from assets.report import URL_VARIABLE
from ops.storage import open_root
from pipelines.cli.terminal import out
from pipelines.dead_runs import close_dead_runs
from pipelines.environment import workplace
from pipelines.pools import set_limits
from pipelines.report_page import serve_report


def serve_ui(port: int, *, demo: bool | None = None) -> int:
    """Serve until interrupted.

    Parameters
    ----------
    port : int
        TCP port on 127.0.0.1; the report is served on the next one.
    demo : bool, optional
        See :func:`pipelines.environment.workplace`.

    Returns
    -------
    int
        Exit code of Dagster.
    """
    place = workplace(demo=demo, dagster=True)
    place.enter()
    with ExitStack() as stack:
        if place.demo:
            from pipelines.demo.upstream import serve_miniature

            stack.enter_context(serve_miniature(place))
            out.print("[yellow]The demo's lake: all images are synthetic.[/yellow]")
        with dg.DagsterInstance.get() as instance:
            set_limits(instance)
            close_dead_runs(instance)
        out.print(f"Data in {place.root}\nDagster on http://127.0.0.1:{port}", highlight=False)
        try:
            address = stack.enter_context(serve_report(open_root(place.root), port + 1))
        except OSError as error:
            out.print(f"The report is not served: port {port + 1}: {error.strerror}")
        else:
            os.environ[URL_VARIABLE] = address
            out.print(f"Report on {address}", highlight=False)
        command = [sys.executable, "-m", "dagster", "dev"]
        command += ["-w", str(place.project / "workspace.yaml")]
        command += ["-h", "127.0.0.1", "-p", str(port)]
        # A shell starts background jobs with SIGINT ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # A group of its own: what Dagster leaves behind can be ended with it.
        process = subprocess.Popen(command, cwd=place.project, start_new_session=True)
        # Dagster stops its own children when it is asked politely; do so however we are stopped.
        signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGINT))
        try:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:
                    process.send_signal(signal.SIGINT)
        finally:
            _end(process.pid)


def _end(group: int) -> None:
    """End what is left of a process group, politely at first; runs are taken up again later."""
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 0.0)):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
