"""Commands about the Dagster instance: ``demo``, ``dev``, ``run``, ``bootstrap``."""

from __future__ import annotations

from typing import Annotated

import typer

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import out
from pipelines.environment import workplace


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(demo)
    app.command()(dev)
    app.command()(run)
    app.command()(bootstrap)


def demo() -> None:
    """Everything in miniature: archives on loopback, shards, evaluation, leaderboard."""
    from pipelines.demo.run import run_demo_here

    run_demo_here()


def dev(
    port: Annotated[int, typer.Option(help="Port on loopback.")] = 3000,
    demo: Annotated[
        bool | None, typer.Option(help="Open the demo's lake, or insist on the real one.")
    ] = None,
) -> None:
    """The Dagster page and daemon, on loopback."""
    from pipelines.dev import serve_ui

    raise typer.Exit(serve_ui(port, demo=demo))


def run(
    job: Annotated[str, typer.Argument(help="natural_shifts, sources, shards or everything.")],
) -> None:
    """Run a job without partitions in this process, recorded in the instance."""
    import dagster as dg

    workplace(dagster=True).enter()
    from pipelines.dead_runs import close_dead_runs
    from pipelines.definitions import build_definitions
    from pipelines.pools import set_limits
    from pipelines.run_tags import run_tags
    from pipelines.stages import QUIET

    definitions = build_definitions()
    plain = ("sources", "shards", "natural_shifts", "results", "parity", "everything")
    if job not in plain:
        raise ShiftlakeError(
            "This job cannot be run here.",
            expected=f"one of {', '.join(plain)}",
            found=job,
            where="shiftlake run",
            remedy="jobs with partitions are launched on the page (shiftlake dev); "
            "shiftlake build and evaluate do the same work",
        )
    with dg.DagsterInstance.get() as instance:
        set_limits(instance)
        for dead in close_dead_runs(instance):
            out.print(f"run {dead} had been killed: closed", highlight=False)
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance, run_config=QUIET, tags=run_tags(), raise_on_error=False
        )
    out.print(
        f"run {result.run_id} of {job}: {'success' if result.success else 'failure'}",
        highlight=False,
    )
    raise typer.Exit(0 if result.success else 1)


def bootstrap() -> None:
    """Set the limits of the pools, which Dagster keeps in its database."""
    import dagster as dg

    from pipelines.pools import set_limits

    workplace(dagster=True).enter()
    with dg.DagsterInstance.get() as instance:
        for pool, limit in set_limits(instance).items():
            out.print(f"pool {pool}: {limit} at once")
