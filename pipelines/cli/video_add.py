"""The command ``video add``: writing the ``source.yaml`` of a source of videos."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import lake, out


def videos_folder() -> Path:
    """The folder of all sources, once the workplace has been entered."""
    from ops.video.sources import VIDEOS_VARIABLE

    return Path(os.environ[VIDEOS_VARIABLE])


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and _.")],
    kind: Annotated[
        str, typer.Option(help="folder, imagenet_vid or youtube_bb.", show_default=False)
    ],
    videos: Annotated[str | None, typer.Option(help="Folder of the videos.")] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(help="Labels file; of YouTube-BB each of its tables, given one by one."),
    ] = None,
    label_space: Annotated[
        str | None,
        typer.Option(help="Of a folder: imagenet_vid30, ytbb24, ilsvrc1000 …"),
    ] = None,
    dense: Annotated[
        bool | None, typer.Option("--dense", help="Of a folder: every frame is labelled.")
    ] = None,
    boxes: Annotated[str | None, typer.Option(help="Of a folder: pixels or shares.")] = None,
    fps: Annotated[
        float | None, typer.Option(help="Of a folder: frames a second of folders of frames.")
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(help="Of ImageNet-Vid: the folder with Data, Annotations, ImageSets."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Of ImageNet-Vid: val or train.")] = None,
    pictures: Annotated[
        str | None,
        typer.Option(help="Of ImageNet-Vid: frames, or snippets for I-, P- and B-frames."),
    ] = None,
    pmsets: Annotated[
        str | None, typer.Option(help="Of ImageNet-Vid: published pmsets.json to take sets from.")
    ] = None,
    pmset_labels: Annotated[
        str | None, typer.Option(help="Of ImageNet-Vid: the labels.json beside it.")
    ] = None,
    licence: Annotated[str | None, typer.Option(help="Of the videos.")] = None,
    synthetic: Annotated[
        bool | None, typer.Option("--synthetic", help="The videos are drawn, not filmed.")
    ] = None,
) -> None:
    """Write the source.yaml of a source, once everything it names has been read."""
    from ops.video.sources import SOURCE_FILE, open_source, parse_entry, source_folder

    _, _, catalog = lake()
    place = source_folder(videos_folder(), name)
    sets = {"pmsets": _path(pmsets, place), "labels": _path(pmset_labels, place)}
    files = [_path(file, place) for file in labels or ()]
    stated: dict[str, Any] = {
        "kind": kind,
        "videos": _path(videos, place),
        "labels": files if kind == "youtube_bb" else files[0] if len(files) == 1 else files or None,
        "label_space": label_space,
        "dense": dense,
        "boxes": boxes,
        "fps": fps,
        "root": _path(root, place),
        "split": split,
        "pictures": pictures,
        "frame_sets": _said(sets) or None,
        "licence": licence,
        "synthetic": synthetic,
    }
    text = yaml.safe_dump(_said(stated), sort_keys=False, allow_unicode=True)
    file = place / SOURCE_FILE
    if file.exists():
        raise ShiftlakeError(
            "There is a source of this name already.",
            expected="a new name",
            found=name,
            where=str(file),
            remedy="edit that file, or choose another name",
        )
    source = open_source(place, parse_entry(text.encode(), "the options of video add"))
    if source.label_space not in catalog.label_spaces:
        raise ShiftlakeError(
            "There is no such label space.",
            expected=f"one of {', '.join(catalog.label_spaces)}",
            found=source.label_space,
            where="--label-space",
            remedy="correct it, or state a label space of your own in an overlay of the catalog",
        )
    keys = source.keys()
    names = source.missing()
    missing = len(names)
    if len(keys) == missing:
        first = source.clip(keys[0]) if keys else None
        why = f", such as {first.file}: {first.problem}" if first else ""
        raise ShiftlakeError(
            "Not one video of the source is there.",
            expected="at least one of the videos that the labels name",
            found=f"none of {len(keys):,}{why}" if first else "labels that name none",
            where=str(videos or root),
            remedy="let --videos (or --root) name the folder they lie in; names in a labels file "
            "are those of the files, with their suffix",
        )
    place.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.part")
    partial.write_text(text, "utf-8")
    partial.replace(file)
    out.print(f"{file}: {len(keys):,} clips, {missing:,} of them not there", highlight=False)
    if missing:
        shown = ", ".join(names[:5]) + (", …" if missing > 5 else "")
        out.print(f"not there: {shown}", style="yellow", highlight=False, markup=False)
        out.print(f"shiftlake video check {name} says more of each", highlight=False)
    out.print(f"shiftlake video mine {name} makes frame sets of them", highlight=False)


def _path(stated: str | None, place: Path) -> str | None:
    """A path as it is written to source.yaml: below its folder relative, otherwise absolute."""
    if stated is None:
        return None
    path = Path(stated).expanduser().absolute()
    return str(path.relative_to(place)) if path.is_relative_to(place) else str(path)


def _said(stated: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if value is not None}
