"""Which run of a model on a dataset counts, and why it may be stale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from ops.catalog import classes
from ops.results.compaction_index import entry_digest
from ops.results.inventory import Inventory
from ops.results.runs import Run, runs_of
from ops.storage import paths

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ops.inference.record import Numerics


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


@dataclass(frozen=True)
class Judged:
    """Every sealed run with its standing, as columns.

    Parameters
    ----------
    table : pyarrow.Table
        The inventory's, of the columns `INDEXED`.
    current : list of bool
        Whether it is its model's current run on its dataset.
    reasons : list of str
        What changed since, joined by ``; ``; empty where nothing has.
    """

    table: pa.Table
    current: list[bool]
    reasons: list[str]

    @cached_property
    def fresh(self) -> frozenset[tuple[str, str]]:
        """Model and run id of the current runs that are not stale."""
        names = zip(*(self.table[name].to_pylist() for name in ("model", "run_id")), strict=True)
        return frozenset(
            pair
            for pair, current, reason in zip(names, self.current, self.reasons, strict=True)
            if current and not reason
        )


def judge(inventory: Inventory) -> Judged:
    """Find out which runs count, and which are stale.

    The current run of a model on a dataset is the newest that agrees with the model's entry,
    the dataset's manifest and the code; where none agrees, the newest, flagged stale.
    """
    table = inventory.table
    columns = {
        name: table[name].to_pylist()
        for name in ("model", "dataset", "run_id", "ended_at", "reason")
    }
    reasons: list[str] = columns["reason"]
    unknown = _unknown(inventory, columns)
    for i, run in zip(unknown, runs_of(table.take(pa.array(unknown, pa.int64()))), strict=True):
        reasons[i] = "; ".join(_reasons(inventory, run))
    best: dict[tuple[str, str], tuple[tuple[bool, str, str], int]] = {}
    pairs = list(zip(columns["model"], columns["dataset"], strict=True))
    for i, (pair, ended, run_id) in enumerate(
        zip(pairs, columns["ended_at"], columns["run_id"], strict=True)
    ):
        rank = (not reasons[i], ended or "", run_id)
        if pair not in best or best[pair][0] < rank:
            best[pair] = rank, i
    current = [False] * len(reasons)
    for _, i in best.values():
        current[i] = True
    return Judged(table, current, reasons)


def standings(inventory: Inventory) -> list[Standing]:
    """Every sealed run with its standing, in the order of the inventory; as :func:`judge`."""
    judged = judge(inventory)
    return [
        Standing(run, current, tuple(reason.split("; ")) if reason else ())
        for run, current, reason in zip(inventory.runs, judged.current, judged.reasons, strict=True)
    ]


def _unknown(inventory: Inventory, columns: dict[str, list[Any]]) -> list[int]:
    """Rows whose reasons were not noted, or of which anything that decides them has changed."""
    index = inventory.index
    if index.code != code_digest():
        return list(range(len(columns["reason"])))
    same_entry = {
        model: entry_digest(inventory.models.get(model)) == noted.entry
        for model, noted in index.models.items()
    }
    same_dataset = {
        name: inventory.manifests.get(name, {}).get("version") == version
        for name, version in index.datasets.items()
    }
    return [
        i
        for i, (model, dataset, reason) in enumerate(
            zip(columns["model"], columns["dataset"], columns["reason"], strict=True)
        )
        if reason is None or not same_entry.get(model) or not same_dataset.get(dataset)
    ]


def _reasons(inventory: Inventory, run: Run) -> tuple[str, ...]:
    entry = inventory.models.get(run.model)
    found = stale_reasons(run, entry, inventory.manifests.get(run.dataset))
    if not found:
        return ()
    # Damage is told as such: the model or dataset has not gone.
    unread = _unread(inventory, run.model, run.dataset)
    return tuple(unread.get(reason, reason) for reason in found)


@cache
def code_digest() -> str:
    """16 hex digits that stand for the code and the class lists that decide what is stale."""
    digest = hashlib.sha256()
    for package in ("ops.inference", "ops.models", "ops.results"):
        for name, content in sorted(_modules(files(package), package)):
            digest.update(name.encode())
            digest.update(content)
    lists = [classes.subset(name) for name in classes.MASKS]
    video = [classes.video(name).ilsvrc_indices for name in classes.VIDEO_LABEL_SPACES]
    digest.update(json.dumps([lists, video]).encode())
    return digest.hexdigest()[:16]


def _modules(package: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for file in package.iterdir():
        within = f"{name}/{file.name}"
        if file.is_dir():
            yield from _modules(file, within)
        elif file.name.endswith(".py"):
            yield within, file.read_bytes()


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
    if (run.weights_sha256 or None) != weights.get("sha256"):
        reasons.append("weights changed")
    if run.transform != entry.get("transform"):
        reasons.append("transform changed")
    for name, now in _NUMERICS.items():
        before, after = run.numerics.get(name), entry.get(now)
        if before is not None and before != after:
            own = "" if name == "dtype" else f"{name} "
            reasons.append(f"numerics changed ({own}{_said(before)} to {_said(after)})")
    if run.head != entry.get("head", "softmax"):
        reasons.append(f"head changed ({run.head} to {entry.get('head')})")
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


# What a run records of its numerics, and the field of the entry that it is taken from.
_NUMERICS = {
    "dtype": "precision",
    "tf32": "tf32",
    "deterministic": "deterministic",
    "compiled": "compiled",
}
_NO_DATASET = "dataset not built here"
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
    from ops.models import ModelEntry

    model = ModelEntry.model_validate(entry)
    dataset = _Dataset(*(manifest[name] for name in _Dataset._fields))
    return {plan_key(model, dataset, _numerics(entry, device)) for device in ("cpu", "cuda")}


def _numerics(entry: dict[str, Any], device: str) -> Numerics:
    from ops.inference.record import Numerics

    own = {name: entry[field] for name, field in _NUMERICS.items() if field in entry}
    return Numerics.model_validate({**own, "device": device})


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unread(inventory: Inventory, model: str, dataset: str) -> dict[str, str]:
    found = {}
    if inventory.is_unreadable(paths.model(model)):
        found[_NO_MODEL] = "the model's entry cannot be read: register it again"
    if inventory.is_unreadable(paths.manifest(dataset)):
        found[_NO_DATASET] = "the dataset's manifest cannot be read: build it again"
    return found


def _today(entry: dict[str, Any], run: Run) -> tuple[str, str, str | None]:
    """Code version, key and class map this run would have with the model's entry of now."""
    from ops.inference.plan import CODE_VERSION, class_map_sha256, plan_key
    from ops.models import ModelEntry

    model = ModelEntry.model_validate(entry)
    numerics = _numerics(entry, str(run.numerics.get("device")))
    parameters = {"cropped": run.cropped}
    dataset = _Dataset(run.dataset, run.dataset_version, run.label_space, run.mask, parameters)
    return CODE_VERSION, plan_key(model, dataset, numerics), class_map_sha256(model)
