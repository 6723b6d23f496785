"""The columns of a predictions file, and how files of an older release are shown."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from evaluation_parts import add_model, seal, table_of

from ops.catalog import Catalog
from ops.inference import PREDICTIONS, evaluate
from ops.inference.schema import upgraded
from ops.storage import Root

NAME = "imagenetv2/matched_frequency"


def of_schema_1(table: pa.Table) -> pa.Table:
    """The same rows as the first release wrote them."""
    for name in ("flipped", "top5_distance", "zipf_distance"):
        table = table.drop_columns(name)
    largest = pa.array([row and row[0] for row in table["top5_logit"].to_pylist()], pa.float32())
    at = table.column_names.index("logsumexp")
    return table.add_column(at, pa.field("max_logit", pa.float32()), largest)


def test_rows_of_the_first_release_are_shown_with_the_columns_of_today(
    root: Root, catalog: Catalog
) -> None:
    seal(root)
    add_model(root)
    table = table_of(root, evaluate(root, catalog, "pooled", NAME))
    old = of_schema_1(table)
    assert old.schema != PREDICTIONS
    assert "max_logit" in old.column_names
    path = root.local_path("old.parquet")
    pq.write_table(old, path)
    again = upgraded(pq.read_table(path))
    assert again.schema.equals(PREDICTIONS)
    assert again.equals(table.replace_schema_metadata(None))


def test_rows_of_a_sequence_of_the_first_release_do_not_claim_that_nothing_flipped() -> None:
    old = pa.table({"sample_key": ["a/frame_00", "a/frame_01"], "frame_offset": [0, 1]})
    rows = upgraded(old).to_pylist()
    assert [row["frame_offset"] for row in rows] == [0, 1]
    for name in ("flipped", "top5_distance", "zipf_distance"):
        assert [row[name] for row in rows] == [None, None]


def test_rows_of_today_are_not_copied() -> None:
    table = PREDICTIONS.empty_table()
    assert upgraded(table) is table
