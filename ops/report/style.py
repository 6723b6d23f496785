"""How every figure looks: one typeface, one palette, thin lines, and no frame that says nothing.

The colours of text, grid and paper are named: :mod:`ops.report.svg` writes them as CSS variables,
so that a page with a dark background turns them around. The palette of the models is Okabe and
Ito's, which people with colour-blindness tell apart; each model has a marker of its own besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1c2128"
MUTED = "#636c76"
GRID = "#e2e6ea"
CROWD = "#aab2bb"
PAPER = "#fffffe"

# In the order in which models get them.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b5589a",
    "#56b4e9",
    "#e69f00",
    "#6b4fa0",
    "#7d7a24",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")

# One unit of a figure is a CSS pixel: at full width the text is as large as the page's own.
WIDTH = 1120
_UNITS = 72
_SETTINGS: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 11,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 10.5,
    "xtick.major.size": 3,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 10.5,
    "ytick.major.size": 0,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


@contextmanager
def paper() -> Iterator[None]:
    """Settings of all figures; also needed while one is written to a file."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def new_figure(name: str, height: float, width: float = WIDTH) -> Figure:
    """An empty figure.

    Parameters
    ----------
    name : str
        Its label; on a page of several figures it keeps their parts apart.
    height, width : float
        In CSS pixels.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width / _UNITS, height / _UNITS), dpi=_UNITS, label=name)


def percent_axis(axis: Any, step: int = 25) -> None:
    """An axis of shares as percent from 0 to 100, a tick every `step`."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    axis.set_major_locator(MultipleLocator(step / 100))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))


def plain_name(name: str) -> str:
    """The name of a corruption or perturbation as words."""
    words = name.replace("_", " ")
    return {"jpeg compression": "JPEG", "elastic transform": "elastic"}.get(words, words)


def short(name: str, most: int = 46) -> str:
    """A model's name that fits a figure, its middle left out where it is longer."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def bare(axes: Axes) -> None:
    """Leave nothing of an axes but its place."""
    axes.set_axis_off()
