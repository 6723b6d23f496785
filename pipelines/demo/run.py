"""``shiftlake demo``: run the demo job, print the leaderboard, say what to do next."""

from __future__ import annotations

import logging
import time
from typing import Any

import dagster as dg
import typer

from ops.catalog import Catalog, load
from ops.errors import ShiftlakeError
from ops.rendering import expected_version
from ops.results import leaderboard, status
from ops.results.gates.file import read_gate
from ops.shards import read_manifest, verify
from ops.storage import Root, open_root, paths
from ops.video.cataloguing import catalogued
from pipelines.cli.terminal import out
from pipelines.dead_runs import close_dead_runs
from pipelines.demo.selection import cells, datasets
from pipelines.demo.upstream import serve_miniature
from pipelines.demo.video import pm_k_lines, sealed_and_reviewed
from pipelines.environment import workplace
from pipelines.pools import set_limits
from pipelines.run_tags import run_tags
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
    if place.overlay.exists() and is_done(root, catalogued(root, load())):
        _show(root)
        out.print(f"Nothing to do: all of it is done and current ({_since(started)}).")
    else:
        out.print("Drawing small archives, in the layout their authors publish them in …")
        with serve_miniature(place) as server:
            out.print(f"They are served on {server.url} ({_since(started)}).", highlight=False)
            out.print(
                "From there on it is as with real ones; each line is a run on Dagster's page:"
            )
            from pipelines.definitions import build_definitions

            with dg.DagsterInstance.get() as instance:
                set_limits(instance)
                close_dead_runs(instance)
                job = build_definitions().resolve_job_def("demo")
                result = job.execute_in_process(
                    instance=instance, run_config=QUIET, tags=run_tags(), raise_on_error=False
                )
        if not result.success:
            out.print(
                "[red]The demo failed. Its run says why (make dev, then Runs); what is done "
                "stays, and running it again goes on from there.[/red]"
            )
            raise typer.Exit(1)
        _show(root)
        out.print(f"Done in {_since(started)}. Run it again: it has nothing left to do.")
    out.print(
        f"\nThe report:            [bold]{root.at(paths.results('report.html'))}[/bold]\n"
        "The page of all this:  [bold]make dev[/bold]   (then http://127.0.0.1:3000)\n"
        "In SQL:                [bold].venv/bin/shiftlake sql "
        '"SELECT * FROM leaderboard"[/bold]\n'
        "Review frames:         [bold].venv/bin/shiftlake review filmed_things[/bold]\n"
        f"The data:              {place.root}\n"
        "With real data:        [bold]export SHIFTLAKE_ROOT=/data/shiftlake[/bold], then "
        "[bold].venv/bin/shiftlake plan imagenet_a[/bold] says what it costs",
        highlight=False,
    )


def _show(root: Root) -> None:
    out.print(leaderboard(root))
    out.print("\nThe gate: is the candidate, a network with one class forgotten, no worse?")
    for row in read_gate(root).to_pylist():
        out.print(_verdict(row), highlight=False)
    out.print(
        "\nFlicker: the anchor alone (pm-0), and the worst frame within 10 of it (pm-10). "
        "The review was recorded by a script that knows the drawings."
    )
    for line in pm_k_lines(root, catalogued(root, load())):
        out.print(line, highlight=False)


def _verdict(row: dict[str, Any]) -> str:
    """One line of the gate, in points."""
    unit = 1 if row["metric"].endswith("_pct") else 100
    delta, lo, hi, margin = (unit * row[name] for name in ("delta", "ci_lo", "ci_hi", "margin"))
    colour = {"pass": "green", "fail": "red"}.get(row["verdict"], "yellow")
    classes = [f"{item['name']} ({item['lost']})" for item in row["flipped_classes"] or ()]
    return (
        f"  [{colour}]{row['verdict']}[/{colour}] {row['benchmark']}/{row['condition']}: "
        f"{delta:+.2f} points, from {lo:+.2f} to {hi:+.2f}, margin {margin:g}"
        + (f"; lost {', '.join(classes)}" if classes else "")
    )


def is_done(root: Root, catalog: Catalog) -> bool:
    """Whether every dataset is sealed in its current version, evaluated and measured."""
    names = set(datasets())
    if not sealed_and_reviewed(root):
        return False
    try:
        for name in names:
            if read_manifest(root, name).version != expected_version(root, catalog, name):
                return False
            if verify(root, name).problems:
                return False
    except ShiftlakeError:
        return False
    if not root.exists(paths.results("report.html")):
        return False
    there = {
        (row.model, row.dataset)
        for row in status(root, catalog)
        if row.state == "done" and row.measured
    }
    return there >= set(cells(root, catalog))


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"
