"""``shiftlake demo``: run the demo job, print the leaderboard, say what to do next."""

from __future__ import annotations

import logging
import time

import dagster as dg
import typer

from ops.catalog import Catalog, load
from ops.errors import ShiftlakeError
from ops.rendering import expected_version
from ops.results import leaderboard, status
from ops.shards import read_manifest, verify
from ops.storage import Root, open_root
from pipelines.cli.terminal import out
from pipelines.dead_runs import close_dead_runs, process_tag
from pipelines.demo.networks import NETWORKS
from pipelines.demo.selection import datasets
from pipelines.demo.upstream import serve_miniature
from pipelines.environment import workplace
from pipelines.pools import set_limits
from pipelines.stages import QUIET


def run_demo_here() -> None:
    """Run the demo in this project, or say that it is done."""
    started = time.monotonic()
    place = workplace(demo=True, dagster=True)
    place.enter()
    logging.getLogger("dagster").setLevel(logging.WARNING)
    root = open_root(place.root)
    out.rule("Shiftlake demo")
    out.print("[yellow]All images are drawn by a program: synthetic, no real data.[/yellow]")
    if place.overlay.exists() and is_done(root, load()):
        out.print(leaderboard(root))
        out.print(f"Nothing to do: all of it is done and current ({_since(started)}).")
    else:
        with serve_miniature(place) as server:
            out.print(f"Miniature upstream on {server.url} ({_since(started)})", highlight=False)
            from pipelines.definitions import build_definitions

            with dg.DagsterInstance.get() as instance:
                set_limits(instance)
                close_dead_runs(instance)
                job = build_definitions().resolve_job_def("demo")
                result = job.execute_in_process(
                    instance=instance, run_config=QUIET, tags=process_tag(), raise_on_error=False
                )
        if not result.success:
            out.print("[red]The demo failed; the run's log says why.[/red]")
            raise typer.Exit(1)
        out.print(leaderboard(root))
        out.print(f"Done in {_since(started)}. Run it again: it has nothing left to do.")
    out.print(
        "\nThe page of all this:  [bold]make dev[/bold]   (then http://127.0.0.1:3000)\n"
        "In SQL:                [bold].venv/bin/shiftlake sql "
        '"SELECT * FROM leaderboard"[/bold]\n'
        f"The data:              {place.root}",
        highlight=False,
    )


def is_done(root: Root, catalog: Catalog) -> bool:
    """Whether every dataset is sealed in its current version, evaluated and measured."""
    names = set(datasets())
    try:
        for name in names:
            if read_manifest(root, name).version != expected_version(root, catalog, name):
                return False
            if verify(root, name).problems:
                return False
    except ShiftlakeError:
        return False
    rows = [row for row in status(root, catalog) if row.dataset in names]
    models = {row.model for row in rows}
    return models >= {name for name, _, _ in NETWORKS} and all(
        row.state == "done" and row.measured for row in rows
    )


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"
