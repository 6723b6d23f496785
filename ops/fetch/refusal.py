"""A wrong file is never lost and never used: it goes aside, with a note that says why."""

from __future__ import annotations

from pathlib import Path

from ops.catalog import SourceFile
from ops.fetch import hashing
from ops.fetch.receipt import now
from ops.storage import Root, paths


def keep_aside(
    root: Root, file: SourceFile, wrong: Path, *, url: str, expected: str, found: str
) -> str:
    """Move a refused download away from the sources.

    Parameters
    ----------
    wrong : Path
        The local file; gone afterwards.
    url : str
        Where it came from, already without credentials.
    expected, found : str
        The contradiction.

    Returns
    -------
    str
        Path below the root. Beside it stands ``<path>.reason.json``.
    """
    size = wrong.stat().st_size
    with wrong.open("rb") as stream:
        sha256 = hashing.of_file(stream, ("sha256",))["sha256"]
    rel = paths.refused(file.benchmark, file.name, sha256)
    root.publish(wrong, rel)
    root.write_json(
        f"{rel}.reason.json",
        {
            "benchmark": file.benchmark,
            "file": file.id,
            "url": url,
            "expected": expected,
            "found": found,
            "bytes_kept": size,
            "sha256_of_kept": sha256,
            "refused_at": now(),
        },
    )
    return rel
