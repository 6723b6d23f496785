"""The command ``finetune``: train a registered model on frame sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from pipelines.cli.terminal import err, lake, out

if TYPE_CHECKING:
    from ops.models.fine_tuned import FineTuned, Score


def add_commands(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(finetune)


def finetune(
    model: Annotated[str, typer.Argument(help="The registered model to begin with.")],
    dataset: Annotated[
        str, typer.Argument(help="Sealed frame sets: frame_sets/SOURCE or reviewed_frame_sets/...")
    ],
    name: Annotated[str, typer.Option(help="Of the new model in the registry.")],
    loss: Annotated[
        str, typer.Option(help="plain: the anchors; pm_k: the worst frame of every set.")
    ] = "pm_k",
    epochs: Annotated[int, typer.Option(help="Passes over the sets.")] = 5,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW; it falls to 0.")] = 1e-4,
    candidates: Annotated[
        int | None, typer.Option(help="Frames of a set that are compared; all by default.")
    ] = None,
    mix: Annotated[
        float, typer.Option(help="Share of the worst frame's loss; the rest is the anchor's.")
    ] = 1.0,
    warm_up: Annotated[int, typer.Option(help="Epochs at first on anchors alone.")] = 0,
    sets_per_step: Annotated[int, typer.Option(help="Sets that make one step.")] = 16,
    k: Annotated[int, typer.Option(help="Frames to either side of the anchor.")] = 10,
    held_out: Annotated[
        float, typer.Option(help="Share of the videos kept apart; the same for every model.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, whose weights can be repeated, or cuda.")] = (
        "cpu"
    ),
    force: Annotated[
        bool, typer.Option("--force", help="Give a name that exists to the new model.")
    ] = False,
) -> None:
    """Fine-tune a model on frame sets, and compare it on videos it has not seen."""
    from ops.models.pm_k_training import fine_tune
    from ops.video.cataloguing import catalogued

    _, root, catalog = lake()
    entry, record = fine_tune(
        root,
        catalogued(root, catalog),
        model,
        dataset,
        loss=loss,  # type: ignore[arg-type]
        name=name,
        epochs=epochs,
        learning_rate=learning_rate,
        candidates=candidates,
        mix=mix,
        warm_up=warm_up,
        sets_per_step=sets_per_step,
        k=k,
        held_out=held_out,
        seed=seed,
        device=device,
        replace=force,
        log=lambda line: err.print(line, highlight=False),
    )
    digest = entry.weights.sha256 if entry.weights else "none"
    out.print(f"{entry.name}: weights sha256 {digest}", highlight=False)
    for frame_set, reason in list(record.skipped.items())[:5]:
        err.print(f"skipped {frame_set}: {reason}", highlight=False, markup=False)
    if len(record.skipped) > 5:
        err.print(f"and {len(record.skipped) - 5} more", highlight=False)
    if record.before is None or record.after is None:
        out.print("No video was held out: evaluate both models on another source to compare them.")
        return
    out.print(_compared(record, record.before, record.after), highlight=False)


def _compared(record: FineTuned, before: Score, after: Score) -> Table:
    table = Table(title=f"{record.n_held_out} sets of {len(record.held_out_videos)} unseen videos")
    for column in ("", record.base, record.model):
        table.add_column(column, justify="right" if column else "left", overflow="fold")
    for former, now in zip(before.rows, after.rows, strict=True):
        table.add_row(former[0], _share(*former[1:]), _share(*now[1:]))
    return table


def _share(k: int, n: int, lo: float, hi: float) -> str:
    if not n:
        return "none of 0"
    return f"{100 * k / n:.1f} % ({100 * lo:.1f} to {100 * hi:.1f}), {k} of {n}"
