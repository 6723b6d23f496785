"""The group ``video``: sources of labelled videos, and mining frame sets from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ops.errors import ShiftlakeError
from ops.storage import Root
from pipelines.cli.terminal import err, lake, out, progress
from pipelines.cli.video_add import add, videos_folder

if TYPE_CHECKING:
    from ops.video.sources.survey import Survey

video = typer.Typer(
    help="Sources of labelled videos, and the frame sets mined from them.", no_args_is_help=True
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the source.")]
# Of what is missing or wrong, as much as fits a screen.
_SHOWN = 20


def add_commands(app: typer.Typer) -> None:
    """Add the group to the application."""
    app.add_typer(video, name="video")


video.command()(add)


@video.command("list")
def list_() -> None:
    """All sources, what is there of each, and what is mined from it."""
    from ops.video.sources import list_sources, read_source

    _, root, _ = lake()
    folder = videos_folder()
    names = list_sources(folder)
    if not names:
        out.print(f"no sources in {folder}: shiftlake video add makes one", highlight=False)
        return
    table = Table(title=f"Sources of videos in {folder}", title_justify="left")
    for column in ("source", "kind", "label space", "clips", "not there", "mined"):
        right = column in ("clips", "not there")
        table.add_column(column, overflow="fold", justify="right" if right else "left")
    for name in names:
        mined = _mined(root, name)
        try:
            source = read_source(folder, name)
            keys = source.keys()
            missing = len(source.missing())
        except (ShiftlakeError, OSError) as error:
            why = error.what if isinstance(error, ShiftlakeError) else str(error)
            table.add_row(name, f"[red]{why}[/red] shiftlake video check {name}", "", "", "", mined)
            continue
        counts = f"{len(keys):,}", f"{missing:,}"
        table.add_row(name, source.entry.kind, source.label_space, *counts, mined)
    out.print(table)


@video.command()
def check(
    name: _Name,
    missing: Annotated[
        Path | None, typer.Option(help="Write the videos that are not there here, one a line.")
    ] = None,
    open_all: Annotated[
        bool,
        typer.Option(
            "--open",
            help="Open every video, too: what breaks off, and labels behind the end or outside.",
        ),
    ] = False,
) -> None:
    """What is there of a source, what is missing or broken, and which classes it shows."""
    from ops.video.sources import read_source
    from ops.video.sources.survey import survey

    lake()
    source = read_source(videos_folder(), name)
    found = survey(source, open_videos=open_all)
    out.print(
        f"{name}: {found.clips:,} clips named, {found.there:,} there, {len(found.missing):,} "
        f"missing, {len(found.unusable):,} that cannot be used",
        highlight=False,
    )
    out.print(
        f"{found.moments:,} labelled moments with {found.boxes:,} boxes; a neighbour has "
        + ("labels of its own" if source.rule == "frame" else "the labels of its anchor"),
        highlight=False,
    )
    if source.entry.kind == "folder" and source.rule == "anchor":
        out.print("dense: true in source.yaml gives it its own, where every frame is labelled")
    out.print(_classes(source.label_space, found))
    told = {
        "missing": [f"{video}: {why}" for video, why in found.missing.items()],
        "cannot be used": found.unusable,
        "look at": found.remarks,
    }
    for title, lines in told.items():
        _tell(title, lines)
    if missing is not None:
        missing.write_text("".join(f"{line}\n" for line in found.missing), "utf-8")
        out.print(f"{missing}: {len(found.missing):,} names", highlight=False)


@video.command()
def mine(
    name: _Name,
    k: Annotated[int | None, typer.Option(help="Neighbours on either side.")] = None,
    stride: Annotated[int | None, typer.Option(help="Frames from one to the next.")] = None,
    anchors: Annotated[int | None, typer.Option(help="Anchors of each video or segment.")] = None,
    per: Annotated[str | None, typer.Option(help="video or segment.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the draw of anchors.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
) -> None:
    """Mine frame sets from a source and seal them; options stand before those of source.yaml."""
    from ops.video.mining import mine as mine_source
    from ops.video.mining import read_mined
    from ops.video.sources import read_source

    _, root, catalog = lake()
    source = read_source(videos_folder(), name)
    options = {"k": k, "stride": stride, "anchors_per_video": anchors, "per": per, "seed": seed}
    stated = {option: value for option, value in options.items() if value is not None}
    if stated:
        source = source.with_mining(_changed(source.entry.mining, stated))
    with progress("frame sets") as bar:
        task = bar.add_task(name, total=None)
        manifest = mine_source(
            root,
            catalog,
            source,
            workers=workers,
            progress=lambda _, done, total: bar.update(task, completed=done, total=total),
            log=lambda line: err.print(line, highlight=False),
        )
    out.print(f"{manifest.name}: sealed {_mined(root, name)}", highlight=False)
    videos = read_mined(root, name, "videos", manifest.version).to_pylist()
    for title, sets in (("no set", False), ("look at", True)):
        told = [row for row in videos if row["reason"] and bool(row["n_anchors"]) is sets]
        _tell(title, [f"{row['file']}: {row['reason']}" for row in told])
    if stated:
        out.print(
            "These options are not in source.yaml: to materialize video/frame_sets, or to mine "
            "without them, replaces what was mined.",
            highlight=False,
        )
    out.print(f"shiftlake review {name} lets people look at them", highlight=False)
    tell_of_decisions(root, name, manifest.version)


@video.command()
def official(
    pmsets: Annotated[Path | None, typer.Option(help="pmsets.json of ImageNet-Vid-Robust.")] = None,
    labels: Annotated[Path | None, typer.Option(help="labels.json beside it.")] = None,
    anchor_labels: Annotated[
        Path | None, typer.Option(help="anchor_labels.json of YTBB-Robust.")
    ] = None,
    pair_labels: Annotated[
        Path | None, typer.Option(help="pmk_labels.json of YTBB-Robust.")
    ] = None,
    anchors_csv: Annotated[Path | None, typer.Option(help="Its table of anchors.")] = None,
) -> None:
    """Count the frame sets of published annotation files, to compare with what was published."""
    from ops.video import counts, read_pmsets, read_ytbb

    rows = []
    if pmsets is not None and labels is not None:
        rows.append(("ImageNet-Vid-Robust", counts(read_pmsets(pmsets, labels))))
    if anchor_labels is not None and pair_labels is not None and anchors_csv is not None:
        rows.append(("YTBB-Robust", counts(read_ytbb(anchor_labels, pair_labels, anchors_csv))))
    if not rows:
        raise ShiftlakeError(
            "No published files are named.",
            expected="--pmsets and --labels, or --anchor-labels, --pair-labels and --anchors-csv",
            found="not all of either",
            where="the command line",
            remedy="name all files of a benchmark; shiftlake fetch gets them",
        )
    table = Table()
    table.add_column("benchmark")
    for column in ("sets", "pairs", "frames", "without neighbours", "folders", "labels an anchor"):
        table.add_column(column, justify="right")
    for name, found in rows:
        each = "  ".join(f"{n}: {sets:,}" for n, sets in found.by_labels.items())
        numbers = (found.sets, found.pairs, found.frames, found.empty, found.folders)
        table.add_row(name, *(f"{number:,}" for number in numbers), each)
    out.print(table)


def _tell(title: str, lines: Sequence[str]) -> None:
    """Lines under a title, as many as fit a screen."""
    for line in lines[:_SHOWN]:
        out.print(f"{title}: {line}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if len(lines) > _SHOWN:
        out.print(f"and {len(lines) - _SHOWN:,} more {title}", style="yellow", highlight=False)


def tell_of_decisions(root: Root, name: str, version: str) -> None:
    """Say that people decided on another mining, while nobody has on this one."""
    from ops.storage import paths
    from ops.storage.journal import Journal
    from ops.video.review import older_minings

    older = older_minings(root, name, version)
    if older and not Journal(root, paths.review_events(name, version)).read():
        n = next(iter(older.values()))
        out.print(
            f"{n:,} events of its review are about frames mined before: shiftlake reviews carry "
            f"{name} takes over what is still the same",
            highlight=False,
            soft_wrap=True,
        )


def _changed(mining: Any, changes: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    try:
        return type(mining).model_validate(mining.model_dump() | changes)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ShiftlakeError(
            "A choice of the mining cannot be used.",
            expected=first["msg"],
            found=first["input"],
            where=f"the option for {'.'.join(map(str, first['loc']))}",
            remedy="correct it",
        ) from error


def _mined(root: Root, name: str) -> str:
    """How many sets and pairs are mined from a source."""
    from ops.shards import has_manifest, read_manifest
    from ops.video.datasets import mined_dataset
    from ops.video.mining import read_mined

    if not has_manifest(root, mined_dataset(name)):
        return "–"
    try:
        manifest = read_manifest(root, mined_dataset(name))
        frames = read_mined(root, name, "frames", manifest.version)
    except ShiftlakeError as error:
        return f"[red]{error.what}[/red]"
    sets = len(set(frames["frame_set"].to_pylist()))
    return f"{sets:,} sets, {manifest.n_samples - sets:,} pairs, as {manifest.version}"


def _classes(label_space: str, found: Survey) -> Table:
    from ops.catalog import classes

    names: tuple[str, ...] = ()
    if label_space == classes.ILSVRC:
        names = classes.ilsvrc().names
    elif label_space in classes.VIDEO_LABEL_SPACES:
        names = classes.video(label_space).names
    table = Table()
    table.add_column("class")
    table.add_column("clips", justify="right")
    table.add_column("labelled moments", justify="right")
    for label, clips in sorted(found.clips_of.items()):
        moments = found.moments_of[label]
        name = f"{label} {names[label]}" if names else str(label)
        table.add_row(name, f"{clips:,}", f"{moments:,}")
    return table
