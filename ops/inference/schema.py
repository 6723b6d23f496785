"""The columns of a predictions file. One file holds one shard, sorted by `sample_key`."""

from __future__ import annotations

import pyarrow as pa

MASK = pa.struct(
    [
        ("mask", pa.string()),
        ("pred", pa.int16()),
        ("p_max", pa.float32()),
        ("max_logit", pa.float32()),
        ("logsumexp", pa.float32()),
    ]
)

PREDICTIONS = pa.schema(
    [
        ("run_id", pa.string()),
        ("model", pa.string()),
        ("benchmark", pa.string()),
        ("condition", pa.string()),
        ("dataset_version", pa.string()),
        ("shard", pa.string()),
        ("sample_key", pa.string()),
        ("source_key", pa.string()),
        # Accepted labels, in the dataset's label space; empty where none is defined.
        ("labels", pa.list_(pa.int16())),
        ("pred", pa.int16()),
        # Restricted to the dataset's own class mask.
        ("pred_masked", pa.int16()),
        # Highest first, ties by index; only classes that have a logit.
        ("top5_idx", pa.list_(pa.int16())),
        ("top5_logit", pa.list_(pa.float32())),
        ("p_max", pa.float32()),
        ("p_max_masked", pa.float32()),
        ("max_logit", pa.float32()),
        ("logsumexp", pa.float32()),
        # In nats.
        ("entropy", pa.float32()),
        # 1 is the top; the best over the accepted labels.
        ("rank_of_label", pa.int16()),
        # NULL where `labels` is empty; false for an image that cannot be decoded.
        ("correct", pa.bool_()),
        ("correct5", pa.bool_()),
        ("correct_masked", pa.bool_()),
        ("masks", pa.list_(MASK)),
        ("frame_set", pa.string()),
        ("frame_offset", pa.int16()),
        # "ok" or "decode_error", and then `error` is the reason and no prediction is given.
        ("status", pa.string()),
        ("error", pa.string()),
    ]
)
