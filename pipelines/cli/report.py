"""The command ``report``: one page with everything there is to say about the results."""

from __future__ import annotations

import typer

from pipelines.cli.terminal import lake, out, size_text


def add_commands(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(report)


def report() -> None:
    """Write the report, a self-contained HTML page, and say where it is."""
    from ops.report import write_report
    from ops.results import compute_metrics

    _, root, known = lake()
    compute_metrics(root, known)
    path = write_report(root, known)
    out.print(f"{root.at(path)}, {size_text(root.size(path))}", highlight=False, soft_wrap=True)
