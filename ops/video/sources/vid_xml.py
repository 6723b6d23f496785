"""One annotation file of ImageNet-Vid, read as what strangers may have written.

The files are XML in the manner of PASCAL VOC. Nothing in them is trusted: a document type (and so
every entity), depth, size and number of objects are refused or limited, and every value is checked.
Inside ``bndbox`` the published order is xmax, xmin, ymax, ymin: elements are told by their names.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from ops.video.clip import Box
from ops.video.sources.label_names import index_of_label

LABEL_SPACE = "imagenet_vid30"
# The largest published file has a few kilobytes and under a hundred objects.
MOST_BYTES = 1 << 20
MOST_OBJECTS = 1000
_MOST_DEPTH = 16
_MOST_TEXT = 200
_COORDINATES = ("xmin", "ymin", "xmax", "ymax")
_FIELDS = {
    "annotation/object/trackid": "trackid",
    "annotation/object/name": "name",
    "annotation/object/occluded": "occluded",
    "annotation/object/generated": "generated",
    **{f"annotation/object/bndbox/{name}": name for name in _COORDINATES},
}


class Frame(NamedTuple):
    """What one file says: the size of the picture in pixels, where given, and its objects."""

    size: tuple[int, int] | None
    boxes: tuple[Box, ...]


def read_frame(path: Path) -> Frame:
    """Read one annotation file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Frame
        Coordinates in pixels as published, from 0; boxes in the order of the file.

    Raises
    ------
    ValueError
        If it is not such a file; the message begins with what was expected.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes")
    return parse_frame(data)


def parse_frame(data: bytes) -> Frame:
    """As :func:`read_frame`, of the bytes of a file."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ValueError(
            f"expected XML, not {expat.ErrorString(error.code)!r} in line {error.lineno}"
        ) from error
    return Frame(reader.size(), tuple(reader.boxes))


class _Reader:
    """Follows the elements of one file."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.boxes: list[Box] = []
        self._object: dict[str, str] = {}
        self._size: dict[str, str] = {}
        self._text = ""

    def doctype(self, *_: object) -> None:
        raise ValueError("expected XML without a document type")

    def start(self, name: str, _: dict[str, str]) -> None:
        if not self.path and name != "annotation":
            raise ValueError(f"expected the element annotation, not {name!r:.80}")
        self.path.append(name)
        if len(self.path) > _MOST_DEPTH:
            raise ValueError(f"expected at most {_MOST_DEPTH} elements inside one another")
        self._text = ""
        if self.path == ["annotation", "object"]:
            self._object = {}

    def text(self, data: str) -> None:
        if len(self._text) < _MOST_TEXT:
            self._text += data[:_MOST_TEXT]

    def end(self, _: str) -> None:
        place = "/".join(self.path)
        if place in _FIELDS:
            if _FIELDS[place] in self._object:
                raise ValueError(f"expected one {_FIELDS[place]} of an object, not several")
            self._object[_FIELDS[place]] = self._text.strip()
        elif place in ("annotation/size/width", "annotation/size/height"):
            self._size[self.path[-1]] = self._text.strip()
        elif place == "annotation/object":
            self.boxes.append(_box(self._object))
            if len(self.boxes) > MOST_OBJECTS:
                raise ValueError(f"expected at most {MOST_OBJECTS:,} objects")
        self.path.pop()
        self._text = ""

    def size(self) -> tuple[int, int] | None:
        if not self._size:
            return None
        found = [_number(self._size, name) for name in ("width", "height")]
        if any(value < 1 or value != round(value) for value in found):
            raise ValueError(f"expected a width and height in pixels, not {self._size}")
        return int(found[0]), int(found[1])


def _box(fields: dict[str, str]) -> Box:
    if "name" not in fields:
        raise ValueError("expected the name of every object")
    xmin, ymin, xmax, ymax = (_number(fields, name) for name in _COORDINATES)
    if xmin > xmax or ymin > ymax:
        raise ValueError(
            f"expected xmin <= xmax and ymin <= ymax, not {xmin:g}, {ymin:g}, {xmax:g}, {ymax:g}"
        )
    return Box(
        index_of_label(fields["name"], LABEL_SPACE),
        xmin,
        ymin,
        xmax,
        ymax,
        track=fields.get("trackid"),
        occluded=_flag(fields, "occluded"),
        generated=_flag(fields, "generated"),
    )


def _number(fields: dict[str, str], name: str) -> float:
    text = fields.get(name, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > 1e6:
        raise ValueError(f"expected a number of pixels for {name}, not {text!r:.80}")
    return value


def _flag(fields: dict[str, str], name: str) -> bool | None:
    if name not in fields:
        return None
    if fields[name] not in ("0", "1"):
        raise ValueError(f"expected 0 or 1 for {name}, not {fields[name]!r:.80}")
    return fields[name] == "1"
