"""A sealed run as its ``run.json`` says, and many of them as columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from ops.results.columns import columns

_FILE = pa.struct(
    [("name", pa.string()), ("rows", pa.int64()), ("sha256", pa.string()), ("bytes", pa.int64())]
)

# One row a run. Its columns are the fields of `Run`, objects as JSON.
RUN = columns(
    folder=pa.string(),
    run_id=pa.string(),
    key=pa.string(),
    model=pa.string(),
    dataset=pa.string(),
    benchmark=pa.string(),
    condition=pa.string(),
    dataset_version=pa.string(),
    weights_sha256=pa.string(),
    reference=pa.string(),
    arguments=pa.string(),
    class_map_sha256=pa.string(),
    model_label_space=pa.string(),
    transform=pa.string(),
    transform_hash=pa.string(),
    protocol=pa.string(),
    cropped=pa.int64(),
    frames=pa.int64(),
    frame_reference=pa.string(),
    numerics=pa.string(),
    code_version=pa.string(),
    schema_version=pa.string(),
    head=pa.string(),
    label_space=pa.string(),
    mask=pa.string(),
    n_expected=pa.int64(),
    n_seen=pa.int64(),
    n_error=pa.int64(),
    started_at=pa.string(),
    ended_at=pa.string(),
    seconds=pa.float64(),
    images_per_second=pa.float64(),
    device_name=pa.string(),
    device_count=pa.int64(),
    batch_size=pa.int64(),
    versions=pa.string(),
    synthetic=pa.bool_(),
    files=pa.list_(_FILE),
    logit_files=pa.list_(_FILE),
)
_OBJECTS = ("arguments", "transform", "numerics", "versions")


class RunFile(BaseModel):
    """One Parquet file of a run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    rows: int
    sha256: str = ""
    bytes: int


class Run(BaseModel):
    """A sealed run, as its ``run.json`` says; `folder` is where it lies below the root."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder: str
    run_id: str
    key: str
    model: str
    dataset: str
    benchmark: str
    condition: str
    dataset_version: str
    weights_sha256: str | None = None
    reference: str | None = None
    arguments: dict[str, Any] | None = None
    class_map_sha256: str | None = None
    model_label_space: str | None = None
    transform: dict[str, Any] = Field(default_factory=dict)
    transform_hash: str | None = None
    protocol: str | None = None
    cropped: int | None = None
    frames: int | None = None
    frame_reference: str | None = None
    numerics: dict[str, Any] = Field(default_factory=dict)
    code_version: str = ""
    schema_version: str = "1"
    head: str = "softmax"
    label_space: str
    mask: str | None
    n_expected: int
    n_seen: int
    n_error: int
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None
    images_per_second: float | None = None
    device_name: str | None = None
    device_count: int | None = None
    batch_size: int | None = None
    versions: dict[str, Any] = Field(default_factory=dict)
    synthetic: bool = False
    files: tuple[RunFile, ...]
    logit_files: tuple[RunFile, ...] = ()


def table_of(runs: Iterable[Run]) -> pa.Table:
    """Runs as columns, in their order."""
    rows = []
    for run in runs:
        row = run.model_dump(mode="json")
        for name in _OBJECTS:
            row[name] = _text(row[name])
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=RUN)


def runs_of(table: pa.Table) -> list[Run]:
    """The runs of a table of the columns `RUN`, and maybe others, in its order."""
    rows = table.select(RUN.names).to_pylist()
    for row in rows:
        for name in _OBJECTS:
            row[name] = None if row[name] is None else json.loads(row[name])
    return [Run.model_validate(row) for row in rows]


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True)
