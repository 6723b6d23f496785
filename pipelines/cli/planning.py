"""The command ``plan``: what something would cost, before it is begun."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.names import every
from pipelines.cli.terminal import lake, out


def add_commands(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(plan)


def plan(
    datasets: Annotated[
        list[str],
        typer.Argument(help="Benchmarks, datasets or patterns, such as 'imagenet_c/fog/*'."),
    ],
    model: Annotated[
        str | None, typer.Option(help="A registered model: what evaluating it would take, too.")
    ] = None,
) -> None:
    """What building and evaluating would take: images, downloads, disk, time. Nothing is begun."""
    from ops.planning import plan as plan_of
    from ops.planning import plan_remarks, plan_table

    place, root, known = lake()
    names = every(datasets, list(known.datasets), "dataset")
    device = "cpu"
    if model is not None:
        from ops.inference.plan import plan_numerics
        from ops.models import read_model

        device = plan_numerics(read_model(root, model)).device
    found = plan_of(root, known, names, model=model, device=device)
    out.print(plan_table(found))
    for line in plan_remarks(found, _free(place.root)):
        out.print(line, highlight=False)


def _free(root: str) -> int | None:
    """Bytes free below a local root, which need not be there yet; None of a remote one."""
    if "://" in root:
        return None
    folder = Path(root).absolute()
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(there).free
