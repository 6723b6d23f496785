"""Commands about models: ``model add``, ``model list``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pipelines.cli.terminal import lake, out, size_text

model = typer.Typer(help="The model registry.", no_args_is_help=True)


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(model, name="model")


@model.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name in the registry.")],
    reference: Annotated[
        str, typer.Argument(help="timm:NAME, or module:callable that gives a torch module.")
    ],
    weights: Annotated[
        Path | None, typer.Option(help="Local .safetensors or a checkpoint of tensors.")
    ] = None,
    kwargs: Annotated[str, typer.Option(help="Arguments of the callable, as JSON.")] = "{}",
    resize: Annotated[int, typer.Option(help="Shorter side in pixels.")] = 256,
    crop: Annotated[int, typer.Option(help="Side of the central crop in pixels.")] = 224,
    interpolation: Annotated[str, typer.Option(help="bilinear or bicubic.")] = "bilinear",
    label_space: Annotated[str, typer.Option(help="What the outputs are classes of.")] = (
        "ilsvrc1000"
    ),
    precision: Annotated[str, typer.Option(help="fp32, bf16 or fp16.")] = "fp32",
) -> None:
    """Register a model; its weights are stored by their hash."""
    from ops.models import ModelEntry, Transform, from_timm, register

    _, root, _ = lake()
    if reference.startswith("timm:"):
        entry = from_timm(reference.removeprefix("timm:"), name=name)
    else:
        entry = ModelEntry.model_validate(
            {
                "name": name,
                "kind": "checkpoint" if weights else "callable",
                "reference": reference,
                "kwargs": json.loads(kwargs),
                "transform": Transform.model_validate(
                    {"resize": resize, "crop": crop, "interpolation": interpolation}
                ),
                "label_space": label_space,
                "precision": precision,
            }
        )
    stored = register(root, entry, weights)
    digest = stored.weights.sha256 if stored.weights else "none"
    out.print(f"{stored.name}: weights sha256 {digest}", highlight=False)


@model.command("list")
def show() -> None:
    """All registered models."""
    from ops.models import list_models, read_model

    _, root, _ = lake()
    table = Table()
    for column in ("model", "reference", "labels", "input", "precision", "weights", "note"):
        table.add_column(column, overflow="fold")
    for name in list_models(root):
        entry = read_model(root, name)
        weights = entry.weights
        table.add_row(
            entry.name,
            entry.reference,
            entry.label_space,
            str(entry.transform.crop or entry.transform.resize),
            entry.precision,
            f"{weights.sha256[:12]} {size_text(weights.bytes)}" if weights else "none",
            "trained on synthetic images" if entry.synthetic else entry.note,
        )
    out.print(table)
