"""The commands, and how an error reaches a person."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from rich.console import Console
from typer.models import CommandInfo, TyperInfo

from ops.errors import ShiftlakeError
from pipelines.cli import (
    compaction,
    datasets,
    detections,
    evaluation,
    exports,
    finetune,
    gates,
    instance,
    listing,
    models,
    planning,
    reference,
    report,
    review,
    upstream,
    video,
)

# What a command is about, in the order of a first day's work; the help shows them so.
PANELS = {
    "Begin": ("demo", "dev"),
    "Data": ("catalog", "datasets", "plan", "fetch", "add", "build", "verify", "export"),
    "Models": ("model", "evaluate", "finetune"),
    "Answers": ("status", "leaderboard", "compare", "gate", "report", "table", "sql", "reference"),
    "Videos": ("video", "review", "reviews", "detections"),
    "Upkeep and sharing": ("bundle", "import", "compact", "run", "bootstrap"),
}

app = typer.Typer(
    help="Every ImageNet robustness benchmark, from the published archive to a SQL row.",
    epilog="Where to begin: shiftlake demo shows all of it on drawn images, without a download.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
upstream.add_commands(app)
listing.add_commands(app)
planning.add_commands(app)
datasets.add_commands(app)
models.add_commands(app)
evaluation.add_commands(app)
video.add_commands(app)
review.add_commands(app)
detections.add_commands(app)
finetune.add_commands(app)
gates.add_commands(app)
report.add_commands(app)
reference.add_commands(app)
exports.add_commands(app)
compaction.add_commands(app)
instance.add_commands(app)


def _in_panels() -> None:
    """Put the commands into their panels; one that is in none comes after all others."""
    place = [(panel, name) for panel, names in PANELS.items() for name in names]
    panel_of = {name: panel for panel, name in place}
    order = {name: rank for rank, (_, name) in enumerate(place)}

    def name_of(each: CommandInfo | TyperInfo) -> str:
        return str(each.name or getattr(each.callback, "__name__", ""))

    listed: tuple[list[Any], ...] = (app.registered_commands, app.registered_groups)
    for commands in listed:
        commands.sort(key=lambda each: order.get(name_of(each), len(order)))
        for each in commands:
            each.rich_help_panel = panel_of.get(name_of(each), "Other")


_in_panels()


def main() -> None:
    """Run the command line; a problem a user can act on is printed, not traced."""
    try:
        app()
    except ShiftlakeError as error:
        Console(stderr=True).print(str(error), style="red", highlight=False, markup=False)
        _leave(1)
    except OSError as error:
        text = f"The system refused: {error.strerror or error}\n  where: {error.filename}"
        Console(stderr=True).print(text, style="red", highlight=False, markup=False)
        _leave(1)
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else int(end.code is not None))


def _leave(code: int) -> None:
    """End the process at once.

    A thread of Arrow that still drops a Python buffer while the interpreter is being torn down
    aborts the whole process, after all work is done.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
