"""The leaderboard as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from ops.results.connection import connect
from ops.storage import Root, open_root

SYNTHETIC_NOTE = "* generated images: these numbers say nothing about the real benchmark"
STALE_NOTE = (
    "! stale: the model, the dataset or the code changed after this run, or the dataset is not "
    "built here"
)
SEEN_NOTE = "† fine-tuned on videos of this very set: the score says nothing about other videos"


def leaderboard(root: Root | str, *, model: str | None = None) -> Table:
    """Headline metric of every model on every benchmark, as of the last `compute_metrics`.

    Parameters
    ----------
    root : Root or str
    model : str, optional
        Only this one.

    Returns
    -------
    rich.table.Table
        Model, benchmark, metric with its variant, value and 95 % interval in percent, and n.
        The caption says plainly if images are synthetic, results stale, a model was fine-tuned on
        what it is scored on, or runs are not yet in the table of metrics.
    """
    root = open_root(root)
    with connect(root) as connection:
        rows = connection.execute(
            """
            SELECT model, benchmark, condition, metric, variant, value_pct, ci_lo_pct, ci_hi_pct,
                n, synthetic, stale, seen_in_training, metric = 'aupr' AS has_chance
            FROM leaderboard WHERE $model IS NULL OR model = $model
            ORDER BY benchmark, condition, better = 'lower', value_pct DESC, model
            """,
            {"model": model},
        ).fetchall()
        chance = dict(
            connection.execute(
                "SELECT model, 100 * value FROM metrics "
                "WHERE metric = 'aupr' AND variant = 'chance'"
            ).fetchall()
        )
        (unmeasured,) = connection.execute(
            "SELECT count(*) FROM status WHERE measured = false"
        ).fetchone() or (0,)
    table = Table(title="Leaderboard", title_justify="left", caption_justify="left")
    for name in ("model", "benchmark", "metric"):
        table.add_column(name, overflow="fold")
    for name in ("value", "95 % interval", "n"):
        table.add_column(name, justify="right")
    for model, benchmark, condition, metric, variant, value, lo, hi, n, *flags in rows:
        synthetic, stale, seen, has_chance = flags
        marks = " *" * bool(synthetic) + " !" * bool(stale) + " †" * bool(seen)
        shown = f"{metric} ({variant})" + (f", chance {chance[model]:.2f}" if has_chance else "")
        where = benchmark if condition in ("clean", "all", "val") else f"{benchmark}/{condition}"
        interval = "" if lo is None else f"[{lo:.2f}, {hi:.2f}]"
        table.add_row(model + marks, where, shown, f"{value:.2f}", interval, f"{n:,}")
    notes = [
        SYNTHETIC_NOTE if any(row[9] for row in rows) else "",
        STALE_NOTE if any(row[10] for row in rows) else "",
        SEEN_NOTE if any(row[11] for row in rows) else "",
        f"{unmeasured} runs are newer than the metrics: compute them again" if unmeasured else "",
        "" if rows else "nothing has been measured yet",
    ]
    table.caption = "\n".join(note for note in notes if note) or None
    return table
