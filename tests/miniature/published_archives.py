"""A plain way to open a published archive, independent of the project's own readers."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable

Open = Callable[[str, str], dict[str, bytes]]


def unpack(raw: bytes) -> dict[str, bytes]:
    """Files of an archive in stored order, whatever its compression."""
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
