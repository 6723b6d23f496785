"""Commands that take results out of a lake, and into another: ``bundle``, ``import``, ``table``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import err, lake, out, progress, size_text

Models = Annotated[
    list[str] | None, typer.Option("--models", "-m", help="A model or pattern; all by default.")
]
Rows = Annotated[
    bool, typer.Option(help="Add the predictions: without them it cannot be imported again.")
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(bundle)
    app.command("import")(take_in)
    app.command()(table)


def bundle(
    folder: Annotated[str, typer.Argument(help="New, empty or an older bundle; may be s3://.")],
    models: Models = None,
    rows: Rows = True,
) -> None:
    """Write results as a folder for others: DuckDB, Parquet, manifest and report."""
    from ops.results.bundle import export_results

    _, root, known = lake()
    with progress("files") as bar:
        task = bar.add_task("bundle", total=None)
        done = export_results(
            root,
            known,
            folder,
            models=models or (),
            rows=rows,
            progress=lambda n, total: bar.update(task, completed=n, total=total),
        )
    out.print(
        f"{done.folder}: {len(done.models)} models, {done.runs:,} runs, {done.tables} tables, "
        f"{size_text(done.bytes)}",
        highlight=False,
        soft_wrap=True,
    )
    out.print(
        f"cd {done.folder} && duckdb -readonly results.duckdb", highlight=False, soft_wrap=True
    )


def take_in(
    folder: Annotated[str, typer.Argument(help="A bundle with predictions; may be s3://.")],
) -> None:
    """Take the runs of a bundle into this lake; every hash is checked, and nothing overwritten."""
    from ops.results import compute_metrics
    from ops.results.bundle import import_results

    _, root, known = lake()
    with progress("files") as bar:
        task = bar.add_task("import", total=None)
        done = import_results(
            root, folder, progress=lambda n, total: bar.update(task, completed=n, total=total)
        )
    compute_metrics(root, known)
    out.print(
        f"{len(done.runs):,} runs imported, {len(done.already_here):,} were here", highlight=False
    )
    for name in done.models:
        err.print(
            f"{name}: taken in without its weights; register it here to run it", highlight=False
        )


def table(
    format: Annotated[str, typer.Option(help="markdown, latex, csv or timm.")] = "markdown",
    models: Models = None,
    benchmarks: Annotated[
        list[str] | None,
        typer.Option("--benchmarks", "-b", help="A benchmark or pattern; all by default."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write, or for timm a folder of files.")
    ] = None,
) -> None:
    """The leaderboard for a paper: Markdown, LaTeX, CSV, or files in timm's layout."""
    from ops.results.papers import table as table_text
    from ops.results.papers import timm_tables, without_timm_file

    _, root, known = lake()
    models, benchmarks = models or [], benchmarks or []
    if format == "timm" and output is not None:
        for name, text in timm_tables(root, known, models=models, benchmarks=benchmarks).items():
            output.mkdir(parents=True, exist_ok=True)
            (output / name).write_text(text, encoding="utf-8")
            out.print(str(output / name), highlight=False)
        if not benchmarks and (absent := without_timm_file(root, known)):
            err.print(
                f"timm's layout has no file for {', '.join(absent)}: --format csv has them",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        return
    text = table_text(root, known, format, models=models, benchmarks=benchmarks)  # type: ignore[arg-type]
    if output is None:
        sys.stdout.write(text + "\n")
    elif output.is_dir():
        raise ShiftlakeError(
            "The table cannot be written.",
            expected="a file",
            found="a folder",
            where=output,
            remedy="name a file; only the layout of timm is a folder of files",
        )
    else:
        output.write_text(text + "\n", encoding="utf-8")
