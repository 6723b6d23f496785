"""Commands about models: ``model add``, ``model list``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.table import Table

from ops.errors import ShiftlakeError
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
    resize: Annotated[int | None, typer.Option(help="Shorter side in pixels; 256.")] = None,
    crop: Annotated[int | None, typer.Option(help="Side of the crop in pixels; 224.")] = None,
    interpolation: Annotated[str | None, typer.Option(help="bilinear, bicubic; bilinear.")] = None,
    label_space: Annotated[
        str | None, typer.Option(help="What the outputs are classes of; ilsvrc1000.")
    ] = None,
    precision: Annotated[str, typer.Option(help="fp32, bf16 or fp16.")] = "fp32",
) -> None:
    """Register a model; its weights are stored by their hash."""
    from ops.models import ModelEntry, from_timm, register

    _, root, _ = lake()
    try:
        arguments = json.loads(kwargs)
    except ValueError as error:
        raise _refused("--kwargs", "a JSON object", f"{kwargs} ({error})") from error
    if reference.startswith("timm:"):
        given = [resize, crop, interpolation, label_space, weights]
        if any(option is not None for option in given):
            raise _refused(
                "timm:",
                "a model with the transform, labels and weights timm states for it",
                "an option that states another",
            )
        entry = from_timm(
            reference.removeprefix("timm:"),
            name=name,
            precision=precision,  # type: ignore[arg-type]
            kwargs=arguments,
        )
    else:
        stated = {
            "name": name,
            "kind": "checkpoint" if weights else "callable",
            "reference": reference,
            "kwargs": arguments,
            "transform": {
                "resize": 256 if resize is None else resize,
                "crop": 224 if crop is None else crop,
                "interpolation": interpolation or "bilinear",
            },
            "label_space": label_space or "ilsvrc1000",
            "precision": precision,
        }
        try:
            entry = ModelEntry.model_validate(stated)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise _refused(where, first["msg"], first["input"]) from error
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


def _refused(where: str, expected: str, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "The model cannot be registered as stated.",
        expected=expected,
        found=found,
        where=where,
        remedy="correct the option; shiftlake model add --help lists them",
    )
