"""The unit of work of the table of metrics: a family of metrics, and the runs it is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ops.metrics import clopper_pearson
from ops.results.inventory import Run

ALPHA = 0.05

# Raised when a definition changes, so that rows of the older one are computed again.
DEFINITIONS = "7"

Row = dict[str, Any]


@dataclass(frozen=True)
class Unit:
    """One model's rows of one family of metrics.

    Parameters
    ----------
    family : str
    runs : tuple of Run
        All runs it reads; the first is the one the rows are about.
    extra : str
        Names any other input, for example the version of the ReaL labels.
    normalisers : tuple of tuple of Run
        Runs of AlexNets of one's own on the same datasets, a tuple a model: what it is over.
    """

    family: str
    runs: tuple[Run, ...]
    extra: str = ""
    normalisers: tuple[tuple[Run, ...], ...] = ()

    @property
    def model(self) -> str:
        """The one model of all runs."""
        return self.runs[0].model

    @property
    def run_ids(self) -> list[str]:
        """Ids of the runs, sorted."""
        return sorted(run.run_id for run in self.runs)

    @cached_property
    def inputs(self) -> str:
        """16 hex digits that name everything the rows are computed from.

        A run id names the plan of a run. What came of it are its files, which differ where a run
        is written again after damage, so their digests belong to the key.
        """
        names = [f"{run.benchmark}/{run.condition} {run.run_id} {_rows(run)}" for run in self.runs]
        over = [f"{_name(run)} {_rows(run)}" for runs in self.normalisers for run in runs]
        return _digest(
            DEFINITIONS, self.family, self.model, self.extra, *sorted(names), *sorted(over)
        )

    def row(
        self,
        metric: str,
        variant: str,
        value: float | None,
        *,
        condition: str | None = None,
        benchmark: str | None = None,
        normaliser: Sequence[Run] = (),
        **fields: Any,
    ) -> Row:
        """One row of the table; `fields` are k, n, ci_lo, ci_hi and ci_method."""
        first = self.runs[0]
        single = len(self.runs) == 1
        versions = [run.dataset_version for run in self.runs]
        return {
            "run_id": first.run_id if single else _digest(*self.run_ids),
            "model": self.model,
            "benchmark": benchmark or first.benchmark,
            "condition": condition or first.condition,
            "metric": metric,
            "variant": variant,
            "value": value,
            "ci_method": "none",
            "alpha": ALPHA,
            "dataset_version": versions[0] if single else _digest(*sorted(versions)),
            "synthetic": any(run.synthetic for run in (*self.runs, *normaliser)),
            "run_ids": self.run_ids,
            "normaliser_runs": sorted(_name(run) for run in normaliser),
            "inputs": self.inputs,
            **fields,
        }

    def proportion(self, metric: str, variant: str, k: int, n: int, **fields: Any) -> Row:
        """A row for ``k`` of ``n`` with its exact interval."""
        lo, hi = clopper_pearson(k, n, ALPHA)
        return self.row(
            metric,
            variant,
            k / n if n else None,
            k=k,
            n=n,
            ci_lo=float(lo),
            ci_hi=float(hi),
            ci_method="Clopper-Pearson",
            **fields,
        )

    def proportions(self, counts: Sequence[tuple[str, str, int, int]], **fields: Any) -> list[Row]:
        """Rows of many proportions, as metric, variant, k and n; those of nothing are left out.

        All quantiles are asked for together: one at a time takes as long as a hundred.
        """
        some = [count for count in counts if count[3]]
        ks, ns = (np.array([count[i] for count in some], np.int64) for i in (2, 3))
        bounds = zip(*clopper_pearson(ks, ns, ALPHA), strict=True)
        return [
            self.row(
                metric,
                variant,
                k / n,
                k=k,
                n=n,
                ci_lo=float(lo),
                ci_hi=float(hi),
                ci_method="Clopper-Pearson",
                **fields,
            )
            for (metric, variant, k, n), (lo, hi) in zip(some, bounds, strict=True)
        ]


def by_dataset(units: Iterable[Unit]) -> dict[tuple[str, str], Unit]:
    """Units by model and run id of the run they are about."""
    return {(unit.model, unit.runs[0].run_id): unit for unit in units}


def quoted(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _rows(run: Run) -> str:
    # Older records name no digest of a file.
    return _digest(*sorted(file.sha256 or f"{file.name} {file.bytes}" for file in run.files))


def _name(run: Run) -> str:
    return f"{run.model}/{run.run_id}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
