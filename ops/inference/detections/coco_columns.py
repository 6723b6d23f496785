"""Columns of results in COCO's format, each row checked: a row that is wrong is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.errors import ShiftlakeError
from ops.metrics.detection.boxes import FARTHEST

# A bool is an int to Python, and no number here.
_NUMBERS = {int, float}
_LARGE = 2**63


@dataclass(frozen=True)
class Columns:
    """Some rows of results.

    Attributes
    ----------
    image, category : ndarray of int64, shape (N,)
    score : ndarray of float64, shape (N,)
        In [0, 1].
    box : ndarray of float64, shape (N, 4)
        xmin, ymin, xmax, ymax.
    """

    image: NDArray[np.int64]
    category: NDArray[np.int64]
    score: NDArray[np.float64]
    box: NDArray[np.float64]


def columns_of(rows: list[Any], first: int, where: object) -> Columns:
    """Columns of the rows of a results file.

    Parameters
    ----------
    rows : list
        As :func:`ops.inference.detections.coco_rows.rows_of` yields them.
    first : int
        How many rows stand before them in the file.
    where : object
        Names the file in an error.

    Raises
    ------
    ShiftlakeError
        If a row lacks a field, a number is none, is not finite or beyond 1e7 pixels, a width or
        height is negative, or a score is not in [0, 1]. The first such row is named.
    """
    at = _Place(first, where)
    image = _whole(rows, "image_id", at)
    category = _whole(rows, "category_id", at)
    score = _floats(_numbers(rows, "score", at), 1, "score", at)[:, 0]
    at.require(
        np.array((score >= 0) & (score <= 1)),
        "a score from 0 to 1",
        lambda i: f"score {rows[i]['score']!r}",
    )
    box = _floats(_boxes(rows, at), 4, "bbox", at)
    # Also false where a number is NaN.
    sane = np.array((np.abs(box) <= FARTHEST).all(axis=1) & (box[:, 2:] >= 0).all(axis=1))
    at.require(
        sane,
        f"bbox as x, y, width, height: finite, within {FARTHEST:g} pixels, no negative size",
        lambda i: f"bbox {rows[i]['bbox']}",
    )
    box[:, 2:] += box[:, :2]
    return Columns(image, category, score, box)


@dataclass(frozen=True)
class _Place:
    """Where in the file a row is, for the error."""

    first: int
    where: object

    def require(self, holds: NDArray[np.bool_], expected: str, found: Callable[[int], str]) -> None:
        bad = np.flatnonzero(~holds)
        if bad.size:
            raise self.refused(int(bad[0]), expected, found(int(bad[0])))

    def refused(self, row: int, expected: str, found: str) -> ShiftlakeError:
        return ShiftlakeError(
            "A row of the results file is no detection.",
            expected=expected,
            found=found if len(found) < 200 else f"{found[:200]} ...",
            where=f"{self.where}, row {self.first + row:,} (from 0)",
            remedy="mend the program that wrote it; nothing of the file was stored",
        )


def _column(rows: list[Any], name: str, at: _Place) -> list[Any]:
    try:
        return [row[name] for row in rows]
    except (KeyError, TypeError, IndexError):
        bad = next(i for i, row in enumerate(rows) if not (isinstance(row, dict) and name in row))
        raise at.refused(bad, f"an object with {name!r}", repr(rows[bad])) from None


def _numbers(rows: list[Any], name: str, at: _Place) -> list[Any]:
    values = _column(rows, name, at)
    if not set(map(type, values)) <= _NUMBERS:
        bad = next(i for i, value in enumerate(values) if type(value) not in _NUMBERS)
        raise at.refused(bad, f"a number as {name!r}", repr(values[bad]))
    return values


def _boxes(rows: list[Any], at: _Place) -> list[Any]:
    """The four numbers of every row, one after the other."""
    values = _column(rows, "bbox", at)
    if set(map(type, values)) <= {list} and set(map(len, values)) <= {4}:
        flat = list(chain.from_iterable(values))
        if set(map(type, flat)) <= _NUMBERS:
            return flat
    for i, value in enumerate(values):
        if type(value) is not list or [type(v) in _NUMBERS for v in value] != [True] * 4:
            raise at.refused(i, "a list of 4 numbers as 'bbox'", repr(value))
    raise AssertionError("one of them is no box")


def _floats(values: list[Any], width: int, name: str, at: _Place) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64).reshape(-1, width)
    except OverflowError:
        # A whole number with more digits than any float has.
        bad = next(i for i, value in enumerate(values) if abs(value) >= _LARGE)
        raise at.refused(bad // width, f"a finite number as {name!r}", "a larger one") from None


def _whole(rows: list[Any], name: str, at: _Place) -> NDArray[np.int64]:
    values = _numbers(rows, name, at)
    if set(map(type, values)) <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    for i, value in enumerate(values):
        # Some programs write 7.0 for 7.
        if not abs(value) < _LARGE or int(value) != value:
            raise at.refused(i, f"a whole number as {name!r}", repr(value))
    return np.array([int(value) for value in values], np.int64)
