"""Cells, a model on a dataset each, one after the other: one that fails stops no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference.evaluation import evaluate
from ops.inference.failure import as_error
from ops.inference.plan import Device
from ops.inference.record import RunRecord
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
            )
        except Exception as error:
            failed = FailedCell(dataset, as_error(error, f"{model} on {dataset}"))
            _forget(failed.error)
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


def _forget(error: BaseException) -> None:
    """Free what the frames of an error hold: the network, and a batch of activations."""
    seen: BaseException | None = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__
    # Does nothing where no GPU was used.
    torch.cuda.empty_cache()
