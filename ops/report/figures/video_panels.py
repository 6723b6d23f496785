"""Where the panels of the video figures stand: one for each set of frames, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ops.report import style
from ops.report.marks import SEEN
from ops.report.names import frame_set_name

if TYPE_CHECKING:
    import duckdb
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


def strides(connection: duckdb.DuckDBPyConnection) -> dict[FrameSets, int]:
    """Frames from one neighbour to the next, of the sets where these are several.

    Offsets and k count steps, so only where a step is one frame are they numbers of frames.
    """
    found = connection.execute(
        """
        SELECT d.benchmark, d.condition, TRY_CAST(m.parameters ->> '$.stride' AS INTEGER) AS stride
        FROM datasets AS d JOIN datasets AS m
            ON m.dataset = d.dataset
            OR m.dataset = d.joined_to AND m.version = d.parameters ->> '$.mined_version'
        WHERE d.benchmark IN ('frame_sets', 'reviewed_frame_sets') AND m.benchmark = 'frame_sets'
            AND stride > 1
        """
    ).fetchall()
    return {(benchmark, condition): stride for benchmark, condition, stride in found}


def steps(stride: int) -> str:
    """What an offset counts, in words."""
    return "frames" if stride == 1 else f"steps of {stride} frames"


def mark_seen(axes: Axes, x: float, y: float, colour: str) -> None:
    """Mark a model that was fine-tuned on videos of the set it is drawn for."""
    axes.annotate(
        SEEN, (x, y), (4, 2), textcoords="offset points", fontsize=11, color=colour,
        annotation_clip=False,
    )  # fmt: skip


def seen_handle() -> Any:
    """What the mark means, for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=f"{SEEN} fine-tuned on videos of the set")


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
    right: float = RIGHT,
    gap: float = 54,
    more: Mapping[FrameSets, str] | None = None,
) -> Iterator[tuple[FrameSets, Axes, bool]]:
    """Axes for each set of frames, titled, row by row.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        `above` and for each row `tall` and `under` high.
    sets : list of (str, str)
    above, tall, under, left, right, gap : float
        CSS pixels: over the first row, of a panel, between rows, before the first and after the
        last column, between columns.
    more : mapping of (str, str) to str, optional
        What is said of a set after its name.

    Yields
    ------
    (str, str)
    matplotlib.axes.Axes
    bool
        Whether it is the first of its row.
    """
    width, height = (72 * float(side) for side in figure.get_size_inches())
    columns = across(len(sets))
    wide = (width - left - right - (columns - 1) * gap) / columns
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
        axes.set_title(style.short(frame_set_name(*each), 40) + (more or {}).get(each, ""))
        yield each, axes, column == 0


def rows_of(sets: list[FrameSets]) -> int:
    """Rows of panels."""
    return -(-len(sets) // across(len(sets)))
