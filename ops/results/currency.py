"""Which run of a model on a dataset counts, and why it may be stale."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ops.results.inventory import Inventory, Run


@dataclass(frozen=True)
class Standing:
    """A run, whether it is its model's current one on its dataset, and what changed since."""

    run: Run
    current: bool
    reasons: tuple[str, ...]

    @property
    def stale(self) -> bool:
        """Whether anything that determines the result has changed since."""
        return bool(self.reasons)


def standings(inventory: Inventory) -> list[Standing]:
    """Every sealed run with its standing, in the order of the inventory.

    The current run of a model on a dataset is the newest that agrees with the model's entry,
    the dataset's manifest and the code; where none agrees, the newest, flagged stale.
    """
    pairs: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in inventory.runs:
        pairs[run.model, run.dataset].append(run)
    found = []
    for (model, dataset), runs in pairs.items():
        entry, manifest = inventory.models.get(model), inventory.manifests.get(dataset)
        reasons = {run.run_id: stale_reasons(run, entry, manifest) for run in runs}
        chosen = max(
            runs, key=lambda run: (not reasons[run.run_id], run.ended_at or "", run.run_id)
        )
        found += [Standing(run, run is chosen, reasons[run.run_id]) for run in runs]
    return found


def stale_reasons(
    run: Run, entry: dict[str, Any] | None, manifest: dict[str, Any] | None
) -> tuple[str, ...]:
    """What has changed since `run`, in a user's words; empty if nothing.

    Parameters
    ----------
    run : Run
    entry, manifest : dict or None
        The model's registry entry and the dataset's manifest as stored now.
    """
    reasons = []
    if manifest is None:
        reasons.append("dataset removed")
    elif run.dataset_version != manifest["version"]:
        reasons.append("dataset rebuilt")
    if entry is None:
        return (*reasons, "model no longer registered")
    try:
        code, key = _today(entry, run)
    except ValidationError:
        # One entry of another release must not close the view of all results.
        return (*reasons, "the model's entry cannot be understood: register it again")
    weights = entry.get("weights") or {}
    if run.weights_sha256 != weights.get("sha256"):
        reasons.append("weights changed")
    if run.transform != entry.get("transform"):
        reasons.append("transform changed")
    before, now = run.numerics.get("dtype"), entry.get("precision")
    if before != now:
        reasons.append(f"numerics changed ({before} to {now})")
    if run.code_version != code:
        reasons.append(f"code version changed ({run.code_version} to {code})")
    # The key covers more than the record names: architecture, its arguments and class map.
    if not reasons and run.key != key:
        reasons.append("architecture changed")
    return tuple(reasons)


def _today(entry: dict[str, Any], run: Run) -> tuple[str, str]:
    """The code version, and the key this run would have with the model's entry of now."""
    # Imports torch; only roots with runs have to wait for it.
    from ops.inference.plan import CODE_VERSION, plan_key
    from ops.inference.record import Numerics
    from ops.models import ModelEntry

    numerics = Numerics.model_validate({**run.numerics, "dtype": entry["precision"]})
    return CODE_VERSION, plan_key(ModelEntry.model_validate(entry), run.dataset_version, numerics)
