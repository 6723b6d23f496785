"""The commands, and how an error reaches a person."""

from __future__ import annotations

import os
import sys

import typer
from rich.console import Console

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
    reference,
    report,
    review,
    upstream,
    video,
)

app = typer.Typer(
    help="Every ImageNet robustness benchmark, from the published archive to a SQL row.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
upstream.add_commands(app)
listing.add_commands(app)
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
