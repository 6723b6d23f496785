"""A file of labels, CSV or JSON, as rows with the line each begins in.

JSON is a list of rows. A CSV has a head; a row of it gives at most one box, in the columns xmin,
ymin, xmax, ymax, track, occluded and generated, with one label; several labels are set apart by
``;``. Rows of one moment add up. Where the head has ``;`` or tabs in place of commas, as some
spreadsheets write them, so have the rows, and 1,5 is 1.5.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from ops.errors import ShiftlakeError
from ops.video.sources.label_rows import COORDINATES, LabelRow, label_row

# Read into memory as a whole: ten million rows, and more than a person labels.
MOST_BYTES = 256 << 20
# In the order in which a person needs them.
_COLUMNS = (
    *("video", "labels", "frame", "seconds"),
    *(*COORDINATES, "track", "occluded", "generated"),
)
_SEPARATORS = ",;\t"
_NEW_LINE = "\n"
_BLANK = re.compile(r"[ \t\r\n]*")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def read_rows(path: Path, label_space: str, *, shares: bool) -> Iterator[tuple[str, LabelRow]]:
    """Rows of a labels file, each with the line it begins in.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or ``.json``.
    label_space : str
    shares : bool
        Whether coordinates of boxes are shares of width and height.

    Raises
    ------
    ShiftlakeError
        With the place, what was expected and what was found.
    """
    text = _text(path)
    rows = _csv(path, text) if path.suffix.lower() == ".csv" else _json(path, text)
    for place, given in rows:
        try:
            yield place, label_row(_plain(given), label_space, shares=shares)
        except ValueError as error:
            raise refused(path, place, str(error)) from error


def refused(path: Path, place: str, why: str) -> ShiftlakeError:
    """The error for one place of a labels file; `why` is ``expected <this>, not <that>``."""
    expected, _, found = why.removeprefix("expected ").rpartition(", not ")
    return ShiftlakeError(
        "A file of labels cannot be used.",
        expected=expected or found,
        found=found if expected else "what stands there",
        where=f"{path.name}, {place}",
        remedy="correct it; docs/video-sources.md shows a labels file",
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > MOST_BYTES else file.read(MOST_BYTES + 1)
    except OSError as error:
        why = f"expected a file that can be read, not {error.strerror or error}"
        raise refused(path, "the whole file", why) from error
    if max(size, len(data)) > MOST_BYTES:
        why = f"expected at most {MOST_BYTES:,} bytes, not {max(size, len(data)):,}"
        raise refused(path, "the whole file", why)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        utf8 = "text in UTF-8, which spreadsheets save as CSV UTF-8"
        why = f"expected {utf8}, not the byte 0x{data[error.start]:02x}"
        raise refused(path, f"line {line}", why) from error


def _json(path: Path, text: str) -> Iterator[tuple[str, object]]:
    """Rows one after the other, so that the line of each is known."""
    decoder = json.JSONDecoder(object_pairs_hook=_each_once)
    at, line, seen = 0, 1, 0

    def skipped(start: int) -> int:
        found = _BLANK.match(text, start)
        return start if found is None else found.end()

    def refusal(why: str) -> ShiftlakeError:
        return refused(path, f"line {text.count(_NEW_LINE, 0, at) + 1}", why)

    at = skipped(at)
    if text[at : at + 1] != "[":
        raise refusal(f"expected a list of rows, not {text[at : at + 40]!r}")
    at = skipped(at + 1)
    while text[at : at + 1] != "]":
        line += text.count(_NEW_LINE, seen, at)
        seen = at
        try:
            row, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            at = error.pos
            raise refusal(f"expected JSON, not this: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            why = "expected a row, not lists within lists" if deep else str(error)
            raise refusal(why) from error
        yield f"line {line}", row
        at = skipped(at)
        if text[at : at + 1] == ",":
            at = skipped(at + 1)
            if text[at : at + 1] == "]":
                raise refusal("expected a row behind a comma, not the end of the list")
        elif text[at : at + 1] != "]":
            raise refusal(f"expected a comma or the end of the list, not {text[at : at + 40]!r}")
    at = skipped(at + 1)
    if at < len(text):
        raise refusal(f"expected nothing behind the list, not {text[at : at + 40]!r}")


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"expected every key of a row once, not {twice!r:.80} twice")
    return found


def _csv(path: Path, text: str) -> Iterator[tuple[str, object]]:
    first = text.partition(_NEW_LINE)[0]
    separator = next((sign for sign in _SEPARATORS if sign in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        head = _head(next(reader, []))
        line = reader.line_num + 1
        for cells in reader:
            # Spreadsheets fill rows up with empty cells, and add rows of nothing else.
            while len(cells) > len(head) and not cells[-1].strip():
                cells.pop()
            if any(map(str.strip, cells)):
                if len(cells) != len(head):
                    wanted = f"{len(head)} values ({', '.join(head)})"
                    raise ValueError(f"expected {wanted}, not {len(cells)}: {cells!r:.120}")
                row = dict(zip(head, cells, strict=True))
                yield f"line {line}", _of_csv(row, decimal_comma=separator != ",")
            line = reader.line_num + 1
    except (csv.Error, ValueError) as error:
        why = f"expected CSV, not this: {error}" if isinstance(error, csv.Error) else str(error)
        raise refused(path, f"line {line}", why) from error


def _head(cells: Sequence[str]) -> list[str]:
    """The columns of a CSV.

    Raises
    ------
    ValueError
        If there is no ``video`` among them, one is not known, or stands there twice.
    """
    head = [name.strip().lower() for name in cells]
    while head and not head[-1]:
        head.pop()
    columns = "the columns video and labels, and any of " + ", ".join(_COLUMNS[2:])
    if not head:
        raise ValueError(f"expected {columns}, not nothing")
    for name in head:
        if name not in _COLUMNS:
            near = get_close_matches(name, _COLUMNS, 1, 0.8)
            hint = f"; perhaps {near[0]}" if near else ""
            raise ValueError(
                f"expected {columns}{hint}, not {name!r:.80} in {', '.join(head):.200}"
            )
        if head.count(name) > 1:
            raise ValueError(f"expected every column once, not {name} twice")
    if "video" not in head:
        raise ValueError(f"expected {columns}, not {', '.join(head)} alone")
    return head


def _of_csv(cells: Mapping[str, str], *, decimal_comma: bool) -> dict[str, object]:
    """The row that a line of CSV stands for; an empty cell says nothing."""
    said = {name: text.strip() for name, text in cells.items() if text.strip()}

    def number(name: str) -> object:
        text = said.get(name, "")
        return _number(text.replace(",", ".") if decimal_comma else text)

    # What is not stripped: a name may well end in a space.
    row: dict[str, object] = {"video": cells["video"]}
    for name in ("frame", "seconds"):
        if name in said:
            row[name] = number(name)
    labels = [each.strip() for each in said.get("labels", "").split(";") if each.strip()]
    if "labels" in cells:
        row["labels"] = labels
    if not any(name in said for name in (*COORDINATES, "track", "occluded", "generated")):
        return row
    if len(labels) != 1:
        raise ValueError(f"expected one label in a line with a box, not {len(labels)}")
    box: dict[str, object] = {"label": labels[0]}
    for name in COORDINATES:
        box[name] = number(name)
    if "track" in said:
        box["track"] = said["track"]
    for name in ("occluded", "generated"):
        if name in said:
            box[name] = _FLAGS.get(said[name].lower(), said[name])
    row["boxes"] = [box]
    return row


def _number(text: str) -> object:
    """The number a cell holds, or its text, which no check lets pass."""
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _plain(row: object) -> Mapping[str, object]:
    if not isinstance(row, Mapping):
        raise ValueError(f"expected a row with video and labels, not {row!r:.80}")
    return row
