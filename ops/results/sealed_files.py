"""A read-only filesystem that holds the sealed Parquet files of the current runs, and no other.

DuckDB reads predictions through it. It has two purposes: nothing a statement does can write
below the root or read anything else, and a local and an ``s3://`` root look alike.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
from fsspec import AbstractFileSystem

from ops.results.currency import Standing
from ops.results.shared_file import SharedFile
from ops.storage import Root

PROTOCOL = "shiftlake"

# Sorts before every real file: DuckDB takes the columns from the first file, so that an empty
# root has an empty view with the right columns.
_EMPTY = "predictions/model=_/benchmark=_/condition=_/stale=false/run_id=_/empty.parquet"


class SealedFiles(AbstractFileSystem):  # type: ignore[misc]
    """Files named by what they hold, ``predictions/model=<m>/benchmark=<b>/...``.

    Made with :func:`sealed_files`.
    """

    protocol = PROTOCOL
    cachable = False

    # fsspec hashes the text of all arguments, so the many files are no argument.
    def __init__(self) -> None:
        super().__init__()
        self._root: Root | None = None
        self._stored: dict[str, str] = {}
        self._copies: dict[str, Path] = {}

    def hold(self, root: Root, stored: dict[str, str]) -> None:
        """Set the files: their names here, and their paths below the root."""
        self._root, self._stored = root, stored

    def glob(self, path: str, **_: Any) -> list[str]:
        """All files, whatever the pattern; DuckDB drops those a filter rules out."""
        return [_EMPTY, *self._stored]

    def exists(self, path: str, **_: Any) -> bool:
        """Whether the file is one of the sealed ones."""
        name = self._name(path)
        return name == _EMPTY or name in self._stored

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name, size in bytes and type of one file."""
        name = self._name(path)
        size = len(_empty_file()) if name == _EMPTY else self._local(name).stat().st_size
        return {"name": path, "size": size, "type": "file"}

    def modified(self, path: str) -> datetime:
        """A fixed time: sealed files never change."""
        return datetime(2000, 1, 1, tzinfo=UTC)

    def open(self, path: str, mode: str = "rb", **_: Any) -> io.RawIOBase | io.BytesIO:
        """Open one file for reading.

        Raises
        ------
        PermissionError
            For any mode that writes.
        """
        if mode != "rb":
            raise PermissionError("Results are read-only: nothing can be written here.")
        name = self._name(path)
        if name == _EMPTY:
            return io.BytesIO(_empty_file())
        return SharedFile(self._local(name))

    def _local(self, name: str) -> Path:
        if self._root is None or name not in self._stored:
            raise FileNotFoundError(name)
        if name not in self._copies:
            # A remote file is checked and fetched once a connection, not on every read.
            self._copies[name] = self._root.local_copy(self._stored[name])
        return self._copies[name]

    def _name(self, path: str) -> str:
        return path.removeprefix(f"{PROTOCOL}://")


def sealed_files(root: Root, standings: Iterable[Standing]) -> SealedFiles:
    """The filesystem of a root; only the files of current runs are there."""
    held = SealedFiles()
    held.hold(
        root,
        {
            f"{_folder(standing)}/{quote(file.name, safe='')}": f"{standing.run.folder}/{file.name}"
            for standing in standings
            if standing.current
            for file in standing.run.files
        },
    )
    return held


def _folder(standing: Standing) -> str:
    run = standing.run
    keys = {
        "model": run.model,
        "benchmark": run.benchmark,
        "condition": run.condition,
        "stale": str(standing.stale).lower(),
        "run_id": run.run_id,
    }
    parts = [f"{key}={quote(value, safe='')}" for key, value in keys.items()]
    return "/".join(["predictions", *parts])


@cache
def _empty_file() -> bytes:
    # The package of the schema imports torch, which only the first query has to wait for.
    from ops.inference.schema import PREDICTIONS

    buffer = io.BytesIO()
    pq.write_table(PREDICTIONS.empty_table(), buffer)
    return buffer.getvalue()
