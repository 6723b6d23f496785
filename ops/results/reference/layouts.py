"""The two layouts in which others publish results: how each is recognised, and read to rows.

A file is what its header says it is, whatever it is called. A column is never dropped silently:
one that is not known here keeps its own name as its setting.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

from ops.errors import ShiftlakeError
from ops.results.reference.data_files import read_yaml

Row = dict[str, Any]

TIMM_COLUMNS = (
    "model", "img_size", "top1", "top1_err", "top5", "top5_err", "param_count", "crop_pct",
    "interpolation",
)  # fmt: skip
# Complements, and comparisons with another file: nothing that is not said elsewhere.
_TIMM_DERIVED = ("top1_err", "top5_err", "top1_diff", "top5_diff", "rank_diff")
# timm rounds percent to three decimals.
_TIMM_ROUNDING = 0.0006
# Fewer values than these may be shares of another number of images by chance.
_TELLING = 30
_C_COLUMN = re.compile(r"imagenet-c\.([a-z_]+)\.([1-5])_on-disk")
_C_SETTING = "imagenet-c.{corruption}.{severity}_on-disk"


class Published(NamedTuple):
    """One fetched file: the catalog's benchmark and file id, its text, and where it lies."""

    benchmark: str
    file: str
    text: str
    where: str


def rows_of(published: Published) -> list[Row]:
    """Rows of a file, without what is known of the file as a whole.

    Parameters
    ----------
    published : Published

    Returns
    -------
    list of dict
        setting, model, metric, value, and benchmark, condition, variant, n, model_kind,
        image_size and million_parameters where known. Shares in [0, 1].

    Raises
    ------
    ShiftlakeError
        If the header is of no known layout; if a line has too few cells, a cell is no number or
        no percentage, a model comes twice at one size; or if the shares are none of the number of
        images that the setting has, so that the file must be about something else.
    """
    lines = csv.reader(published.text.splitlines())
    header = next(lines, [])
    layout = _layout(header, published)
    seen: dict[tuple[str, str], int] = {}
    rows: list[Row] = []
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        at = f"{published.where}, line {number}"
        if len(line) != len(header):
            raise _refused(f"{len(header)} cells, as in the header", f"{len(line)} cells", at)
        cells = dict(zip(header, line, strict=True))
        # timm evaluates some models at two sizes.
        model = (cells["model"], cells.get("img_size", ""))
        if model in seen:
            again = f"{cells['model']} again, which is also line {seen[model]}"
            raise _refused("each model once an image size", again, at)
        seen[model] = number
        rows += layout(published.file, cells, at)
    _check_shares(rows, published)
    return rows


def _layout(
    header: list[str], published: Published
) -> Callable[[str, dict[str, str], str], Iterator[Row]]:
    if len(set(header)) != len(header):
        raise _refused("each column once", "a column twice", published.where)
    if set(TIMM_COLUMNS) <= set(header):
        return _timm
    if header[:1] == ["model"] and "val" in header and "top1" not in header:
        return _testbed
    shown = ", ".join(header[:6]) or "an empty file"
    raise _refused(
        "the columns of timm's results (model, img_size, top1, …), or those of the testbed's "
        "grid (model, one column a setting, among them val)",
        shown if len(shown) < 200 else f"{shown[:200]}…",
        published.where,
    )


def _timm(file: str, cells: dict[str, str], at: str) -> Iterator[Row]:
    known = read_yaml("settings.yaml")["timm"].get(file, {"setting": file})
    size = cells["img_size"]
    common = {
        **known,
        "model": cells["model"],
        "image_size": int(_number(size, f"{at}, img_size")) if size else None,
        "million_parameters": _parameters(cells["param_count"], at),
    }
    for metric in ("top1", "top5"):
        if cells[metric]:
            share = _share(cells[metric], f"{at}, {metric}")
            yield {**common, "metric": metric, "value": share}
    for name, cell in cells.items():
        if cell and name not in TIMM_COLUMNS and name not in _TIMM_DERIVED:
            own = {key: common[key] for key in ("model", "image_size", "million_parameters")}
            setting = f"{common['setting']}.{name}"
            value = _number(cell, f"{at}, {name}")
            yield {**own, "setting": setting, "metric": name, "value": value}


def _testbed(file: str, cells: dict[str, str], at: str) -> Iterator[Row]:
    kind = model_kind(cells["model"])
    for name, cell in cells.items():
        # Empty is not evaluated.
        if name != "model" and cell:
            yield {
                "metric": "top1",
                **_testbed_setting(name),
                "model": cells["model"],
                "model_kind": kind,
                "setting": name,
                "value": _share(cell, f"{at}, {name}"),
            }


@cache
def _testbed_setting(column: str) -> dict[str, Any]:
    known: dict[str, dict[str, Any]] = read_yaml("settings.yaml")["imagenet_testbed"]
    if match := _C_COLUMN.fullmatch(column):
        stated = known[_C_SETTING]
        corruption, severity = match.groups()
        return {
            **stated,
            "condition": stated["condition"].format(corruption=corruption, severity=severity),
        }
    return known.get(column, {})


@cache
def model_kind(name: str) -> str | None:
    """How a model of the testbed was trained; None where its authors do not say."""
    kinds: dict[str, list[str]] = read_yaml("model_kinds.yaml")
    return next(
        (kind for kind, models in kinds.items() if any(fnmatchcase(name, each) for each in models)),
        None,
    )


def _number(cell: str, at: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise _refused("a number or an empty cell", repr(cell), at) from None


def _share(cell: str, at: str) -> float:
    percent = _number(cell, at)
    if not 0 <= percent <= 100:
        raise _refused("a percentage", cell, at)
    return percent / 100


def _parameters(cell: str, at: str) -> float | None:
    return _number(cell.replace(",", ""), f"{at}, param_count") if cell else None


def _check_shares(rows: list[Row], published: Published) -> None:
    """Shares of 7,500 images are multiples of 1/7500: a file under a wrong name is found out."""
    shares: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if n := row.get("n"):
            shares.setdefault((row["setting"], n), []).append(row["value"])
    for (setting, n), values in shares.items():
        if len(values) < _TELLING:
            continue
        # A model or two may have been evaluated on fewer images.
        if (odd := _no_share_of(n, values)) > 0.2 * len(values):
            found = f"{odd:,} of {len(values):,} values that no count of so many images gives"
            raise _refused(f"{setting}: shares of {n:,} images", found, published.where)
        for factor in (2, 3, 5):
            fewer = n // factor
            if n % factor == 0 and not _no_share_of(fewer, values):
                found = f"values that are all shares of {fewer:,}"
                raise _refused(f"{setting}: shares of {n:,} images", found, published.where)


def _no_share_of(n: int, values: list[float]) -> int:
    return sum(abs(round(value * n) / n - value) * 100 > _TIMM_ROUNDING for value in values)


def _refused(expected: str, found: str, where: str) -> ShiftlakeError:
    return ShiftlakeError(
        "A file of published results cannot be read.",
        expected=expected,
        found=found,
        where=where,
        remedy="check that it is the publisher's file at the pinned revision, and fetch it again",
    )
