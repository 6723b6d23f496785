"""Commands about predictions and answers: ``evaluate``, ``metrics``, ``status``, ``sql``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import TaskID

from ops.errors import ShiftlakeError
from ops.results import compute_metrics, query, status_table
from ops.results import leaderboard as leaderboard_table
from ops.results import status as status_rows
from ops.shards import sealed_datasets
from pipelines.cli.names import every
from pipelines.cli.terminal import err, lake, out, progress

if TYPE_CHECKING:
    from ops.inference import RunRecord


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
    batch_size: Annotated[
        int | None,
        typer.Option(help="Images in a forward pass; by default as the device asks.", min=1),
    ] = None,
    devices: Annotated[
        list[str] | None,
        typer.Option("--device", help="auto, cpu, cuda, or several of cuda:0, cuda:1, …: shared."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Decoding threads; all CPUs.", min=1)] = None,
    logits: Annotated[
        bool, typer.Option("--logits", help="Keep all logits as well, 2 bytes a class.")
    ] = False,
) -> None:
    """Run a model on sealed datasets, and compute the metrics anew."""
    from ops.inference.cell import evaluate_many
    from ops.inference.devices import check_devices
    from ops.inference.plan import Device, plan_numerics
    from ops.models import read_model
    from ops.models.fine_tuned import seen_in_training

    _, root, known = lake()
    several = devices if devices and devices not in (["auto"], ["cpu"], ["cuda"]) else None
    device: Device = "auto" if several or not devices else devices[0]  # type: ignore[assignment]
    entry = read_model(root, model)
    # Else a device that is not there would be told of every dataset.
    plan_numerics(entry, check_devices(several) if several else device)
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
    with progress("images") as bar:
        tasks: dict[str, TaskID] = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)
            if done >= total:
                bar.remove_task(tasks.pop(name))

        def told(record: RunRecord) -> None:
            err.print(
                f"{record.dataset}: {record.n_seen:,} seen + {record.n_error:,} failed "
                f"= {record.n_expected:,}, {record.images_per_second:,.0f} images/s",
                highlight=False,
            )

        _, failures = evaluate_many(
            root,
            known,
            model,
            names,
            batch_size=batch_size,
            workers=workers,
            device=device,
            devices=several,
            logits=logits,
            on_record=told,
            on_failure=lambda failed: err.print(
                f"{failed.dataset}:\n{failed.error}", style="red", highlight=False, markup=False
            ),
            progress=report,
        )
    compute_metrics(root, known)
    out.print(leaderboard_table(root, model=model))
    for name in seen_in_training(entry.fine_tuned_on, names):
        err.print(
            f"{model} was fine-tuned on videos of {name}: its scores there say nothing about "
            "new ones",
            style="yellow",
            highlight=False,
        )
    if failures:
        raise ShiftlakeError(
            "Not everything could be evaluated; the rest is done and measured.",
            expected=f"{len(names)} datasets",
            found=f"{len(failures)} failed: {', '.join(failed.dataset for failed in failures[:5])}",
            where=model,
            remedy="see the reasons above; shiftlake status keeps them",
        )


def leaderboard() -> None:
    """Compute the metrics from the rows there are, and print the leaderboard."""
    _, root, known = lake()
    compute_metrics(root, known)
    table = leaderboard_table(root)
    out.print(table)
    if not table.rows:
        out.print("shiftlake status says what is built and evaluated.")


def status(
    compact: Annotated[
        bool, typer.Option(help="One line a corruption instead of one a severity.")
    ] = True,
) -> None:
    """Each model and dataset: done, partial, missing or stale, and why."""
    _, root, known = lake()
    rows = status_rows(root, known, compact=compact)
    if not rows:
        out.print("No model is registered here: shiftlake model add NAME REFERENCE")
        return
    out.print(status_table(rows))


def sql(
    text: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT; - reads it from standard input.")
    ],
    format: Annotated[str, typer.Option(help="table, csv or json.")] = "table",
) -> None:
    """Ask in SQL, read-only: predictions, accuracy, flips, metrics, leaderboard, status, runs."""
    _, root, _ = lake()
    answer = query(root, sys.stdin.read() if text == "-" else text, format=format)  # type: ignore[arg-type]
    sys.stdout.write(answer if answer.endswith("\n") else answer + "\n")
