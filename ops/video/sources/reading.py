"""Which sources there are, and one of them by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import yaml
from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.video.sources.entry import (
    KINDS,
    NAME,
    FolderEntry,
    ImagenetVidEntry,
    SourceEntry,
)
from ops.video.sources.imagenet_vid import ImagenetVid
from ops.video.sources.labelled_folder import LabelledFolder
from ops.video.sources.source import VideoSource
from ops.video.sources.youtube_bb import YoutubeBb

VIDEOS_VARIABLE = "SHIFTLAKE_VIDEOS"
SOURCE_FILE = "source.yaml"
# A source.yaml is a screen of text; a file of this size, or this deep, is something else.
_MOST_BYTES = 1 << 16
_MOST_DEPTH = 10
# Of keys that have to be there, what somebody who left one out may not know.
_WANTED = {"label_space": "imagenet_vid30, ytbb24, ilsvrc1000, or one that an overlay states"}


def list_sources(folder: str | Path) -> list[str]:
    """Names of all sources: the sub-folders with a ``source.yaml``, sorted.

    A folder that does not exist has none. Sub-folders whose name is no name of a source are
    passed over.
    """
    base = Path(folder)
    if not base.is_dir():
        return []
    return sorted(
        each.name
        for each in base.iterdir()
        if re.fullmatch(NAME, each.name) and (each / SOURCE_FILE).is_file()
    )


def read_source(folder: str | Path, name: str) -> VideoSource:
    """Read ``<folder>/<name>/source.yaml``; labels are read when they are first asked for.

    Parameters
    ----------
    folder : str or Path
        Of all sources, as ``$SHIFTLAKE_VIDEOS`` names it.
    name : str
        Of small letters, digits and ``_``.

    Raises
    ------
    ShiftlakeError
        If there is no such source, or a key of the file is missing, unknown or wrong.
    """
    place = source_folder(folder, name)
    path = place / SOURCE_FILE
    if not path.is_file():
        known = list_sources(folder)
        near = get_close_matches(name, known, 1, 0.5) or known[:5]
        raise ShiftlakeError(
            "There is no such source of videos.",
            expected=f"one of {', '.join(near)}" if near else "a folder with a source.yaml",
            found=name,
            where=str(folder),
            remedy="shiftlake video add makes one; $SHIFTLAKE_VIDEOS names the folder of all",
        )
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    return open_source(place, parse_entry(data, f"{name}/{SOURCE_FILE}"))


def source_folder(folder: str | Path, name: str) -> Path:
    """Where a source of this name lies, whether there is one or not.

    Raises
    ------
    ShiftlakeError
        If it is no name.
    """
    if not re.fullmatch(NAME, name):
        raise ShiftlakeError(
            "This is no name of a source of videos.",
            expected="small letters, digits and _",
            found=repr(name),
            where=str(folder),
            remedy="choose another one",
        )
    return Path(folder).absolute() / name


def open_source(place: Path, entry: SourceEntry) -> VideoSource:
    """The source whose folder is `place`, by an entry that may not have been written there yet."""
    if isinstance(entry, ImagenetVidEntry):
        return ImagenetVid(place, place.name, entry)
    if isinstance(entry, FolderEntry):
        return LabelledFolder(place, place.name, entry)
    return YoutubeBb(place, place.name, entry)


def parse_entry(data: bytes, where: str) -> SourceEntry:
    """Check the content of a ``source.yaml``.

    Raises
    ------
    ShiftlakeError
        With the key, what was expected and what was found.
    """
    if len(data) > _MOST_BYTES:
        raise _refused(where, "the whole file", f"at most {_MOST_BYTES:,} bytes", "more")
    try:
        text = data.decode()
        depth = 0
        # Aliases could repeat themselves to a size that no memory holds, and brackets within
        # brackets take their time; nothing here needs either.
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_DEPTH:
                raise _refused(where, "the whole file", "a YAML document", "one that deep")
            if isinstance(event, yaml.AliasEvent):
                raise _refused(where, "the whole file", "YAML without aliases", f"*{event.anchor}")
        document = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise _refused(where, "the whole file", "a YAML document", error) from error
    if not isinstance(document, Mapping):
        raise _refused(where, "the whole file", "keys with values", type(document).__name__)
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise _refused(
            where, "kind", f"one of {', '.join(KINDS)}", "none" if kind is None else kind
        )
    try:
        return KINDS[kind].model_validate(document)
    except ValidationError as error:
        raise _explained(where, KINDS[kind], error) from error


def _explained(where: str, model: type[SourceEntry], error: ValidationError) -> ShiftlakeError:
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"]]
    key = " / ".join(place) or "the whole file"
    expected: str = first["msg"].removeprefix("Value error, expected ")
    found: object = first["input"]
    if first["type"] == "missing":
        expected, found = _WANTED.get(place[-1], "a value"), "none"
    elif first["type"] == "extra_forbidden":
        fields = model.model_fields if len(place) == 1 else _fields_of(model, place[0])
        near = get_close_matches(place[-1], fields, 1, 0.5)
        expected = f"perhaps {near[0]}" if near else f"one of {', '.join(fields)}"
        found = f"the unknown key {place[-1]!r}"
    return _refused(where, key, expected, found)


def _fields_of(model: type[SourceEntry], key: str) -> Mapping[str, object]:
    field = model.model_fields.get(key)
    return getattr(field.annotation, "model_fields", {}) if field is not None else {}


def _refused(where: str, key: str, expected: object, found: object) -> ShiftlakeError:
    text = str(found)
    return ShiftlakeError(
        "A source of videos cannot be used.",
        expected=expected,
        found=text if len(text) <= 200 else f"{text[:200]}…",
        where=f"{where}: {key}",
        remedy="correct this key; docs/video-sources.md shows a source.yaml of every kind",
    )
