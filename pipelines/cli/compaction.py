"""``compact``: many small files of predictions into few."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.terminal import lake, out, size_text


def add_commands(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(compact)


def compact(
    models: Annotated[
        list[str] | None, typer.Argument(help="Names in the registry; all by default.")
    ] = None,
    rows: Annotated[
        bool, typer.Option(help="Merge rows too; without, only an index of the runs is made.")
    ] = True,
) -> None:
    """Merge the files of finished evaluations, so that many of them open and read faster.

    Computing metrics begins with it, so that evaluate and the job results do it as well. The files
    themselves stay the truth: what this makes lies below compacted/ and may be deleted.
    """
    from ops.results.compaction import compact as merge

    _, root, _ = lake()
    done = merge(root, models or None, rows=rows, log=out.print)
    out.print(
        f"{done.runs:,} runs of {done.models:,} models noted, {done.merged:,} of them merged now; "
        f"{done.files:,} merged files, {size_text(done.bytes)}"
    )
    for reason in done.skipped:
        out.print(f"left out: {reason}", style="yellow")
