"""What several figures share: which corruption stands where, legends, the band of a crowd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ops.report import style
from ops.report.cast import Cast
from ops.report.svg import mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The kinds of the ImageNet-C paper; the last of each row is an extra, which no mean counts.
KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Noise", ("gaussian_noise", "shot_noise", "impulse_noise"), "speckle_noise"),
    ("Blur", ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"), "gaussian_blur"),
    ("Weather", ("snow", "frost", "fog", "brightness"), "spatter"),
    ("Digital", ("contrast", "elastic_transform", "pixelate", "jpeg_compression"), "saturate"),
)
EXTRAS = tuple(extra for _, _, extra in KINDS)


def crowd_band(
    axes: Axes, curves: Mapping[str, Mapping[int, float]], positions: Sequence[int]
) -> None:
    """The middle 80 % of all models at each position, and their median, in grey."""
    at = [
        (x, np.quantile(values, (0.1, 0.5, 0.9)))
        for x in positions
        if (values := [curve[x] for curve in curves.values() if x in curve])
    ]
    if at:
        xs = [x for x, _ in at]
        lo, median, hi = np.array([q for _, q in at]).T
        axes.fill_between(xs, lo, hi, color=style.CROWD, alpha=0.3, linewidth=0)
        axes.plot(xs, median, color=style.CROWD, linewidth=1.2, dashes=(4, 2))


class Legend:
    """Names of the models with their lines and markers, best first, in rows above a figure.

    Parameters
    ----------
    cast : Cast
    models : sequence of str
        Those that are in the figure, in colour or not.
    crowd : str
        What stands for those without a colour; "" leaves it out.
    width : float
        In CSS pixels.
    extra : sequence
        Further handles.
    """

    def __init__(
        self,
        cast: Cast,
        models: Sequence[str],
        crowd: str = "middle 80 % of {n} models",
        *,
        width: float = style.WIDTH,
        extra: Sequence[Any] = (),
    ) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        shown = [model for model in cast.chosen if model in models]
        self._handles: list[Any] = [
            Line2D([], [], color=cast.colour(model), marker=cast.marker(model),
                   label=style.short(model))
            for model in shown
        ]  # fmt: skip
        if len(models) > len(shown) and crowd:
            label = crowd.format(n=f"{len(models):,}")
            self._handles.append(Patch(color=style.CROWD, alpha=0.4, linewidth=0, label=label))
        self._handles += extra
        longest = max((len(str(handle.get_label())) for handle in self._handles), default=1)
        self._across = max(1, int((width - 20) // (46 + 7.2 * longest)))
        rows = -(-len(self._handles) // self._across)
        # In CSS pixels, the space to the first row of panels included.
        self.height = 15.5 * rows + 16

    def draw(self, figure: Figure) -> None:
        """Put it at the top of a figure that has kept its height free."""
        figure.legend(
            handles=self._handles, loc="upper left", bbox_to_anchor=(0.004, 1.0), borderpad=0.2,
            borderaxespad=0.1, ncols=self._across, columnspacing=1.6, labelspacing=0.35,
            handlelength=1.8,
        )  # fmt: skip


def interval(axes: Axes, cast: Cast, model: str, xs: Any, ys: Any, lo: Any, hi: Any) -> None:
    """The interval of a curve as a light band of its colour, where it is wide enough to see."""
    lo, hi = (
        np.array([y if bound is None else bound for bound, y in zip(side, ys, strict=True)], float)
        for side in (lo, hi)
    )
    low, high = axes.get_ylim()
    if float((hi - lo).max()) > abs(high - low) / 60:
        band = axes.fill_between(xs, lo, hi, color=cast.colour(model), alpha=0.14, linewidth=0)
        mark(band, model, "")
