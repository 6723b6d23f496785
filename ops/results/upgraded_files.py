"""Predictions files of an older schema as files of today's, converted once and kept in scratch."""

from __future__ import annotations

import hashlib
import os
import tempfile
import uuid
from pathlib import Path

import pyarrow.parquet as pq

from ops.inference.parquet import write_rows
from ops.inference.schema import SCHEMA_VERSION, upgraded
from ops.storage import Root


def upgraded_copy(root: Root, path: str, sha256: str) -> Path:
    """A file on this machine with the rows of `path` and the columns of today.

    Parameters
    ----------
    root : Root
    path : str
        Below the root.
    sha256 : str
        Of its content, as sealed; may be empty in records of the oldest releases.
    """
    tag = f"{SCHEMA_VERSION} {root.url} {path} {sha256 or root.modified(path)}"
    name = f"upgraded-{hashlib.sha256(tag.encode()).hexdigest()[:32]}.parquet"
    copy = local_folder(root) / name
    if not copy.exists():
        table = pq.ParquetFile(root.local_copy(path), pre_buffer=False).read(use_threads=False)
        partial = copy.with_name(f"{name}.{uuid.uuid4().hex[:8]}.part")
        with partial.open("wb") as file:
            write_rows(upgraded(table), file)
        partial.replace(copy)
    return copy


def local_folder(root: Root) -> Path:
    """Scratch of a root, or the system's where nothing may be written there."""
    # Looking into a root that does not exist, or on a read-only disk, must not write there.
    if not root.is_local or os.access(root.url, os.W_OK):
        return root.scratch()
    return Path(tempfile.gettempdir())
