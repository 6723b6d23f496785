"""The record of an evaluation, written last: without it, the evaluation is not finished."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ops.errors import ShiftlakeError
from ops.models.entry import Head, Precision
from ops.storage import Root, paths


class Numerics(BaseModel):
    """What decides the last bits of a logit.

    `dtype` is the autocast type of the forward pass, `device` the kind of device; `tf32` whether a
    GPU may round the factors of float32 products to ten bits of mantissa; `deterministic` whether
    it is held to deterministic algorithms; `compiled` whether the network goes through
    `torch.compile`. All come from the model's entry.
    """

    model_config = ConfigDict(frozen=True)

    dtype: Precision
    device: Literal["cpu", "cuda"]
    tf32: bool = False
    deterministic: bool = True
    compiled: bool = False


class PredictionFile(BaseModel):
    """One Parquet file of an evaluation: the predictions, or the logits, of one shard."""

    model_config = ConfigDict(frozen=True)

    name: str
    rows: int
    sha256: str
    bytes: int


class RunRecord(BaseModel):
    """One finished evaluation of a model on a dataset, stored as ``run.json``.

    ``n_expected = n_seen + n_error``: the rows that are there, those with a prediction, and those
    whose image cannot be decoded. `seconds` and `images_per_second` are of the process that
    finished it, and count only what that process computed. `reference`, `arguments`,
    `class_map_sha256` and `model_label_space` are the model's, None in records of older releases:
    with them the key can be made again, and what changed can be named.

    `protocol` says in words which of the stored pixels the model saw, `cropped` is the side of the
    dataset's squares if it stores such. Of a dataset of sequences, `frames` is the number of rows
    of each, and `frame_reference` the frame that the others are compared with, ``first`` or
    ``previous``.

    `schema_version` is that of the rows' columns, `head` how outputs become probabilities,
    `device_count` how many devices the process that finished used, and `batch_size` what it was
    given; `pass_images` is the most images a forward pass had at the end of it, fewer than the
    batch size where a GPU's memory was short, and None where nothing was left to compute. On a GPU
    the last bits of a row can depend on both, and neither is part of the key. `logit_files` are
    there where logits were asked for, below ``logits/``; a later evaluation that asks for them
    adds them.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    key: str
    model: str
    dataset: str
    benchmark: str
    condition: str
    dataset_version: str
    weights_sha256: str
    reference: str | None = None
    arguments: dict[str, Any] | None = None
    class_map_sha256: str | None = None
    model_label_space: str | None = None
    transform: dict[str, Any]
    transform_hash: str
    protocol: str | None = None
    cropped: int | None = None
    frames: int | None = None
    frame_reference: Literal["first", "previous"] | None = None
    numerics: Numerics
    code_version: str
    schema_version: str = "1"
    head: Head = "softmax"
    label_space: str
    mask: str | None
    n_expected: int
    n_seen: int
    n_error: int
    started_at: str
    ended_at: str
    seconds: float
    images_per_second: float
    device_name: str
    device_count: int = 1
    batch_size: int | None = None
    pass_images: int | None = None
    versions: dict[str, str]
    synthetic: bool
    files: tuple[PredictionFile, ...]
    logit_files: tuple[PredictionFile, ...] = ()


def read_run(root: Root, model: str, dataset: str, key: str) -> RunRecord | None:
    """The record of a finished evaluation, or None where it is not finished.

    Raises
    ------
    ShiftlakeError
        If the record is damaged.
    """
    rel = paths.run_record(model, dataset, key)
    if not root.exists(rel):
        return None
    try:
        return RunRecord.model_validate(root.read_json(rel))
    except ValidationError as error:
        raise ShiftlakeError(
            "The record of an evaluation cannot be read.",
            expected="the fields of a run record",
            found=str(error.errors()[0]),
            where=root.at(rel),
            remedy="remove the file and evaluate again: finished shards stay",
        ) from error
