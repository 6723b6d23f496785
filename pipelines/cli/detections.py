"""Commands about detectors on frame sets: ``detections ground-truth``, ``import``, ``run`` ..."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.table import Table

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import err, lake, out, progress

detections = typer.Typer(
    help="Boxes that detectors found in frame sets, and their pm-k.", no_args_is_help=True
)

Dataset = Annotated[str, typer.Argument(help="frame_sets/SOURCE, or SOURCE alone.")]
Model = Annotated[str, typer.Argument(help="Name to store the boxes under.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(detections, name="detections")


@detections.command("ground-truth")
def ground_truth(
    dataset: Dataset,
    file: Annotated[Path, typer.Argument(help="Where to write it, a .json file.")],
) -> None:
    """Write the frames and true boxes of mined frame sets as a COCO file."""
    from ops.inference.detections import write_ground_truth

    _, root, _ = lake()
    partial = file.with_name(f".{file.name}.part")
    try:
        with partial.open("wb") as target:
            images, boxes = write_ground_truth(root, dataset, target)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    out.print(f"{file}: {images:,} images, {boxes:,} boxes; file_name is the sample key.")


@detections.command("import")
def import_(
    model: Model,
    dataset: Dataset,
    results: Annotated[Path, typer.Argument(help="COCO results: a JSON list of boxes.")],
    ground_truth: Annotated[
        Path | None,
        typer.Option(help="The COCO file whose ids the results use; else that of ground-truth."),
    ] = None,
    categories: Annotated[
        str, typer.Option(help="own, or coco91 where category ids are those of COCO.")
    ] = "own",
) -> None:
    """Store boxes that a detector found elsewhere."""
    from ops.inference.detections import import_results, read_frames

    _, root, _ = lake()
    with progress("rows") as bar:
        task = bar.add_task("reading", total=None)
        record = import_results(
            root,
            model,
            dataset,
            results,
            ground_truth=ground_truth,
            categories=_kind(categories),
            progress=lambda rows: bar.update(task, completed=rows),
        )
    _tell(record)
    if record.n_outside:
        err.print(
            f"{record.n_outside:,} boxes reach beyond their frame: is every bbox x, y, width, "
            "height, and not two corners, in pixels of the stored frame?",
            style="yellow",
        )
    empty = read_frames(root, record)["n_boxes"].to_pylist().count(0)
    if empty:
        err.print(
            f"{empty:,} frames have no box: nothing was found there. If the detector did not look "
            "at them, or image ids are shifted, every score is too low.",
            style="yellow",
        )


@detections.command("run")
def run(
    model: Model,
    dataset: Dataset,
    builder: Annotated[str, typer.Argument(help="A detector of torchvision.models.detection.")],
    weights: Annotated[Path, typer.Option(help="A .safetensors file, or a checkpoint of tensors.")],
    kwargs: Annotated[str, typer.Option(help="More arguments of the builder, as JSON.")] = "{}",
    categories: Annotated[
        str,
        typer.Option(help="coco91, or own where its labels from 1 on are the dataset's classes."),
    ] = "coco91",
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    batch_size: Annotated[int, typer.Option(min=1, help="Frames of one size at once.")] = 8,
) -> None:
    """Run a detector of torchvision over mined frame sets."""
    from ops.inference.detections import run_detector

    _, root, _ = lake()
    with progress("frames") as bar:
        task = bar.add_task("detecting", total=None)
        record = run_detector(
            root,
            model,
            dataset,
            builder,
            weights,
            kwargs=_json_object(kwargs),
            categories=_kind(categories),
            device=device,
            batch_size=batch_size,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    _tell(record)


@detections.command("list")
def show_all() -> None:
    """All stored detections."""
    from ops.inference.detections import find_detections
    from ops.shards import has_manifest, read_manifest

    _, root, _ = lake()
    table = Table()
    for column in ("model", "dataset", "from", "frames", "failed", "boxes", "key", "state"):
        table.add_column(column, overflow="fold")
    found, damaged = find_detections(root)
    for record in found:
        sealed = has_manifest(root, record.dataset)
        current = sealed and read_manifest(root, record.dataset).version == record.dataset_version
        table.add_row(
            record.model,
            record.dataset,
            (record.detector or {}).get("builder") or "imported",
            f"{record.n_expected:,}",
            f"{record.n_error:,}",
            f"{record.n_detections:,}",
            record.key,
            "current" if current else "of frames that are no longer sealed",
        )
    out.print(table)
    _tell_damaged(damaged.values())


@detections.command("score")
def score(
    rule: Annotated[
        str, typer.Option(help="101-point, all-point, 11-point or ilsvrc_vid.")
    ] = "101-point",
) -> None:
    """Compute what is missing of the table detection_metrics, and show pm-0 and pm-k."""
    from ops.metrics.detection import RULES
    from ops.results.detection_metrics import compute_detection_metrics

    if rule not in RULES:
        raise _refused("--rule", f"one of {', '.join(RULES)}", rule)
    _, root, _ = lake()
    damaged: list[ShiftlakeError] = []
    with progress("datasets") as bar:
        task = bar.add_task("scoring", total=None)
        metrics = compute_detection_metrics(
            root, lambda done, total: bar.update(task, completed=done, total=total), damaged
        )
    table = Table(title=f"mAP at IoU 0.5, {rule}")
    for column in ("model", "dataset", "variant", "sets", "pm-0", "k", "pm-k", "drop"):
        table.add_column(column, overflow="fold")
    for row in _by_unit(metrics.to_pylist(), rule):
        table.add_row(*row)
    out.print(table)
    _tell_damaged(damaged)


def _by_unit(rows: list[dict[str, Any]], rule: str) -> list[list[str]]:
    units: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["rule"] == rule:
            name = f"{row['benchmark']}/{row['condition']}"
            units.setdefault((row["model"], name, row["variant"]), []).append(row)
    told = []
    for names, own in sorted(units.items()):
        k = max(row["k"] for row in own)
        of = {(row["metric"], row["k"]): row for row in own}
        shown = [of["pm0_map50", 0], of[f"pm{k}_map50", k], of.get(("pm_map50_drop", k))]
        anchor, worst, drop = map(_percent, shown)
        told.append([*names, f"{own[0]['n']:,}", anchor, str(k), worst, drop])
    return told


def _percent(row: dict[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "–"
    value = f"{100 * row['value']:.1f}"
    if row["ci_lo"] is None:
        return value
    return f"{value} \\[{100 * row['ci_lo']:.1f}, {100 * row['ci_hi']:.1f}]"


def _tell(record: Any) -> None:
    out.print(
        f"{record.model} on {record.dataset}: {record.n_detections:,} boxes in "
        f"{record.n_seen:,} of {record.n_expected:,} frames, key {record.key}",
        highlight=False,
    )
    if record.n_error:
        err.print(f"{record.n_error:,} frames failed; frames.parquet beside the boxes says why.")
    if record.n_unmapped:
        err.print(f"{record.n_unmapped:,} boxes of other classes were left out.")
    if record.missing_labels:
        err.print(f"It cannot report {', '.join(record.missing_labels)}: these score 0.")


def _tell_damaged(errors: Collection[ShiftlakeError]) -> None:
    """Say what could not be read, below what could."""
    for error in errors:
        err.print(str(error), markup=False, highlight=False)
    if errors:
        raise typer.Exit(1)


def _kind(text: str) -> Any:
    from ops.inference.detections.categories import COCO91, OWN

    if text not in (OWN, COCO91):
        raise _refused("--categories", f"{OWN} or {COCO91}", text)
    return text


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _refused("--kwargs", "a JSON object", f"{text} ({error})") from error
    if not isinstance(value, dict):
        raise _refused("--kwargs", "a JSON object", text)
    return cast(dict[str, Any], value)


def _refused(where: str, expected: str, found: object) -> ShiftlakeError:
    return ShiftlakeError(
        "The command cannot be carried out as stated.",
        expected=expected,
        found=found,
        where=where,
        remedy="correct the option; shiftlake detections --help lists them",
    )
