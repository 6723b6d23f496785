"""Rows of a COCO results file, a part at a time: the file may be far larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from ops.errors import ShiftlakeError

# Bytes that are read at once, and the most one row may have: a mask is long, but not this long.
_PART = 4 << 20
_ROW = 64 << 20
_GZIP = b"\x1f\x8b"
# A brace inside a row can look like the start of the next one: how many that do are tried, and how
# many of any kind are looked at.
_CUTS, _BRACES = 20, 10_000


def rows_of(file: BinaryIO, where: object) -> Iterator[list[Any]]:
    """Rows of a JSON list of objects, in parts of some ten thousand.

    Parameters
    ----------
    file : binary file
        Open for reading.
    where : object
        Names the file in an error.

    Yields
    ------
    list
        What the list holds, in its order, each entry as :mod:`json` reads it.

    Raises
    ------
    ShiftlakeError
        If the file is not a JSON list, is cut, or a single entry has more than 64 MiB; the place
        is named in bytes.
    """
    data = b""
    while not data and (part := file.read(_PART)):
        data = part.removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(_GZIP):
        raise _refused("JSON", "a file packed by gzip", where, "unpack it first: gunzip FILE")
    if not data.startswith(b"["):
        found = "nothing" if not data else f"{data[:40].decode(errors='replace')!r} ..."
        raise _refused("a JSON list of results, [{...}, {...}]", found, where)
    # In the file, of the first byte of what is held.
    position = file.tell() - len(data) + 1
    data = data[1:]
    while part := file.read(_PART):
        data += part
        rows, used = _whole_rows(data, position, where)
        if rows:
            yield rows
        elif len(data) > _ROW:
            raise _too_long(data, position, where)
        data, position = data[used:], position + used
    yield _parsed(b"[" + data, position - 1, where)


def _whole_rows(data: bytes, position: int, where: object) -> tuple[list[Any], int]:
    """The rows that end within `data`, and how many bytes they take with the comma behind them.

    No rows, and 0, where the first seems to end later; whether it does, the rest of the file tells.
    """
    end = len(data)
    for _ in range(_CUTS):
        cut, end = _last_cut(data, end)
        if cut < 0:
            break
        with suppress(ShiftlakeError):
            return _parsed(b"[" + data[:cut] + b"]", position - 1, where), cut + 1
    return [], 0


def _too_long(data: bytes, position: int, where: object) -> ShiftlakeError:
    """The error for a row that does not end, be it long or broken."""
    found = f"a longer one at byte {position:,}"
    try:
        _parsed(b"[" + data + b"]", position - 1, where)
    except ShiftlakeError as error:
        found = str(error.found)
    return _refused(f"JSON, each row of at most {_ROW >> 20} MiB", found, where)


def _last_cut(data: bytes, end: int) -> tuple[int, int]:
    """The last comma between two closed braces before `end`, and the brace behind it."""
    for _ in range(_BRACES):
        brace = data.rfind(b"{", 0, end)
        if brace <= 0:
            break
        before = data[max(0, brace - 4096) : brace].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            comma = data.rfind(b",", 0, brace)
            return comma, brace
        end = brace
    return -1, -1


def _parsed(text: bytes, position: int, where: object) -> list[Any]:
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        at = position + len(error.doc[: error.pos].encode())
        raise _refused("a whole JSON list", f"{error.msg} at byte {at:,}", where) from error
    except (ValueError, RecursionError) as error:
        raise _refused("JSON", f"{type(error).__name__}: {error}", where) from error
    if not isinstance(rows, list):
        raise _refused("a JSON list", type(rows).__name__, where)
    return rows


def _refused(
    expected: str,
    found: str,
    where: object,
    remedy: str = "write it again in COCO's format for results of detection",
) -> ShiftlakeError:
    return ShiftlakeError(
        "The results file cannot be read.",
        expected=expected,
        found=found,
        where=where,
        remedy=remedy,
    )
