"""Rows of a batch: what a sample is, joined to what is kept of its logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ops.errors import ShiftlakeError
from ops.inference.batches import Batch
from ops.inference.expected import frames, row_key
from ops.inference.projection import Projection
from ops.inference.schema import PREDICTIONS
from ops.inference.scores import Logits, Summary, ranks, summarise, top
from ops.models import ModelEntry
from ops.shards import Manifest

_MASK_VALUES = ("pred", "p_max", "max_logit", "logsumexp")


class RowMaker:
    """Makes the rows of one evaluation.

    Parameters
    ----------
    key : str
        The result key.
    entry : ModelEntry
        The model.
    manifest : Manifest
        The dataset.
    projection : Projection
        From outputs to the dataset's logits.
    """

    def __init__(
        self, key: str, entry: ModelEntry, manifest: Manifest, projection: Projection
    ) -> None:
        self._projection = projection
        self._frames = frames(manifest)
        self._constant = {
            "run_id": key,
            "model": entry.name,
            "benchmark": manifest.benchmark,
            "condition": manifest.condition,
            "dataset_version": manifest.version,
        }

    def rows(self, batch: Batch, outputs: Logits) -> pa.RecordBatch:
        """Rows of a batch, in its order, the frames of a sequence one after the other.

        Parameters
        ----------
        batch : Batch
            Samples and why some cannot be decoded.
        outputs : float32 array, shape (rows, outputs)
            The model's outputs; those of images that cannot be decoded are ignored.

        Returns
        -------
        pyarrow.RecordBatch
            Of the schema `PREDICTIONS`.

        Raises
        ------
        ShiftlakeError
            If an output is not finite.
        """
        columns = self._identity(batch)
        ok = np.array([reason is None for reason in columns["error"]], dtype=bool)
        self._refuse_not_finite(batch.shard.name, columns["sample_key"], outputs, ok)
        if not ok.all():
            # What a model says about a black image stands in no row, and may be no number.
            outputs = np.where(ok[:, None], outputs, np.float32(0))
        columns["status"] = ["ok" if good else "decode_error" for good in ok]
        for name, value in {**self._constant, "shard": batch.shard.name}.items():
            columns[name] = [value] * len(ok)
        columns.update(self._scores(self._projection(outputs), columns["labels"], ok))
        return pa.RecordBatch.from_pydict(columns, schema=PREDICTIONS)

    def _identity(self, batch: Batch) -> dict[str, list[Any]]:
        """What each row is about, and why it cannot be predicted."""
        columns: dict[str, list[Any]] = {
            "sample_key": [sample.key for sample in batch.samples],
            "source_key": [s.meta.get("source_key", s.key) for s in batch.samples],
            "labels": [[int(label) for label in s.meta.get("labels", [])] for s in batch.samples],
            "frame_set": [sample.meta.get("frame_set") for sample in batch.samples],
            "frame_offset": [sample.meta.get("frame_offset") for sample in batch.samples],
            "error": list(batch.errors),
        }
        if self._frames is None:
            return columns
        keys, each = columns["sample_key"], range(self._frames)
        columns = {name: [v for v in values for _ in each] for name, values in columns.items()}
        columns["frame_set"] = columns["sample_key"]
        columns["frame_offset"] = [frame for _ in keys for frame in each]
        columns["sample_key"] = [row_key(key, frame) for key in keys for frame in each]
        return columns

    def _scores(
        self, logits: Logits, labels: list[list[int]], ok: np.ndarray[Any, np.dtype[np.bool_]]
    ) -> dict[str, list[Any]]:
        whole = summarise(logits)
        masked = {name: summarise(logits, cls) for name, cls in self._projection.masks.items()}
        own = masked.get(self._projection.mask or "")
        indices, values = top(logits)
        found: dict[str, list[Any]] = {
            "pred": _kept(whole.pred, ok),
            "top5_idx": [row if good else None for row, good in zip(indices, ok, strict=True)],
            "top5_logit": [row if good else None for row, good in zip(values, ok, strict=True)],
            "p_max": _kept(whole.p_max, ok),
            "max_logit": _kept(whole.max_logit, ok),
            "logsumexp": _kept(whole.logsumexp, ok),
            "entropy": _kept(whole.entropy, ok),
            "rank_of_label": [
                rank if good else None for rank, good in zip(ranks(logits, labels), ok, strict=True)
            ],
            "pred_masked": [None] * len(labels) if own is None else _kept(own.pred, ok),
            "p_max_masked": [None] * len(labels) if own is None else _kept(own.p_max, ok),
            "masks": _mask_structs(masked, ok),
        }
        found["correct"] = _correct(labels, [[int(pred)] for pred in whole.pred], ok)
        found["correct5"] = _correct(labels, indices, ok)
        found["correct_masked"] = (
            [None] * len(labels)
            if own is None
            else _correct(labels, [[int(pred)] for pred in own.pred], ok)
        )
        return found

    def _refuse_not_finite(
        self, shard: str, keys: list[str], outputs: Logits, ok: np.ndarray[Any, np.dtype[np.bool_]]
    ) -> None:
        bad = np.flatnonzero(~np.isfinite(outputs).all(axis=1) & ok)
        if len(bad):
            raise ShiftlakeError(
                "The model returned logits that are no finite numbers.",
                expected="finite logits for every image",
                found=f"NaN or infinity for {len(bad)} images, first {keys[bad[0]]}",
                where=f"{self._constant['model']} on {shard}",
                remedy="register it with precision fp32 or bf16: fp16 overflows above 65504",
            )


def _kept(values: np.ndarray[Any, Any], ok: np.ndarray[Any, np.dtype[np.bool_]]) -> list[Any]:
    return [value if good else None for value, good in zip(values.tolist(), ok, strict=True)]


def _correct(
    labels: list[list[int]], chosen: list[list[int]], ok: np.ndarray[Any, np.dtype[np.bool_]]
) -> list[bool | None]:
    return [
        bool(good and not set(accepted).isdisjoint(row)) if accepted else None
        for accepted, row, good in zip(labels, chosen, ok, strict=True)
    ]


def _mask_structs(
    masked: dict[str, Summary], ok: np.ndarray[Any, np.dtype[np.bool_]]
) -> list[list[dict[str, Any]]]:
    # An image that cannot be decoded keeps its masks, so that unnesting them loses no sample.
    structs: list[list[dict[str, Any]]] = [[] for _ in ok]
    for name, summary in masked.items():
        columns = [_kept(getattr(summary, value), ok) for value in _MASK_VALUES]
        for row, *values in zip(structs, *columns, strict=True):
            row.append({"mask": name, **dict(zip(_MASK_VALUES, values, strict=True))})
    return structs
