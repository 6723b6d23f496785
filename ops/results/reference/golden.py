"""Golden numbers: published values that a correct installation reaches with the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from ops.catalog import Catalog
from ops.results.reference.data_files import read_yaml
from ops.storage import Root, open_root

if TYPE_CHECKING:
    import duckdb

Status = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True)
class GoldenCheck:
    """One published number beside ours, in percent.

    Attributes
    ----------
    golden : str
        Which model the number was published for, in words.
    model : str or None
        The registered model that has these weights; None where there is none.
    dataset, metric, variant : str
        As in the table of metrics; the dataset's condition may be ``all``.
    published_lo, published_hi, tolerance : float
        In percent; a value passes within `tolerance` of what was published.
    value : float or None
        Ours, in percent.
    status : {"passed", "failed", "not applicable"}
    reason : str or None
        Why it failed or does not apply.
    source : str
        Who published it.
    """

    golden: str
    model: str | None
    dataset: str
    metric: str
    variant: str
    published_lo: float
    published_hi: float
    tolerance: float
    value: float | None
    status: Status
    reason: str | None
    source: str


def golden_checks(root: Root | str, catalog: Catalog) -> list[GoldenCheck]:
    """Compare our results with published ones, where the same weights were evaluated.

    A model is recognised by where its weights came from, not by its name. Synthetic images or
    models, stale results and reduced precision do not apply: no number was published for them.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog

    Returns
    -------
    list of GoldenCheck
        In the order of ``data/golden.yaml``, one a matching model; of the last computed metrics.
    """
    # The views are over this package's table, too.
    from ops.results.connection import connect

    stated = read_yaml("golden.yaml")
    with connect(open_root(root), catalog=catalog) as connection:
        models = connection.execute(
            "SELECT model, kind, reference, precision, synthetic FROM models ORDER BY model"
        ).fetchall()
        found = []
        for key, dataset, metric, variant, published, tolerance, source in stated["checks"]:
            about = stated["models"][key]
            common: dict[str, Any] = {
                "golden": about["name"],
                "dataset": dataset,
                "metric": metric,
                "published_lo": float(published[0]),
                "published_hi": float(published[1]),
                "tolerance": float(tolerance),
                "source": stated["sources"][source],
            }
            matching = [
                model for model in models if model[2] in about["references"].get(model[1], ())
            ]
            if not matching:
                reason = "no registered model has these weights"
                found.append(_not_applicable(common, None, variant, reason))
            for name, _, _, precision, synthetic in matching:
                if synthetic:
                    reason = "the model was trained on synthetic images"
                    found.append(_not_applicable(common, name, variant, reason))
                elif precision != "fp32":
                    reason = f"evaluated in {precision}; the numbers were published for fp32"
                    found.append(_not_applicable(common, name, variant, reason))
                else:
                    found += _compared(connection, common, name, variant)
    return found


def _compared(
    connection: duckdb.DuckDBPyConnection, common: dict[str, Any], model: str, variant: str
) -> Sequence[GoldenCheck]:
    benchmark, _, condition = common["dataset"].partition("/")
    rows = connection.execute(
        "SELECT variant, value, synthetic, stale FROM metrics WHERE model = ? AND benchmark = ? "
        "AND condition = ? AND metric = ? ORDER BY variant",
        [model, benchmark, condition, common["metric"]],
    ).fetchall()
    rows = [row for row in rows if fnmatchcase(row[0], variant) and row[1] is not None]
    if not rows:
        reason = f"not evaluated on {common['dataset']}, or the metrics are not computed"
        return [_not_applicable(common, model, variant, reason)]
    found = []
    for own, value, synthetic, stale in rows:
        if synthetic or stale:
            reason = "the images are synthetic" if synthetic else "the result is stale"
            found.append(_not_applicable(common, model, own, reason))
            continue
        percent = value if common["metric"].endswith("_pct") else 100 * value
        off = max(common["published_lo"] - percent, percent - common["published_hi"], 0.0)
        # A hair more, so that a value at the tolerance is not lost to rounding.
        passed = off <= common["tolerance"] + 1e-9
        status: Status = "passed" if passed else "failed"
        why = None if passed else _told(connection, model, off, common["tolerance"])
        found.append(
            GoldenCheck(
                model=model, variant=own, value=percent, status=status, reason=why, **common
            )
        )
    return found


def _told(connection: duckdb.DuckDBPyConnection, model: str, off: float, tolerance: float) -> str:
    row = connection.execute("SELECT transform FROM models WHERE model = ?", [model]).fetchone()
    transform = row[0] if row else "unknown"
    return (
        f"{off:.3g} points off, {tolerance:g} allowed: compare the transform ({transform}), the "
        "libraries and the dataset's version with those of the source"
    )


def _not_applicable(
    common: dict[str, Any], model: str | None, variant: str, reason: str
) -> GoldenCheck:
    return GoldenCheck(
        model=model, variant=variant, value=None, status="not applicable", reason=reason, **common
    )
