"""Two models beside each other, on all that both have been run on: paired, image by image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.metrics.holm import holm
from ops.models.fine_tuned import seen_in_training
from ops.results.columns import columns
from ops.results.comparison.environment import environment_changes
from ops.results.comparison.measure import Difference, differences
from ops.results.comparison.quantities import Quantity, by_benchmark
from ops.results.comparison.runs import CurrentRuns, Pairing
from ops.results.inventory import Inventory, take_inventory
from ops.storage import Root, open_root

COMPARISON = columns(
    model_a=pa.string(),
    model_b=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    metric=pa.string(),
    variant=pa.string(),
    better=pa.string(),
    # Whether it is the one number of its benchmark.
    headline=pa.bool_(),
    # In the unit of the metric; delta is b less a, whichever is better.
    value_a=pa.float64(),
    value_b=pa.float64(),
    delta=pa.float64(),
    ci_lo=pa.float64(),
    ci_hi=pa.float64(),
    ci_method=pa.string(),
    alpha=pa.float64(),
    # Images, anchors or sequences, and the source images that these are of.
    n=pa.int64(),
    n_sources=pa.int64(),
    # Images that only a has right, and that only b has right.
    lost=pa.int64(),
    gained=pa.int64(),
    # How far both err on the same images, beyond chance; empty where several rows are of one image.
    error_kappa=pa.float64(),
    error_kappa_lo=pa.float64(),
    error_kappa_hi=pa.float64(),
    p_value=pa.float64(),
    p_method=pa.string(),
    # Corrected within its family: the headlines of all benchmarks, or one metric and variant over
    # the conditions of one benchmark.
    p_holm=pa.float64(),
    family=pa.string(),
    synthetic=pa.bool_(),
    stale=pa.bool_(),
    # Whether a model was fine-tuned on videos of the set.
    seen_in_training=pa.bool_(),
    run_ids_a=pa.list_(pa.string()),
    run_ids_b=pa.list_(pa.string()),
    # What else than the model differs, as "torch 2.6 to 2.7": some of the difference may be its.
    environment_changes=pa.list_(pa.string()),
)

HEADLINES = "headlines"
_KAPPA = ("error_kappa", "error_kappa_lo", "error_kappa_hi")

# The same as a mean error but for a factor, and scores of ImageNet-O that no paper reports: these
# can be gated, and would only lengthen the table.
_UNLISTED_METRICS = ("ce_alexnet_pct",)
_LISTED_SCORE = "max softmax"


def compare(
    root: Root | str,
    catalog: Catalog,
    a: str,
    b: str,
    *,
    benchmarks: Sequence[str] | None = None,
    alpha: float = 0.05,
) -> pa.Table:
    """Compare two models wherever both have a current run on the same version of a dataset.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    a, b : str
        Registered models.
    benchmarks : sequence of str, optional
        Only these; all by default.
    alpha : float
        One minus the confidence of the intervals.

    Returns
    -------
    pyarrow.Table
        Of the schema ``COMPARISON``, a row a benchmark, condition, metric and variant, in the order
        of the catalog and the headline of each benchmark first. Stale runs are compared, too, and
        flagged.

    Raises
    ------
    ShiftlakeError
        If a model is not registered, or `a` is `b`.

    Notes
    -----
    Where every row is an image of its own: exact McNemar, and Tango's interval. Where several rows
    come from one source image (ImageNet-C and -P, distorted sets): source images are resampled,
    and the test is McNemar's clustered. ImageNet-O: a paired bootstrap. The definitions are those
    of ``ops.metrics``. Where every row is an image of its own, there is also the consistency of the
    two models' errors, which says whether they fail on the same images.
    """
    # The connection shows the verdicts of gates, so it imports this package.
    from ops.results.connection import open_views

    root = open_root(root)
    inventory = take_inventory(root)
    check_models(inventory, a, b)
    runs = CurrentRuns(inventory)
    pairing = runs.pair(a, b, stale=True)
    known = by_benchmark(catalog, clean_of(inventory, catalog))
    _check_benchmarks(known, benchmarks or ())
    wanted = [
        each
        for name, own in known.items()
        if benchmarks is None or name in benchmarks
        for each in own
        if _listed(each)
    ]
    if pairing.pairs:
        with open_views(root, inventory, catalog) as connection:
            found = differences(connection, pairing, wanted, alpha=alpha)
    else:
        found = []
    fresh = set(runs.pair(a, b).pairs)
    tuned = [*_tuned_on(inventory, a), *_tuned_on(inventory, b)]
    rows = [_row(pairing, each, alpha, fresh, tuned) for each in found]
    families = [row["family"] for row in rows]
    for family in set(families):
        own = [row for row in rows if row["family"] == family]
        for row, p in zip(own, holm([row["p_value"] for row in own]), strict=True):
            row["p_holm"] = float(p)
    return pa.Table.from_pylist(rows, schema=COMPARISON)


def incomparable(root: Root | str, a: str, b: str) -> dict[str, str]:
    """Why two models cannot be compared on each dataset that only one of them can answer for."""
    inventory = take_inventory(open_root(root))
    return CurrentRuns(inventory).pair(a, b, stale=True).reasons


def clean_of(inventory: Inventory, catalog: Catalog) -> dict[str, str]:
    """The dataset with the clean images of every distorted benchmark.

    What a sealed set was rendered from, or else what the catalog renders it from.
    """
    found: dict[str, str] = {}
    for spec in catalog.datasets.values():
        if spec.derived_from and spec.family not in found:
            found[spec.family] = catalog.dataset(spec.derived_from[0]).name
    for name, manifest in sorted(inventory.manifests.items()):
        source = (manifest.get("renderer") or {}).get("source")
        if source:
            found[name.partition("/")[0]] = str(source)
    return found


def check_models(inventory: Inventory, *names: str) -> None:
    """Raise ShiftlakeError unless the names are of different registered models."""
    known = sorted(inventory.models)
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 3, 0.6) or known[:10]
            raise ShiftlakeError(
                "No model has this name.",
                expected=f"a registered model, such as {', '.join(near)}" if near else "a model",
                found=name if known else f"{name}, and no model at all",
                where="compare",
                remedy="shiftlake model list",
            )
    if len(set(names)) < len(names):
        raise ShiftlakeError(
            "A model cannot be compared with itself.",
            expected="two models",
            found=f"{names[0]} twice",
            where="compare",
            remedy="name another; two entries may be of the same weights",
        )


def _listed(quantity: Quantity) -> bool:
    if quantity.metric in _UNLISTED_METRICS:
        return False
    if quantity.answer.startswith(("pm", "reviewed_pm")):
        return quantity.metric == "pm0" or quantity.headline
    return quantity.answer != "outlier" or quantity.variant == _LISTED_SCORE


def _tuned_on(inventory: Inventory, model: str) -> list[str]:
    return list(inventory.models[model].get("fine_tuned_on") or ())


def _row(
    pairing: Pairing, found: Difference, alpha: float, fresh: set[str], tuned: Sequence[str]
) -> dict[str, Any]:
    quantity = found.quantity
    pairs = pairing.runs(quantity.datasets)
    family = " ".join((quantity.benchmark, quantity.metric, quantity.variant))
    return {
        "model_a": pairing.first,
        "model_b": pairing.second,
        "benchmark": quantity.benchmark,
        "condition": quantity.condition,
        "metric": quantity.metric,
        "variant": quantity.variant,
        "better": quantity.better,
        "headline": quantity.headline,
        "value_a": found.first,
        "value_b": found.second,
        "delta": found.second - found.first,
        "ci_lo": _number(found.lo),
        "ci_hi": _number(found.hi),
        "ci_method": found.ci_method,
        "alpha": alpha,
        "n": found.n,
        "n_sources": found.n_sources,
        "lost": found.lost,
        "gained": found.gained,
        **dict(zip(_KAPPA, found.kappa or (None,) * len(_KAPPA), strict=True)),
        "p_value": found.p,
        "p_method": found.p_method,
        "family": HEADLINES if quantity.headline else family,
        "synthetic": any(run.synthetic for p in pairs for run in (p.first, p.second)),
        "stale": not fresh.issuperset(quantity.datasets),
        "seen_in_training": bool(seen_in_training(tuned, quantity.datasets)),
        "run_ids_a": sorted({pair.first.run_id for pair in pairs}),
        "run_ids_b": sorted({pair.second.run_id for pair in pairs}),
        "environment_changes": environment_changes(pairs),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _check_benchmarks(known: Iterable[str], asked: Sequence[str]) -> None:
    names = list(known)
    for name in asked:
        if name not in names:
            near = get_close_matches(name, names, 3, 0.5) or names[:8]
            raise ShiftlakeError(
                "No benchmark has this name.",
                expected=f"perhaps {', '.join(near)}",
                found=name,
                where="compare",
                remedy="shiftlake datasets lists the benchmarks",
            )
