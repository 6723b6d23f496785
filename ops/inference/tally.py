"""What the stored rows of a finished evaluation add up to, read from the files themselves."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ops.errors import ShiftlakeError
from ops.inference.plan import plan_key, plan_numerics
from ops.inference.record import RunRecord, read_run
from ops.models import ModelEntry
from ops.shards import Manifest
from ops.storage import Root, paths


@dataclass(frozen=True)
class Tally:
    """Counts over all files of one evaluation.

    Attributes
    ----------
    rows, keys, seen : int
        Rows; different sample keys; rows with a prediction.
    """

    rows: int
    keys: int
    seen: int


def tally(root: Root, record: RunRecord) -> Tally:
    """Count the rows of an evaluation; a missing or unreadable file counts as none."""
    folder = paths.run(record.model, record.dataset, record.key)
    keys: list[pa.Array] = []
    seen = 0
    for file in record.files:
        rel = f"{folder}/{file.name}"
        try:
            table = pq.read_table(
                root.local_copy(rel), columns=["sample_key", "status"], use_threads=False
            )
        except (OSError, ValueError):
            continue
        keys += table["sample_key"].chunks
        seen += pc.sum(pc.equal(table["status"], "ok")).as_py() or 0
    # Millions of keys, where samples are sequences: strings of Python would take gigabytes.
    column = pa.chunked_array(keys, pa.string())
    return Tally(len(column), pc.count_distinct(column).as_py(), seen)


def current_run(root: Root, entry: ModelEntry, manifest: Manifest) -> RunRecord | None:
    """The finished evaluation of a model and a dataset as both stand now; None if there is none.

    An evaluation on a CPU and one on a GPU are different results; of two, the newer one.
    """
    found: list[RunRecord] = []
    numerics = plan_numerics(entry, "cpu")
    for device in ("cpu", "cuda"):
        key = plan_key(entry, manifest, numerics.model_copy(update={"device": device}))
        try:
            record = read_run(root, entry.name, manifest.name, key)
        except ShiftlakeError:
            # A damaged record seals nothing.
            continue
        if record is not None:
            found.append(record)
    return max(found, key=lambda record: record.ended_at, default=None)
