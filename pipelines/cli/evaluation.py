"""Commands about predictions and answers: ``evaluate``, ``metrics``, ``status``, ``sql``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ops.errors import ShiftlakeError
from ops.results import compute_metrics, query, status_table
from ops.results import leaderboard as leaderboard_table
from ops.results import status as status_rows
from ops.shards import sealed_datasets
from pipelines.cli.names import Failures, every
from pipelines.cli.terminal import err, lake, out, progress


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(evaluate)
    app.command()(leaderboard)
    app.command()(status)
    # A statement may begin with a comment, which looks like an option.
    app.command(context_settings={"ignore_unknown_options": True})(sql)


def evaluate(
    model: Annotated[str, typer.Argument(help="A registered model.")],
    datasets: Annotated[
        list[str] | None, typer.Argument(help="Datasets; all it understands by default.")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Images in a forward pass.", min=1)] = 64,
) -> None:
    """Run a model on sealed datasets, and compute the metrics anew."""
    from ops.inference import evaluate as evaluate_dataset
    from ops.models import read_model

    _, root, known = lake()
    read_model(root, model)
    sealed = set(sealed_datasets(root))
    rows = [row for row in status_rows(root, known) if row.model == model]
    names = (
        every(datasets, sorted(sealed), "sealed dataset")
        if datasets
        else [row.dataset for row in rows if row.dataset in sealed]
    )
    if not names:
        raise ShiftlakeError(
            "There is nothing to evaluate.",
            expected="sealed datasets that the model understands",
            found=f"{len(sealed)} sealed datasets, none for {model}",
            where=root.url,
            remedy="shiftlake build DATASET; shiftlake model list",
        )
    failures = Failures()
    with progress("images") as bar:
        for name in names:
            task = bar.add_task(name, total=None)
            with failures.noted(name):
                record = evaluate_dataset(
                    root,
                    known,
                    model,
                    name,
                    batch_size=batch_size,
                    progress=lambda done, total, task=task: bar.update(  # type: ignore[misc]
                        task, completed=done, total=total
                    ),
                )
                err.print(
                    f"{name}: {record.n_seen:,} seen + {record.n_error:,} failed "
                    f"= {record.n_expected:,}, {record.images_per_second:,.0f} images/s",
                    highlight=False,
                )
            bar.remove_task(task)
    compute_metrics(root, known)
    failures.raise_any()


def leaderboard() -> None:
    """Compute the metrics from the rows there are, and print the leaderboard."""
    _, root, known = lake()
    compute_metrics(root, known)
    out.print(leaderboard_table(root))


def status(
    compact: Annotated[
        bool, typer.Option(help="One line a corruption instead of one a severity.")
    ] = True,
) -> None:
    """Each model and dataset: done, partial, missing or stale, and why."""
    _, root, known = lake()
    out.print(status_table(status_rows(root, known, compact=compact)))


def sql(
    text: Annotated[str, typer.Argument(help="One SELECT; - reads it from standard input.")],
    format: Annotated[str, typer.Option(help="table, csv or json.")] = "table",
) -> None:
    """Ask in SQL, read-only: predictions, accuracy, flips, metrics, leaderboard, status, runs."""
    _, root, _ = lake()
    answer = query(root, sys.stdin.read() if text == "-" else text, format=format)  # type: ignore[arg-type]
    sys.stdout.write(answer if answer.endswith("\n") else answer + "\n")
