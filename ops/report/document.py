"""What a report is made of: sections of figures, tables, galleries and sentences.

Plain data: what stands in them is worked out in :mod:`ops.report.sections`, and how it looks in the
templates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# Rows that stand in the page itself; the others are shown by its script, page by page.
SHOWN = 25


@dataclass(frozen=True)
class Text:
    """A paragraph; `strong` is its first words."""

    text: str
    strong: str = ""
    kind: str = "text"


@dataclass(frozen=True)
class Plot:
    """A figure as SVG, with a caption."""

    svg: str
    caption: str
    kind: str = "plot"


@dataclass(frozen=True)
class Number:
    """A number of a table, with its interval, a remark that its tooltip shows, and a mark."""

    value: float
    lo: float | None = None
    hi: float | None = None
    note: str = ""
    digits: int = 2
    mark: str = ""

    def __str__(self) -> str:
        shown = _shown(self.value, self.digits)
        return f"{shown}\u00a0{self.mark}" if self.mark else shown

    @property
    def interval(self) -> str:
        """The interval as text; empty where there is none."""
        if self.lo is None or self.hi is None:
            return ""
        ends = (_shown(bound, self.digits) for bound in (self.lo, self.hi))
        return ("–" if self.lo >= 0 else " to ").join(ends)


Cell = str | Number | None


@dataclass(frozen=True)
class Column:
    """A column of a table: `better` says which end is good, `under` stands below the label."""

    label: str
    under: str = ""
    better: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by a click and filtered by its first column.

    Parameters
    ----------
    name : str
        Unique on the page.
    columns : sequence of Column
    rows : sequence of sequence of Cell
        In the order they are shown at first.
    caption : str
    of_models : bool
        Whether the first column names models.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    of_models: bool = True
    kind: str = "table"

    @property
    def first(self) -> Sequence[Sequence[Cell]]:
        """The rows that stand in the page itself."""
        return self.rows[:SHOWN]

    @property
    def data(self) -> str:
        """All rows as JSON that can stand inside a script element."""
        content = {
            "columns": [[c.numeric, c.better] for c in self.columns],
            "rows": [[_packed(cell) for cell in row] for row in self.rows],
            "models": self.of_models,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        # Nothing in it can end the element or begin another.
        for sign in "<>&\u2028\u2029":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        return text


@dataclass(frozen=True)
class Picture:
    """A picture with what is known of it: lines of text, each of a kind the page styles."""

    uri: str
    lines: Sequence[tuple[str, str]]
    missing: str = ""


@dataclass(frozen=True)
class Gallery:
    """Pictures under a heading; `strip` sets them side by side without space."""

    title: str
    rows: Sequence[tuple[str, Sequence[Picture]]]
    caption: str = ""
    strip: bool = False
    kind: str = "gallery"


@dataclass(frozen=True)
class Pair:
    """Two frames of one video that alternate in one place when somebody points at them."""

    heading: str
    anchor: Picture
    frame: Picture


@dataclass(frozen=True)
class Flicker:
    """Pairs of frames under a heading."""

    title: str
    pairs: Sequence[Pair]
    caption: str = ""
    kind: str = "flicker"


Block = Text | Plot | Table | Gallery | Flicker


@dataclass
class Section:
    """A section, or, where it has no blocks, what is missing for it."""

    name: str
    title: str
    lead: str = ""
    blocks: list[Block] = field(default_factory=list)
    missing: str = ""
    short: str = ""


def _shown(value: float, digits: int) -> str:
    """A number with a minus sign that is as wide as a digit."""
    return f"{value:,.{digits}f}".replace("-", "−")


def _packed(cell: Cell) -> Any:
    if not isinstance(cell, Number):
        return cell
    packed: list[Any] = [round(cell.value, cell.digits), str(cell)]
    if cell.interval or cell.note:
        packed.append(cell.interval)
    if cell.note:
        packed.append(cell.note)
    return packed
