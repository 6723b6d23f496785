"""Commands about models: ``model add``, ``list``, ``show`` and ``remove``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import err, lake, out, size_text

model = typer.Typer(help="The model registry.", no_args_is_help=True)


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(model, name="model")


@model.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name in the registry.")],
    reference: Annotated[
        str,
        typer.Argument(
            help="timm:NAME, torchvision:NAME[@WEIGHTS], open_clip:ARCHITECTURE/TAG (zero-shot), "
            "hf:ORGANISATION/REPOSITORY[@REVISION], alexnet:grouped, a .pt2 or .onnx file, or "
            "module:callable that gives a torch module."
        ),
    ],
    weights: Annotated[
        Path | None,
        typer.Option(help="Local .safetensors, a checkpoint of tensors, or a .caffemodel."),
    ] = None,
    kwargs: Annotated[str, typer.Option(help="Arguments of the architecture, as JSON.")] = "{}",
    resize: Annotated[
        str | None, typer.Option(help="Shorter side in pixels, or HEIGHTxWIDTH; 256.")
    ] = None,
    crop: Annotated[int | None, typer.Option(help="Side of the crop in pixels; 224.")] = None,
    interpolation: Annotated[str | None, typer.Option(help="bilinear, bicubic; bilinear.")] = None,
    mean: Annotated[
        str | None, typer.Option(help="R,G,B on the scale 0 to 1; of ImageNet by default.")
    ] = None,
    std: Annotated[str | None, typer.Option(help="R,G,B on the scale 0 to 1.")] = None,
    label_space: Annotated[
        str | None, typer.Option(help="What the outputs are classes of; ilsvrc1000.")
    ] = None,
    class_map: Annotated[
        Path | None, typer.Option(help="JSON file: for every output the index of its class.")
    ] = None,
    head: Annotated[
        str, typer.Option(help="softmax, or sigmoid where every class is a yes or no.")
    ] = "softmax",
    precision: Annotated[str, typer.Option(help="fp32, bf16 or fp16.")] = "fp32",
    tf32: Annotated[
        bool, typer.Option("--tf32", help="Let a GPU shorten float32 factors.")
    ] = False,
    deterministic: Annotated[
        bool,
        typer.Option("--deterministic/--no-deterministic", help="Only algorithms with one result."),
    ] = True,
    compiled: Annotated[bool, typer.Option("--compile", help="Apply torch.compile.")] = False,
    normaliser: Annotated[
        bool | None,
        typer.Option(
            "--normaliser/--no-normaliser",
            help="Divide the errors of other models by its own; on for AlexNet alone.",
        ),
    ] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Trained on generated images.")
    ] = False,
    note: Annotated[str | None, typer.Option(help="A remark for people.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check/--no-check", help="Try it on one blank image before it is stored."),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Give a name that exists to another model.")
    ] = False,
) -> None:
    """Register a model; its weights are stored by their hash."""
    from ops.models import ModelEntry, list_models, read_model, register
    from ops.models.statement import entry_of, stated

    _, root, _ = lake()
    former: ModelEntry | None = None
    if name in list_models(root):
        try:
            former = read_model(root, name)
        except ShiftlakeError as error:
            if not force:
                raise _refused(name, "a readable entry, or --force to replace it", error) from error
    fields: dict[str, Any] = {
        "reference": reference,
        "kwargs": _json("--kwargs", kwargs),
        "transform": {
            "resize": None if resize is None else _sizes(resize),
            "crop": crop,
            "interpolation": interpolation,
            "mean": None if mean is None else _numbers("--mean", mean),
            "std": None if std is None else _numbers("--std", std),
        },
        "label_space": label_space,
        "class_map": None if class_map is None else _class_map(class_map),
        "head": head,
        "precision": precision,
        "tf32": tf32,
        "deterministic": deterministic,
        "compiled": compiled,
        "normaliser": normaliser,
        "synthetic": synthetic,
        "note": note,
    }
    entry, file = entry_of(name, stated(fields, where=name), weights)
    if file is None and (entry.kind == "callable" or entry.kwargs.get("pretrained") is False):
        err.print(
            f"No weights file is given: {name} has the weights that {reference} makes, random ones "
            "where it loads none.",
            style="yellow",
            highlight=False,
        )
    if entry.kind == "open_clip":
        err.print("The prompts of all classes are embedded once; without a GPU that takes long.")
    stored = register(root, entry, file, check=check, replace=force)
    digest = stored.weights.sha256 if stored.weights else "none"
    out.print(f"{stored.name}: weights sha256 {digest}", highlight=False)
    if former is not None and former.weights and former.weights.sha256 != digest:
        out.print(
            f"{name} had the weights {former.weights.sha256} before: results of those are stale.",
            highlight=False,
        )


@model.command("list")
def show_all() -> None:
    """All registered models."""
    from ops.models import list_models, read_model

    _, root, _ = lake()
    names = list_models(root)
    if not names:
        out.print("No model is registered here: shiftlake model add --help says where from.")
        return
    table = Table()
    for column in ("model", "kind", "reference", "labels", "input", "precision", "weights", "note"):
        table.add_column(column, overflow="fold")
    for name in names:
        try:
            entry = read_model(root, name)
        except ShiftlakeError as error:
            table.add_row(name, *["–"] * 6, f"damaged: {error.found}")
            continue
        weights = entry.weights
        table.add_row(
            entry.name,
            entry.kind,
            entry.reference,
            entry.label_space,
            str(entry.transform.crop or entry.transform.resize),
            entry.precision,
            f"{weights.sha256[:12]} {size_text(weights.bytes)}" if weights else "none",
            "; ".join(_remarks(entry)),
        )
    out.print(table)


@model.command("show")
def show(name: Annotated[str, typer.Argument(help="A registered model.")]) -> None:
    """Everything that is recorded of a model."""
    from ops.models import read_model
    from ops.storage import paths

    _, root, _ = lake()
    entry = read_model(root, name)
    transform, weights = entry.transform, entry.weights
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows: dict[str, object] = {
        "model": entry.name,
        "kind": entry.kind,
        "reference": entry.reference,
        "revision": entry.revision,
        "arguments": json.dumps(entry.kwargs) if entry.kwargs else None,
        "parameters": None if entry.parameters is None else f"{entry.parameters:,}",
        "weights sha256": weights.sha256 if weights else "none",
        "weights": f"{paths.weights(weights.sha256, weights.suffix)}, {size_text(weights.bytes)}"
        if weights
        else None,
        "resize": _resize_text(transform.resize),
        "crop": transform.crop,
        "interpolation": f"{transform.interpolation}, antialias",
        "mean": ", ".join(f"{value:g}" for value in transform.mean),
        "std": ", ".join(f"{value:g}" for value in transform.std),
        "transform hash": transform.hash,
        "label space": entry.label_space,
        "outputs": None if entry.class_map is None else f"{len(entry.class_map)} classes of it",
        "head": entry.head,
        "prompts sha256": entry.prompts,
        "precision": entry.precision,
        "TF32": entry.tf32,
        "deterministic": entry.deterministic,
        "compiled": entry.compiled,
        "normaliser": entry.normaliser,
        "synthetic": entry.synthetic,
        "imported": "with its results; register it here to run it" if entry.imported else None,
        "training": entry.training,
        "origin": entry.origin,
        "note": entry.note or None,
    }
    for field, value in rows.items():
        if value is not None:
            told = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            table.add_row(field, told)
    out.print(table, highlight=False)


@model.command("remove")
def remove_one(name: Annotated[str, typer.Argument(help="A registered model.")]) -> None:
    """Take a model out of the registry; its weights and results stay, the results as stale."""
    from ops.models import remove

    _, root, _ = lake()
    remove(root, name)
    out.print(f"{name} is removed; its results stay, and are stale from now on.", highlight=False)


def _remarks(entry: Any) -> list[str]:
    said = {
        "imported with its results, cannot be run here": entry.imported,
        "trained on synthetic images": entry.synthetic,
        "normaliser": entry.normaliser,
        "sigmoid head": entry.head == "sigmoid",
        "TF32": entry.tf32,
        "not deterministic": not entry.deterministic,
        "compiled": entry.compiled,
    }
    note = [] if entry.synthetic or not entry.note else [entry.note]
    return [*(text for text, holds in said.items() if holds), *note]


def _resize_text(resize: int | tuple[int, int] | None) -> str:
    if resize is None:
        return "none"
    if isinstance(resize, int):
        return f"shorter side {resize}"
    return f"{resize[0]} x {resize[1]}"


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _refused(where, "a JSON object", f"{text} ({error})") from error


def _class_map(path: Path) -> Any:
    if not path.is_file():
        raise _refused("--class-map", "a JSON file", f"{path}, which is no file")
    return _json("--class-map", path.read_text())


def _sizes(text: str) -> int | list[int]:
    try:
        sizes = [int(part) for part in text.split("x")]
    except ValueError:
        sizes = []
    if len(sizes) not in (1, 2):
        raise _refused("--resize", "pixels, as 256 or 256x256", text)
    return sizes[0] if len(sizes) == 1 else sizes


def _numbers(where: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise _refused(where, "three numbers, as 0.485,0.456,0.406", text) from error


def _refused(where: str, expected: str, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "The model cannot be registered as stated.",
        expected=expected,
        found=found,
        where=where,
        remedy="correct the option; shiftlake model add --help lists them",
    )
