"""Which run of a model on a dataset counts, and why it may be stale."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from ops.results.inventory import Inventory, Run
from ops.storage import paths


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
        # Damage is told as such: the model or dataset has not gone.
        unread = _unread(inventory, model, dataset)
        reasons = {
            run_id: tuple(unread.get(reason, reason) for reason in own)
            for run_id, own in reasons.items()
        }
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
        reasons.append(_NO_DATASET)
    elif run.dataset_version != manifest["version"]:
        reasons.append("dataset rebuilt")
    if entry is None:
        return (*reasons, _NO_MODEL)
    try:
        code, key, class_map = _today(entry, run)
    except ValidationError:
        # One record of another release must not close the view of all results.
        return (*reasons, "its record or the model's entry is of another release: evaluate again")
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
    if run.reference is not None:
        if run.reference != entry["reference"]:
            reasons.append(f"architecture changed ({run.reference} to {entry['reference']})")
        if run.arguments != entry["kwargs"]:
            reasons.append("arguments of the architecture changed")
        if run.class_map_sha256 != class_map:
            reasons.append("class map changed")
        if run.model_label_space != entry["label_space"]:
            reasons.append("label space of the model changed")
    # The key covers more than a record names: the class lists, and all of an older record.
    if not reasons and run.key != key:
        known = run.reference is not None
        reasons.append("class lists changed" if known else "architecture or class lists changed")
    return tuple(reasons)


_NO_DATASET = "dataset removed"
_NO_MODEL = "model no longer registered"


class _Dataset(NamedTuple):
    name: str
    version: str
    label_space: str
    mask: str | None
    parameters: dict[str, Any]


def keys_today(entry: dict[str, Any], manifest: dict[str, Any]) -> set[str]:
    """Keys a run of now would have, on a CPU and on a GPU."""
    from ops.inference.plan import plan_key
    from ops.inference.record import Numerics
    from ops.models import ModelEntry

    model = ModelEntry.model_validate(entry)
    dataset = _Dataset(*(manifest[name] for name in _Dataset._fields))
    devices = ({"dtype": model.precision, "device": device} for device in ("cpu", "cuda"))
    return {plan_key(model, dataset, Numerics.model_validate(device)) for device in devices}


def _unread(inventory: Inventory, model: str, dataset: str) -> dict[str, str]:
    found = {}
    if inventory.is_unreadable(paths.model(model)):
        found[_NO_MODEL] = "the model's entry cannot be read: register it again"
    if inventory.is_unreadable(paths.manifest(dataset)):
        found[_NO_DATASET] = "the dataset's manifest cannot be read: build it again"
    return found


def _today(entry: dict[str, Any], run: Run) -> tuple[str, str, str | None]:
    """Code version, key and class map this run would have with the model's entry of now."""
    # Imports torch; only roots with runs have to wait for it.
    from ops.inference.plan import CODE_VERSION, class_map_sha256, plan_key
    from ops.inference.record import Numerics
    from ops.models import ModelEntry

    numerics = Numerics.model_validate({**run.numerics, "dtype": entry["precision"]})
    model = ModelEntry.model_validate(entry)
    parameters = {"cropped": run.cropped}
    dataset = _Dataset(run.dataset, run.dataset_version, run.label_space, run.mask, parameters)
    return CODE_VERSION, plan_key(model, dataset, numerics), class_map_sha256(model)
