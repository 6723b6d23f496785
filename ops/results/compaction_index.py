"""``compacted/``: what :mod:`ops.results.compaction` noted, so that no seal need be opened.

It holds nothing that is not elsewhere: deleting the folder loses nothing. Two files make the
index, of which the second is named by the first, so that they are always of one compaction:

``index.parquet``
    A row a model: how its folder looked, and what in it is not sealed.
``runs-<digest>.parquet``
    A row a sealed run: its seal, why it was stale then, and the files its rows were merged into.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from ops.inference.failure import Failure
from ops.inference.schema import SCHEMA_VERSION
from ops.results.columns import columns
from ops.results.runs import RUN, Run
from ops.storage import Root, paths

_PART = pa.struct([("name", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])

# Besides the run: why it was stale when it was noted, empty if it was not, NULL if it is not
# known; and the files with its rows, NULL where only its own have them.
INDEXED = pa.schema([*RUN, ("reason", pa.string()), ("parts", pa.list_(_PART))])

_MODELS = columns(
    model=pa.string(),
    stamp=pa.string(),
    folders=pa.list_(pa.string()),
    shards=pa.string(),
    failures=pa.string(),
    # Digest of the model's entry that the reasons were found with.
    entry=pa.string(),
)
_INDEX = paths.compacted("index.parquet")
_RUNS = b"shiftlake.runs"
_CODE = b"shiftlake.code"
_DATASETS = b"shiftlake.datasets"

# Raised when what a merged file holds changes.
_FORM = "1"


@dataclass
class Unfinished:
    """What is not sealed of one model.

    Parameters
    ----------
    shards : dict
        Finished shards by dataset and key.
    failures : dict
        Why the last try failed, by dataset and key.
    """

    shards: dict[tuple[str, str], int] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexedModel:
    """How the folder of a model looked when it was noted.

    Parameters
    ----------
    stamp : str
        Of :func:`ops.storage.stamp.times_of` these `folders`, or the tags of a remote listing.
    folders : tuple of str
    unfinished : Unfinished
    entry : str
        Digest of the model's entry then.
    """

    stamp: str
    folders: tuple[str, ...]
    unfinished: Unfinished
    entry: str


@dataclass(frozen=True)
class Index:
    """What was noted of all models.

    Parameters
    ----------
    models : dict of str to IndexedModel
    data : bytes
        The file of the runs.
    files : tuple of str
        The paths of the index itself.
    code : str
        Digest of the code that found out why runs are stale.
    datasets : dict of str to str
        The version of each sealed dataset then.
    """

    models: dict[str, IndexedModel]
    data: bytes = b""
    files: tuple[str, ...] = ()
    code: str = ""
    datasets: dict[str, str] = field(default_factory=dict)

    @cached_property
    def runs(self) -> pa.Table:
        """Every run noted, of the columns `INDEXED`, by model, dataset and run id."""
        if not self.data:
            return INDEXED.empty_table()
        return _read_table(self.data)

    def runs_of(self, models: Collection[str]) -> pa.Table:
        """The runs of some models, in the same order."""
        if len(models) == len(self.models):
            return self.runs
        wanted = pa.array(sorted(models), pa.string())
        return self.runs.filter(pc.is_in(self.runs["model"], wanted))

    def parts_of(self, models: Collection[str]) -> dict[str, list[dict[str, Any]]]:
        """Files with the merged rows of runs of some models, by :func:`parts_name`."""
        noted = self.runs_of(frozenset(models) & self.models.keys())["parts"].to_pylist()
        return {parts[0]["name"].rpartition("-")[0]: parts for parts in noted if parts}


EMPTY = Index({})


def parts_name(run: Run) -> str:
    """Path without its number of the files with a run's rows, named by what they are made of."""
    return paths.compacted(f"{run.model}/{run.dataset}/{run.run_id}-{_made_of(run)}")


def entry_digest(entry: dict[str, Any] | None) -> str:
    """16 hex digits that stand for a model's entry; empty where there is none."""
    if entry is None:
        return ""
    return _digest(json.dumps(entry, sort_keys=True).encode())


def read_index(root: Root) -> Index:
    """The stored index; an empty one where there is none that can be read."""
    try:
        table = _read_table(root.read_bytes(_INDEX))
        noted = table.schema.metadata or {}
        if not table.schema.equals(_MODELS):
            return EMPTY
        data = root.read_bytes(paths.compacted(noted[_RUNS].decode()))
        schema = pq.read_schema(pa.BufferReader(data))
        # A cache that is cut or another's is no loss.
        if not schema.equals(INDEXED) or _runs_name(data) != noted[_RUNS].decode():
            return EMPTY
        models = {row["model"]: _indexed(row) for row in table.to_pylist()}
        files = (_INDEX, paths.compacted(noted[_RUNS].decode()))
        return Index(models, data, files, noted[_CODE].decode(), json.loads(noted[_DATASETS]))
    except (OSError, KeyError, ValueError, pa.ArrowException, ValidationError):
        return EMPTY


def write_index(
    root: Root,
    models: dict[str, IndexedModel],
    runs: pa.Table,
    code: str,
    datasets: dict[str, str],
) -> list[str]:
    """Publish an index in place of the last one; return the files it is made of."""
    data = _table_bytes(runs.cast(INDEXED))
    name = _runs_name(data)
    rows = [
        {
            "model": model,
            "stamp": noted.stamp,
            "folders": noted.folders,
            "shards": json.dumps([[*cell, n] for cell, n in noted.unfinished.shards.items()]),
            "failures": json.dumps(
                [
                    [*cell, f.model_dump(mode="json")]
                    for cell, f in noted.unfinished.failures.items()
                ]
            ),
            "entry": noted.entry,
        }
        for model, noted in sorted(models.items())
    ]
    footer = {_RUNS: name.encode(), _CODE: code.encode(), _DATASETS: json.dumps(datasets).encode()}
    index = _table_bytes(pa.Table.from_pylist(rows, _MODELS).replace_schema_metadata(footer))
    root.write_bytes(paths.compacted(name), data)
    root.write_bytes(_INDEX, index)
    return [_INDEX, paths.compacted(name)]


def _indexed(row: dict[str, Any]) -> IndexedModel:
    unfinished = Unfinished(
        {(dataset, key): shards for dataset, key, shards in json.loads(row["shards"])},
        {
            (dataset, key): Failure.model_validate(failure)
            for dataset, key, failure in json.loads(row["failures"])
        },
    )
    return IndexedModel(row["stamp"], tuple(row["folders"]), unfinished, row["entry"])


def _made_of(run: Run) -> str:
    files = [(file.name, file.rows, file.sha256) for file in run.files]
    return _digest(json.dumps([_FORM, SCHEMA_VERSION, run.schema_version, files]).encode())


def _runs_name(data: bytes) -> str:
    return f"runs-{_digest(data)}.parquet"


def _read_table(data: bytes) -> pa.Table:
    # Threads of Arrow that read a Python buffer can outlive the interpreter.
    return pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)


def _table_bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
