"""Columns of a table, written as keyword arguments."""

from __future__ import annotations

import pyarrow as pa


def columns(**types: pa.DataType) -> pa.Schema:
    """Arrow schema with the columns in the order they are written."""
    return pa.schema(types)
