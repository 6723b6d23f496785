"""Verified bytes and the root: publishing them, taking in a copy that stands, finding them here."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ops.catalog import SourceFile
from ops.fetch import hashing
from ops.fetch.expected import by_catalog
from ops.fetch.partial import folder_in
from ops.fetch.receipt import Receipt, issue, read_receipt, write_receipt
from ops.storage import Root


def publish(root: Root, file: SourceFile, local: Path, receipt: Receipt) -> Receipt:
    """Move a verified local file under the root, then write its receipt.

    On a remote root the local bytes stay in scratch, for :func:`local_source`.
    """
    if not root.is_local:
        kept = _kept(root, receipt)
        kept.parent.mkdir(exist_ok=True)
        kept.unlink(missing_ok=True)
        # A file system without hard links costs a second transfer later, nothing else.
        with suppress(OSError):
            os.link(local, kept)
    root.publish(local, file.path)
    return write_receipt(root, file, receipt)


def local_source(root: Root, file: SourceFile) -> Path:
    """A path on this machine with the content of a fetched file.

    On a local root that is the file itself. On a remote one it is the verified download, as long
    as scratch still has it; otherwise a copy is brought from the root.

    Raises
    ------
    FileNotFoundError
        If the file was never fetched.
    """
    if not root.is_local and (receipt := read_receipt(root, file)):
        kept = _kept(root, receipt)
        if kept.exists() and kept.stat().st_size == receipt.bytes:
            return kept
    return root.local_copy(file.path)


def drop_local(root: Root, file: SourceFile) -> None:
    """Free the scratch space of a fetched file on a remote root.

    :func:`local_source` brings it from the root again. On a local root there is nothing to free.
    """
    if not root.is_local and (receipt := read_receipt(root, file)):
        _kept(root, receipt).unlink(missing_ok=True)
        root.drop_copy(file.path)


def adopt(root: Root, file: SourceFile, log: Callable[[str], None]) -> Receipt | None:
    """A receipt for a copy that stands without one, where a known hash proves it."""
    expected, size = by_catalog(file), root.size(file.path)
    if size is None or expected.size not in (None, size) or not expected.checks(expected.kinds):
        return None
    log(f"{file.name}: a copy without a fitting receipt is there; hashing it")
    with root.open(file.path) as stream:
        digests = hashing.of_file(stream, expected.kinds)
    if expected.problem(size, digests):
        return None
    return write_receipt(root, file, issue(file, None, size, digests, expected, attempts=0))


def _kept(root: Root, receipt: Receipt) -> Path:
    return folder_in(root.scratch()) / "verified" / f"{receipt.sha256[:32]}-{receipt.name}"
