"""The columns of a predictions file. One file holds one shard, sorted by `sample_key`."""

from __future__ import annotations

import pyarrow as pa

# Raise it when columns change; `upgraded` is then taught the older files.
SCHEMA_VERSION = "2"

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
        # Highest first, ties by index; only classes that have a logit. `top5_logit[1]` is the
        # largest logit of all.
        ("top5_idx", pa.list_(pa.int16())),
        ("top5_logit", pa.list_(pa.float32())),
        # Softmax, or for a model of independent outputs the sigmoid of the largest logit.
        ("p_max", pa.float32()),
        ("p_max_masked", pa.float32()),
        ("logsumexp", pa.float32()),
        # In nats; of independent outputs the sum over the classes.
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
        # Of a frame of a sequence against its reference frame, which is the first or the previous
        # one; NULL where there is none. A frame that cannot be read agrees with no other.
        ("flipped", pa.bool_()),
        ("top5_distance", pa.int8()),
        ("zipf_distance", pa.float32()),
        # "ok" or "decode_error", and then `error` is the reason and no prediction is given.
        ("status", pa.string()),
        ("error", pa.string()),
    ]
)


def upgraded(table: pa.Table) -> pa.Table:
    """Rows of an older schema with the columns of today, in today's order.

    Parameters
    ----------
    table : pyarrow.Table
        As read from a predictions file of any schema version.

    Returns
    -------
    pyarrow.Table
        Of the schema `PREDICTIONS`. Columns that the file has not are NULL; those that are no
        longer kept are left out. The same table where it is of today's schema.
    """
    if table.schema.equals(PREDICTIONS):
        return table
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in PREDICTIONS
    ]
    return pa.Table.from_arrays(columns, schema=PREDICTIONS)
