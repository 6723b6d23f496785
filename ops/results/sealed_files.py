"""A read-only filesystem that holds the sealed Parquet files of the current runs, and no other.

DuckDB reads predictions through it, and the tables. It has three purposes: nothing a statement
does can write below the root or read anything else, a local and an ``s3://`` root look alike, and
what no statement asks for is never worked out.
"""

from __future__ import annotations

import fnmatch
import io
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from glob import has_magic
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec import AbstractFileSystem
from fsspec.utils import glob_translate

from ops.inference.schema import PREDICTIONS, SCHEMA_VERSION
from ops.results.compaction_rows import whole_parts
from ops.results.currency import Judged
from ops.results.shared_file import SharedFile
from ops.results.upgraded_files import upgraded_copy
from ops.storage import Root

PROTOCOL = "shiftlake"
FOLDERS = ("predictions", "tables")

# Sorts before every real file: DuckDB takes the columns from the first file, so that an empty
# root has an empty view with the right columns.
_EMPTY = "predictions/model=_/benchmark=_/condition=_/stale=false/run_id=_/empty.parquet"

# What the view asks for, of which DuckDB then drops what it can.
_ALL = ("predictions/**/*.parquet", "predictions/**")

# Gives the content of one file, or where it lies on this machine.
Source = Callable[[], bytes | Path]
Sources = Mapping[str, Source]


class SealedFiles(AbstractFileSystem):  # type: ignore[misc]
    """Files named by what they hold, ``predictions/model=<m>/benchmark=<b>/...``.

    Beside them lies ``tables/<name>.parquet`` for each table.
    """

    protocol = PROTOCOL
    cachable = False

    # fsspec hashes the text of all arguments, so the many files are no argument.
    def __init__(self) -> None:
        super().__init__()
        self._predictions: Callable[[], Sources] = dict
        self._tables: Sources = {}
        self._held: Sources | None = None
        self._found: dict[str, tuple[str | bytes, int]] = {}
        # DuckDB's threads ask at once, and each thing is worked out once.
        self._lock = RLock()

    def hold(self, predictions: Callable[[], Sources], tables: Sources) -> None:
        """Set the files.

        Parameters
        ----------
        predictions : callable
            Gives the files of predictions by name, and is asked once, when first needed.
        tables : mapping of str to callable
            Gives each table by its name.
        """
        self._predictions, self._tables = predictions, tables

    def glob(self, path: str, **_: Any) -> list[str]:
        """The files that a pattern names.

        Raises
        ------
        FileNotFoundError
            If it is no pattern, and no file either.
        """
        name = self._name(path)
        if name.startswith("tables/"):
            return fnmatch.filter([f"tables/{table}.parquet" for table in self._tables], name)
        if name in _ALL:
            return [_EMPTY, *self._files()]
        try:
            pattern = re.compile(glob_translate(name))
        except ValueError:
            return []
        found = [file for file in (_EMPTY, *self._files()) if pattern.fullmatch(file)]
        if not found and not has_magic(name):
            raise FileNotFoundError(name)
        return found

    def exists(self, path: str, **_: Any) -> bool:
        """Whether the file is one of those that are held."""
        name = self._name(path)
        return name == _EMPTY or self._table(name) in self._tables or name in self._files()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name, size in bytes and type of one file."""
        return {"name": path, "size": self._content(self._name(path))[1], "type": "file"}

    def modified(self, path: str) -> datetime:
        """A fixed time: sealed files never change."""
        return datetime(2000, 1, 1, tzinfo=UTC)

    def open(self, path: str, mode: str = "rb", **_: Any) -> io.RawIOBase:
        """Open one file for reading.

        Raises
        ------
        PermissionError
            For any mode that writes.
        """
        if mode != "rb":
            raise PermissionError("Results are read-only: nothing can be written here.")
        return SharedFile(*self._content(self._name(path)))

    def _files(self) -> Sources:
        if self._held is None:
            with self._lock:
                if self._held is None:
                    self._held = self._predictions()
        return self._held

    def _content(self, name: str) -> tuple[str | bytes, int]:
        """What a file holds, or where it lies on this machine, and its size."""
        # Asked several times for each of thousands of files: the lock is for the first time.
        known = self._found.get(name)
        if known is not None:
            return known
        with self._lock:
            if name not in self._found:
                source = self._tables.get(self._table(name)) or self._files().get(name)
                if source is None and name != _EMPTY:
                    raise FileNotFoundError(name)
                # A remote file is checked and fetched once a connection, not on every read.
                content = _empty_file() if source is None else source()
                if isinstance(content, bytes):
                    self._found[name] = content, len(content)
                else:
                    self._found[name] = str(content), content.stat().st_size
            return self._found[name]

    def _name(self, path: str) -> str:
        return path.removeprefix(f"{PROTOCOL}://")

    def _table(self, name: str) -> str:
        folder, _, file = name.partition("/")
        return file.removesuffix(".parquet") if folder == "tables" else ""


def prediction_files(root: Root, judged: Judged) -> dict[str, Source]:
    """The files with the rows of current runs, by the name they have in the filesystem.

    Those of a run are the ones it was merged into, where they are there with the size that was
    noted; otherwise its own.
    """
    now = pa.array(judged.current, pa.bool_())
    table = judged.table.append_column(
        "stale", pc.not_equal(pa.array(judged.reasons, pa.string()), "")
    )
    table = table.filter(now)
    parts = whole_parts(root, table)
    keys = ("model", "benchmark", "condition", "stale", "run_id")
    rows = zip(*(table[key].to_pylist() for key in keys), strict=True)
    folders = [_folder(dict(zip(keys, row, strict=True))) for row in rows]
    found: dict[str, Source] = {}
    for folder, own in zip(folders, parts, strict=True):
        for number, part in enumerate(own or ()):
            found[f"{folder}/{number}.parquet"] = partial(root.local_copy, part["name"])
    rest = [i for i, own in enumerate(parts) if not own]
    for i, row in zip(
        rest,
        table.select(["folder", "schema_version", "files"])
        .take(pa.array(rest, pa.int64()))
        .to_pylist(),
        strict=True,
    ):
        for file in row["files"]:
            path = f"{row['folder']}/{file['name']}"
            source = partial(root.local_copy, path)
            if row["schema_version"] != SCHEMA_VERSION:
                source = partial(upgraded_copy, root, path, file["sha256"])
            found[f"{folders[i]}/{_quoted(file['name'])}"] = source
    return found


def _folder(keys: dict[str, Any]) -> str:
    named = {key: str(value).lower() if key == "stale" else value for key, value in keys.items()}
    return "/".join(["predictions", *(f"{key}={_quoted(value)}" for key, value in named.items())])


@lru_cache(maxsize=1 << 14)
def _quoted(text: str) -> str:
    return quote(text, safe="")


@cache
def _empty_file() -> bytes:
    return parquet_bytes(PREDICTIONS.empty_table())


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as DuckDB reads it through the filesystem; nothing is stored."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="none")
    return buffer.getvalue()
