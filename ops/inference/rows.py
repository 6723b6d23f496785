"""Rows of a batch: what a sample is, joined to what is kept of its logits.

Columns are made whole, from arrays: a Python object for each value would cost more than the
network on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ops.inference.batches import Batch
from ops.inference.expected import frames, row_key
from ops.inference.failure import ModelFailed, blamed_on_model
from ops.inference.movement import movement
from ops.inference.projection import Projection
from ops.inference.schema import MASK, PREDICTIONS
from ops.inference.scores import (
    NONE,
    Bools,
    Ints,
    Labels,
    Logits,
    Summary,
    accepted,
    ranks,
    summarise,
    top,
)
from ops.models import ModelEntry
from ops.shards import Manifest


class RowMaker:
    """Makes the rows of one evaluation. Threads may share it: it holds nothing of a batch.

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
        self._head = entry.head
        self._precision = entry.precision
        self._frames = frames(manifest)
        self._reference = manifest.parameters.get("reference") if self._frames else None
        self._constant = {
            "run_id": key,
            "model": entry.name,
            "benchmark": manifest.benchmark,
            "condition": manifest.condition,
            "dataset_version": manifest.version,
        }

    def rows(
        self,
        batch: Batch,
        outputs: Logits,
    ) -> pa.RecordBatch:
        """Rows of a batch, in its order, the frames of a sequence one after the other.

        Parameters
        ----------
        batch : Batch
            Samples, sequences whole, and why some cannot be decoded.
        outputs : float32 array, shape (rows, outputs)
            The model's outputs; those of images that cannot be decoded are ignored.

        Returns
        -------
        pyarrow.RecordBatch
            Of the schema `PREDICTIONS`.

        Raises
        ------
        ModelFailed
            If an output is not finite, or there are more or fewer outputs than classes.
        """
        shard = batch.shard.name
        ok = np.array([reason is None for reason in batch.errors], dtype=bool)
        if self._frames is not None:
            ok = ok.repeat(self._frames)
        columns = self._identity(batch)
        self._refuse_not_finite(shard, columns["sample_key"], outputs, ok)
        if not ok.all():
            # What a model says about a black image stands in no row, and may be no number.
            outputs = np.where(ok[:, None], outputs, np.float32(0))
        with blamed_on_model(self._constant["model"], shard, batch.samples[0].key):
            logits = self._projection(outputs)
        columns["status"] = pa.array(np.where(ok, "ok", "decode_error"), pa.string())
        for name, value in {**self._constant, "shard": shard}.items():
            columns[name] = pa.repeat(pa.scalar(value, pa.string()), len(ok))
        columns.update(self._scores(logits, self._labels(batch), ok))
        return pa.RecordBatch.from_arrays(
            [
                columns[field.name] if field.name in columns else pa.nulls(len(ok), field.type)
                for field in PREDICTIONS
            ],
            schema=PREDICTIONS,
        )

    def _labels(self, batch: Batch) -> Labels:
        return Labels.of([s.meta.get("labels", ()) for s in batch.samples], self._frames or 1)

    def _identity(self, batch: Batch) -> dict[str, pa.Array]:
        """What each row is about, and why it cannot be predicted."""
        samples = batch.samples
        keys: list[str] = [sample.key for sample in samples]
        columns = {
            "source_key": pa.array([s.meta.get("source_key", s.key) for s in samples], pa.string()),
            "error": pa.array(batch.errors, pa.string()),
        }
        if self._frames is None:
            return {
                **columns,
                "sample_key": pa.array(keys, pa.string()),
                "frame_set": pa.array([s.meta.get("frame_set") for s in samples], pa.string()),
                "frame_offset": pa.array([s.meta.get("frame_offset") for s in samples], pa.int16()),
            }
        each = pa.array(np.arange(len(samples)).repeat(self._frames))
        columns = {name: values.take(each) for name, values in columns.items()}
        columns["frame_set"] = pa.array(keys, pa.string()).take(each)
        columns["frame_offset"] = pa.array(
            np.tile(np.arange(self._frames, dtype=np.int16), len(samples))
        )
        columns["sample_key"] = pa.array(
            [row_key(key, frame) for key in keys for frame in range(self._frames)], pa.string()
        )
        return columns

    def _scores(
        self,
        logits: Logits,
        labels: Labels,
        ok: Bools,
    ) -> dict[str, pa.Array]:
        head = self._head
        whole = summarise(logits, head=head)
        masked = {
            name: summarise(logits, classes, head)
            for name, classes in self._projection.masks.items()
        }
        own = masked.get(self._projection.mask or "")
        indices, values = top(logits)
        labelled = labels.any
        found = {
            "labels": pa.ListArray.from_arrays(
                labels.offsets.astype(np.int32), _int16(labels.values)
            ),
            "pred": _kept(whole.pred, ok, pa.int16()),
            "top5_idx": _lists(indices, indices != NONE, ok, pa.int16()),
            "top5_logit": _lists(values, indices != NONE, ok, pa.float32()),
            "p_max": _kept(whole.p_max, ok, pa.float32()),
            "logsumexp": _kept(whole.logsumexp, ok, pa.float32()),
            "entropy": _kept(whole.entropy, ok, pa.float32()),
            "rank_of_label": _int16(ranks(logits, labels), ok & labelled),
            "correct": _kept(ok & accepted(labels, whole.pred[:, None]), labelled, pa.bool_()),
            "correct5": _kept(ok & accepted(labels, indices), labelled, pa.bool_()),
            "masks": _mask_structs(masked, ok),
        }
        if own is not None:
            right = ok & accepted(labels, own.pred[:, None])
            found["pred_masked"] = _kept(own.pred, ok, pa.int16())
            found["p_max_masked"] = _kept(own.p_max, ok, pa.float32())
            found["correct_masked"] = _kept(right, labelled, pa.bool_())
        return {**found, **self._movement(logits, indices, ok)}

    def _movement(self, logits: Logits, top5: Ints, ok: Bools) -> dict[str, pa.Array]:
        if self._frames is None or self._reference is None:
            return {}
        moved = movement(logits, top5, ok, self._frames, self._reference)
        return {
            "flipped": _kept(moved.flipped, moved.compared, pa.bool_()),
            "top5_distance": _kept(moved.top5_distance, moved.compared, pa.int8()),
            "zipf_distance": _kept(moved.zipf_distance, moved.both_read, pa.float32()),
        }

    def _refuse_not_finite(self, shard: str, keys: pa.Array, outputs: Logits, ok: Bools) -> None:
        bad = np.flatnonzero(~np.isfinite(outputs).all(axis=1) & ok)
        if len(bad):
            raise ModelFailed(
                "The model returned logits that are no finite numbers.",
                expected="finite logits for every image",
                found=f"NaN or infinity for {len(bad)} images, first {keys[int(bad[0])]}",
                where=f"{self._constant['model']} on {shard}",
                remedy=_finite_again(self._precision),
            )


def _finite_again(precision: str) -> str:
    """What may help against NaN, which only fp16 makes of healthy weights."""
    if precision == "fp16":
        return "register it with precision fp32 or bf16: fp16 overflows above 65504"
    also = "" if precision == "fp32" else "register it with precision fp32; or "
    return f"{also}check its weights, which may be NaN themselves, and its transform's std"


def _kept(values: npt.NDArray[Any], shown: Bools, kind: pa.DataType) -> pa.Array:
    """The values where they are shown, NULL elsewhere."""
    return pa.array(values.astype(kind.to_pandas_dtype()), kind, mask=~shown)


def _int16(values: Ints, shown: Bools | None = None) -> pa.Array:
    # Labels, and the rank of one beyond the classes, are not bounded: what is too large raises.
    return pa.array(values, mask=None if shown is None else ~shown).cast(pa.int16())


def _lists(values: npt.NDArray[Any], there: Bools, ok: Bools, kind: pa.DataType) -> pa.Array:
    """One list a row of the values that are there, NULL where the row is not ok."""
    there = there & ok[:, None]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(there.sum(axis=1), out=offsets[1:])
    flat = values[there].astype(kind.to_pandas_dtype())
    return pa.ListArray.from_arrays(offsets, flat, pa.list_(kind), mask=pa.array(~ok))


def _mask_structs(masked: dict[str, Summary], ok: Bools) -> pa.Array:
    # An image that cannot be decoded keeps its masks, so that unnesting them loses no sample.
    each, shown = len(masked), ok.repeat(len(masked))
    offsets = pa.array(np.arange(len(ok) + 1, dtype=np.int32) * np.int32(each))
    fields: list[pa.Array] = []
    for field in MASK:
        if field.name == "mask":
            names = pa.array(list(masked), pa.string())
            fields.append(names.take(pa.array(np.tile(np.arange(each), len(ok)))))
            continue
        one_a_mask = [getattr(summary, field.name) for summary in masked.values()]
        values = np.stack(one_a_mask, axis=1).reshape(-1) if masked else np.empty(0)
        fields.append(_kept(values, shown, field.type))
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(fields, fields=list(MASK)))
