"""Cells, a model on a dataset each, one after the other: one that fails stops no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference.evaluation import evaluate
from ops.inference.failure import as_error, short_of_memory
from ops.inference.plan import Device
from ops.inference.record import RunRecord
from ops.inference.working import Kept
from ops.storage import Root, open_root


class FailedCell(NamedTuple):
    """A dataset that a model could not be evaluated on, and why."""

    dataset: str
    error: ShiftlakeError


def evaluate_many(
    root: Root | str,
    catalog: Catalog,
    model: str,
    datasets: Iterable[str],
    *,
    batch_size: int | None = None,
    workers: int | None = None,
    device: Device = "auto",
    devices: Sequence[str] | None = None,
    logits: bool = False,
    on_record: Callable[[RunRecord], None] | None = None,
    on_failure: Callable[[FailedCell], None] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> tuple[list[RunRecord], list[FailedCell]]:
    """Evaluate a model on several datasets, each whatever became of the one before.

    The network is built once, and again after a failure. Where CUDA fails in a way that leaves
    the GPU lost to this process, the datasets after that one have a new process each.

    Parameters
    ----------
    root, catalog, batch_size, workers, device, devices, logits, log
        As of :func:`ops.inference.evaluate`.
    model : str
        A registered model.
    datasets : iterable of str
        Names of datasets.
    on_record, on_failure : callable or None
        Called with each record, or failure, as soon as it is there.
    progress : callable or None
        Called as ``progress(dataset, images done, images in all)``.

    Returns
    -------
    (list of RunRecord, list of FailedCell)
        In the order of `datasets`. Every failed cell holds an error in a user's words, whatever
        the model raised; where the evaluation had begun, ``failure.json`` in its folder says the
        same.

    Raises
    ------
    KeyboardInterrupt
        Shards finished before it stay.
    """
    root = open_root(root)
    records, failures = [], []
    kept = Kept()
    for dataset in datasets:
        try:
            record = evaluate(
                root,
                catalog,
                model,
                dataset,
                batch_size=batch_size,
                workers=workers,
                device=device,
                devices=devices,
                logits=logits,
                progress=_of(dataset, progress),
                log=log,
                kept=kept,
            )
        except Exception as error:
            failed = FailedCell(dataset, as_error(error, f"{model} on {dataset}"))
            kept.drop()
            lost = _forget(failed.error) or _gpu_lost(failed.error)
            if lost and devices is None and _gpu_used(device):
                # Nothing more can be computed on a GPU by this process, but by another.
                devices = (f"cuda:{_current_gpu()}",)
            failures.append(failed)
            if on_failure:
                on_failure(failed)
            continue
        records.append(record)
        if on_record:
            on_record(record)
    return records, failures


def _of(
    dataset: str, progress: Callable[[str, int, int], None] | None
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress(dataset, done, total)


def _forget(error: BaseException) -> bool:
    """Free what the frames of an error hold: the network, and a batch of activations.

    Returns whether the GPU can no longer be asked for anything.
    """
    for each in _chain(error):
        traceback.clear_frames(each.__traceback__)
    try:
        # Does nothing where no GPU was used.
        torch.cuda.empty_cache()
    except RuntimeError:
        return True
    return False


def _gpu_lost(error: BaseException) -> bool:
    """Whether an error is one of those after which CUDA refuses everything to a process."""
    for each in _chain(error):
        if short_of_memory(each):
            return False
        if isinstance(each, torch.AcceleratorError):
            return True
        if isinstance(each, RuntimeError) and "CUDA error" in str(each):
            return True
    return False


def _gpu_used(device: Device) -> bool:
    return device != "cpu" and bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _current_gpu() -> int:
    try:
        return torch.cuda.current_device()
    except RuntimeError:
        return 0
