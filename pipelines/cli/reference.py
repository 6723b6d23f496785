"""Commands about published results: ``reference import``, ``reference golden``."""

from __future__ import annotations

from collections import Counter

import typer
from rich.table import Table

from ops.fetch import standing
from pipelines.cli.terminal import err, lake, out

reference = typer.Typer(
    help="Results that others published, and whether ours agree with them.", no_args_is_help=True
)


def add_commands(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    app.add_typer(reference, name="reference")


@reference.command("import")
def take_in() -> None:
    """Read the fetched result files of timm and the ImageNet testbed into one table."""
    from ops.results.reference import import_references, reference_files

    _, root, known = lake()
    missing = [file for file in reference_files(known) if standing(root, file) is None]
    rows = import_references(root, known).select(["source", "revision", "setting", "model"])
    table = Table()
    for column in ("source", "revision"):
        table.add_column(column, overflow="fold")
    for column in ("models", "settings", "values"):
        table.add_column(column, justify="right")
    found = rows.to_pylist()
    for (source, revision), values in Counter(
        (row["source"], row["revision"]) for row in found
    ).items():
        own = [row for row in found if (row["source"], row["revision"]) == (source, revision)]
        models = len({row["model"] for row in own})
        settings = len({row["setting"] for row in own})
        table.add_row(source, revision, f"{models:,}", f"{settings:,}", f"{values:,}")
    if found:
        out.print(table)
        out.print("shiftlake sql 'FROM effective_robustness' sets them beside your own models.")
    if missing:
        benchmarks = " ".join(dict.fromkeys(file.benchmark for file in missing))
        err.print(f"{len(missing)} files are not here: shiftlake fetch {benchmarks}")


@reference.command()
def golden() -> None:
    """Compare our results with published ones of the same weights; exit code 1 if one differs."""
    from ops.results.reference import golden_checks

    _, root, known = lake()
    checks = golden_checks(root, known)
    table = Table()
    for column in ("model", "dataset", "metric"):
        table.add_column(column, overflow="fold")
    for column in ("published", "allowed", "ours"):
        table.add_column(column, justify="right")
    for column in ("verdict", "source"):
        table.add_column(column, overflow="fold")
    colours = {"passed": "green", "failed": "red", "not applicable": "yellow"}
    for check in checks:
        if check.model is None:
            continue
        published = " to ".join(f"{v:g}" for v in sorted({check.published_lo, check.published_hi}))
        verdict = check.status if check.reason is None else f"{check.status}: {check.reason}"
        table.add_row(
            check.model,
            check.dataset,
            f"{check.metric} ({check.variant})",
            published,
            f"± {check.tolerance:g}",
            "" if check.value is None else f"{check.value:.3f}",
            f"[{colours[check.status]}]{verdict}[/]",
            check.source,
        )
    if table.row_count:
        out.print(table)
    absent = list(dict.fromkeys(check.golden for check in checks if check.model is None))
    for name in absent:
        err.print(f"Not registered here: {name}.", highlight=False)
    if any(check.status == "failed" for check in checks):
        raise typer.Exit(1)
