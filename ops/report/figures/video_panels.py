"""Where the panels of the video figures stand: one for each set of frames, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ops.report import style
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Benchmark and condition.
FrameSets = tuple[str, str]

# Of one figure: more could not be told apart.
MOST = 12
# After the last column, in CSS pixels.
RIGHT = 14
_ORDER = ("imagenet_vid_robust", "ytbb_robust")


def ordered(sets: Iterable[FrameSets]) -> list[FrameSets]:
    """Published sets first, then each source as it was mined and what reviewers left of it."""

    def place(each: FrameSets) -> tuple[int, str, str]:
        benchmark, condition = each
        if benchmark in _ORDER:
            return _ORDER.index(benchmark), "", condition
        return len(_ORDER), condition, benchmark

    return sorted(set(sets), key=place)[:MOST]


def across(panels: int) -> int:
    """Panels in a row: as many as leave the last row as full as may be, at most three."""
    return panels if panels <= 3 else 2 if panels == 4 else 3


def width_of(panels: int) -> float:
    """Width of a figure of so many panels, in CSS pixels."""
    return {1: 560, 2: 980}.get(across(panels), style.WIDTH)


def panels(
    figure: Figure,
    sets: list[FrameSets],
    *,
    above: float,
    tall: float,
    under: float = 66,
    left: float = 58,
    gap: float = 54,
) -> Iterator[tuple[FrameSets, Axes, bool]]:
    """Axes for each set of frames, titled, row by row.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        `above` and for each row `tall` and `under` high.
    sets : list of (str, str)
    above, tall, under, left, gap : float
        CSS pixels: over the first row, of a panel, between rows, before the first column, between
        columns.

    Yields
    ------
    (str, str)
    matplotlib.axes.Axes
    bool
        Whether it is the first of its row.
    """
    width, height = (72 * float(side) for side in figure.get_size_inches())
    columns = across(len(sets))
    wide = (width - left - RIGHT - (columns - 1) * gap) / columns
    for number, each in enumerate(sets):
        row, column = divmod(number, columns)
        top = above + row * (tall + under) + 22
        axes = figure.add_axes(
            (
                (left + column * (wide + gap)) / width,
                1 - (top + tall) / height,
                wide / width,
                tall / height,
            )
        )
        axes.set_title(style.short(frame_set_name(*each), 40))
        yield each, axes, column == 0


def rows_of(sets: list[FrameSets]) -> int:
    """Rows of panels."""
    return -(-len(sets) // across(len(sets)))
