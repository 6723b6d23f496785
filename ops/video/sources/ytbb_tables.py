"""The tables of YouTube-BB: no head, one row a second of a segment, ``.csv`` or ``.csv.gz``.

Of detection the coordinates come as xmin, xmax, ymin, ymax, shares of width and height, and are -1
where the object is absent. Classes are told by their names: two of the numbers are in use for
either of car and none.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.video.sources.label_names import index_of_label

LABEL_SPACE = "ytbb24"
CLASSIFICATION = ("youtube_id", "timestamp_ms", "class_id", "class_name", "object_presence")
BOX = ("xmin", "xmax", "ymin", "ymax")
DETECTION = (*CLASSIFICATION[:4], "object_id", "object_presence", *BOX)
PRESENCE = ("present", "absent", "uncertain")
# The largest published one has five million rows, which is half a gigabyte unpacked.
MOST_BYTES = 2 << 30
_TEXT = pa.dictionary(pa.int32(), pa.string())
_TYPES: dict[str, Any] = {
    "youtube_id": _TEXT,
    "class_name": _TEXT,
    "object_presence": _TEXT,
    "timestamp_ms": pa.int64(),
    "class_id": pa.int16(),
    "object_id": pa.int32(),
    **dict.fromkeys(BOX, pa.float64()),
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# A day and a half; the grid of the tables is a fifteenth of a second.
_MOST_MS = 1 << 27
# Coordinates are rounded outwards in places.
_SLACK = 0.01


def read_table(path: Path) -> pa.Table:
    """Read and check one table.

    Returns
    -------
    pyarrow.Table
        The columns of `DETECTION`; `object_id` and the coordinates are null in classification.

    Raises
    ------
    ShiftlakeError
        With the line, what was expected and what was found.
    """
    names = _columns(path)
    if not names:
        return pa.table({name: pa.array([], type=_TYPES[name]) for name in DETECTION})
    try:
        with _opened(path) as file:
            table = arrow_csv.read_csv(
                pa.PythonFile(file, mode="r"),
                arrow_csv.ReadOptions(column_names=list(names)),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=_TYPES, strings_can_be_null=False, null_values=[]
                ),
            )
        # One dictionary and one chunk a column: what follows works on codes.
        table = table.unify_dictionaries().combine_chunks()
    except (pa.ArrowInvalid, gzip.BadGzipFile, EOFError) as error:
        _name_line(path, names)
        raise _refused(path, "the whole file", "a table of YouTube-BB", str(error)) from error
    if not _is_good(table):
        _name_line(path, names)
        raise _refused(path, "the whole file", "a table of YouTube-BB", "another")
    for name in DETECTION:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), _TYPES[name]))
    return table.select(list(DETECTION))


def content_hash(path: Path) -> str:
    """sha256 of a table unpacked, so that packing it makes no difference."""
    with _opened(path) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def _columns(path: Path) -> tuple[str, ...]:
    """Columns of a table by their number; none of an empty file."""
    try:
        with _opened(path) as file:
            first = file.read(4096).partition(b"\n")[0].decode("utf-8", "replace")
    except (OSError, EOFError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise _refused(path, "the whole file", "a file that can be read", found) from error
    if not first.strip():
        return ()
    for names in (CLASSIFICATION, DETECTION):
        if first.count(",") + 1 == len(names):
            return names
    expected = f"{len(CLASSIFICATION)} or {len(DETECTION)} values"
    raise _refused(path, "line 1", expected, f"{first.count(',') + 1}: {first[:80]}")


def _is_good(table: pa.Table) -> bool:
    """Whether every value is one there can be; column by column, for there are millions."""
    ids = _distinct(table["youtube_id"])
    names, presence = _distinct(table["class_name"]), _distinct(table["object_presence"])
    if not all(_ID.fullmatch(each) for each in ids) or not set(presence) <= set(PRESENCE):
        return False
    pairs = table.select(["class_id", "class_name"]).group_by(["class_id", "class_name"])
    try:
        for name in names:
            index_of_label(name, LABEL_SPACE)
        for row in pairs.aggregate([]).to_pylist():
            _agreeing(row["class_id"], row["class_name"])
    except ValueError:
        return False
    times = table["timestamp_ms"]
    if pc.any(pc.or_(pc.less(times, 0), pc.greater(times, _MOST_MS))).as_py():
        return False
    if "xmin" not in table.column_names:
        return True
    seen = table["object_presence"].chunk(0)
    present = seen.indices.to_numpy() == seen.dictionary.index("present").as_py()
    xmin, xmax, ymin, ymax = (table[name].to_numpy()[present] for name in BOX)
    return bool(
        np.all((xmin >= -_SLACK) & (xmin <= xmax) & (xmax <= 1 + _SLACK))
        and np.all((ymin >= -_SLACK) & (ymin <= ymax) & (ymax <= 1 + _SLACK))
    )


def _distinct(column: pa.ChunkedArray) -> list[str]:
    return sorted({str(each) for chunk in column.chunks for each in chunk.dictionary.to_pylist()})


def _agreeing(number: int, name: str) -> None:
    """Refuse a number that is not the class's own; 22 and 23 are either of none and car."""
    index = index_of_label(name, LABEL_SPACE)
    if number != index and not {number, index} <= {22, 23}:
        of = classes.video(LABEL_SPACE).names
        other = of[number] if 0 <= number < len(of) else "no class"
        raise ValueError(f"expected the class_id {index} of {name}, not {number}, which is {other}")


def _name_line(path: Path, names: tuple[str, ...]) -> None:
    """Raise the error for the first line that is wrong, if one is; slow, and only read to tell."""
    with _opened(path) as file:
        lines = io.TextIOWrapper(cast(Any, file), encoding="utf-8", errors="replace", newline="")
        number = 0
        try:
            for row in csv.reader(lines):
                number += 1
                if row:
                    _check(row, names)
        except (csv.Error, EOFError, OSError) as error:
            raise _refused(path, f"after line {number}", "CSV", str(error)) from error
        except ValueError as error:
            expected, _, found = str(error).removeprefix("expected ").partition(", not ")
            raise _refused(path, f"line {number}", expected, found) from error


def _check(row: list[str], names: tuple[str, ...]) -> None:
    if len(row) != len(names):
        raise ValueError(f"expected {len(names)} values, not {len(row)}")
    said = dict(zip(names, row, strict=True))
    if not _ID.fullmatch(said["youtube_id"]):
        raise ValueError(f"expected a YouTube id, not {said['youtube_id']!r:.80}")
    if not 0 <= _whole(said, "timestamp_ms") <= _MOST_MS:
        raise ValueError(f"expected milliseconds, 0 to {_MOST_MS:,}, not {said['timestamp_ms']}")
    _agreeing(_whole(said, "class_id"), said["class_name"])
    if said["object_presence"] not in PRESENCE:
        raise ValueError(f"expected {' or '.join(PRESENCE)}, not {said['object_presence']!r:.80}")
    if "xmin" in said:
        _whole(said, "object_id")
        corners = [_share(said, name) for name in BOX]
        if said["object_presence"] == "present":
            for low, high in (corners[:2], corners[2:]):
                if not -_SLACK <= low <= high <= 1 + _SLACK:
                    found = ", ".join(said[name] for name in BOX)
                    raise ValueError(f"expected shares xmin, xmax, ymin, ymax, not {found:.80}")


def _whole(said: dict[str, str], name: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", said[name], re.ASCII):
        raise ValueError(f"expected a whole number for {name}, not {said[name]!r:.80}")
    return int(said[name])


def _share(said: dict[str, str], name: str) -> float:
    try:
        return float(said[name])
    except ValueError:
        raise ValueError(f"expected a number for {name}, not {said[name]!r:.80}") from None


class _Limited(io.RawIOBase):
    """Reads a file up to `MOST_BYTES`, and refuses the rest: a packed file can claim any size."""

    def __init__(self, path: Path, file: Any) -> None:
        self._path, self._file, self._read = path, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._read += len(data)
        if self._read > MOST_BYTES:
            expected = f"at most {MOST_BYTES:,} bytes unpacked"
            raise _refused(self._path, "the whole file", expected, "more")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _opened(path: Path) -> BinaryIO:
    packed = path.suffix.lower() == ".gz"
    # Closed with what reads from it.
    opened: Any = gzip.open(path) if packed else path.open("rb")  # noqa: SIM115
    return cast(BinaryIO, io.BufferedReader(_Limited(path, opened), 1 << 20))


def _refused(path: Path, place: str, expected: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "A table of YouTube-BB cannot be used.",
        expected=expected,
        found=found[:200] or "what stands there",
        where=f"{path.name}, {place}",
        remedy="download it again; the four tables are published at research.google.com/youtube-bb",
    )
