"""What is measured of a candidate for a row of the gates, and what names its inputs."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ops.results.comparison.measure import DEFINITIONS, Difference
from ops.results.comparison.quantities import Quantity
from ops.results.comparison.runs import Pairing
from ops.results.runs import Run

# What is measured, and does not change while the runs do not.
NUMBERS = (
    "baseline_value", "candidate_value", "delta", "ci_lo", "ci_hi", "ci_method", "n", "n_sources",
    "lost", "gained", "p_value", "p_method", "flipped_classes", "flipped_samples", "inputs",
)  # fmt: skip


def numbers(found: Difference, inputs: str) -> dict[str, Any]:
    """The columns `NUMBERS`: differences are positive where the candidate is better.

    Parameters
    ----------
    found : Difference
        The candidate less the baseline.
    inputs : str
        Of :func:`name_inputs`.
    """
    sign = 1 if found.quantity.better == "higher" else -1
    # No interval is no number, in the table as anywhere.
    ends = None if np.isnan(found.lo) else sorted((sign * found.lo, sign * found.hi))
    return {
        "baseline_value": found.first,
        "candidate_value": found.second,
        "delta": sign * (found.second - found.first),
        "ci_lo": ends[0] if ends else None,
        "ci_hi": ends[1] if ends else None,
        "ci_method": found.ci_method,
        "n": found.n,
        "n_sources": found.n_sources,
        "lost": found.lost,
        "gained": found.gained,
        "p_value": found.p,
        "p_method": found.p_method,
        "flipped_classes": list(found.flipped.classes),
        "flipped_samples": list(found.flipped.samples),
        "inputs": inputs,
    }


def name_inputs(
    pairing: Pairing, quantity: Quantity, alpha: float, labels_version: str | None
) -> str:
    """16 hex digits that name everything the numbers of a row are computed from.

    Parameters
    ----------
    pairing : Pairing
    quantity : Quantity
    alpha : float
    labels_version : str or None
        The version of reassessed labels or of a review; counts only for what is measured by them.
    """
    runs = []
    for name in sorted(quantity.datasets):
        pair = pairing.pairs[name]
        runs.append(f"{name} {_contents(pair.first)} {_contents(pair.second)}")
    labels = str(labels_version) if quantity.answer.startswith(("real", "reviewed")) else ""
    parts = (DEFINITIONS, quantity.name, str(alpha), pairing.first, pairing.second, labels, *runs)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _contents(run: Run) -> str:
    """A run by its id, its head and its rows: rows can be written again under one id."""
    digest = hashlib.sha256()
    for file in sorted(run.files, key=lambda file: file.name):
        digest.update(f"{file.name} {file.rows} {file.bytes} {file.sha256}\n".encode())
    return f"{run.run_id} {run.head} {digest.hexdigest()}"
