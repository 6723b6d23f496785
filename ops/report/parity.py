"""The parity report: a published set beside the one rendered here, condition by condition.

The published ImageNet-C was drawn from an unseeded generator, so no renderer gives its pixels back
where a corruption is random. What can agree is compared: the distance of the pixels, the size of
the files, and what it means for a model's accuracy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ops import pixels
from ops.metrics import clustered_bootstrap
from ops.results import connect
from ops.results.parity_file import PARITY, write_parity
from ops.shards import Manifest, has_manifest, read_manifest, read_shard
from ops.shards.sample import media_format
from ops.storage import Root, open_root

if TYPE_CHECKING:
    import duckdb

SAMPLE = 256


@dataclass(frozen=True)
class Pixels:
    """Distances between the pictures of two datasets that show the same source images."""

    n_common: int
    n_compared: int
    n_same_size: int
    n_identical: int
    mean_abs_difference: float | None
    psnr_db: float | None
    published_bytes: float | None
    rendered_bytes: float | None


@dataclass(frozen=True)
class Shift:
    """Accuracy of one model on both datasets, over the images they have in common."""

    model: str
    n_paired: int
    published_top1: float
    rendered_top1: float
    top1_shift: float
    ci_lo: float | None
    ci_hi: float | None


def parity_report(
    root: Root | str,
    name: str,
    pairs: Sequence[tuple[str, str]],
    *,
    sample: int = SAMPLE,
    progress: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Compare published datasets with rendered ones, and store the table.

    Parameters
    ----------
    root : Root or str
    name : str
        Of the report, as a rule the benchmark that is rendered; each has a file of its own.
    pairs : sequence of (str, str)
        Published and rendered dataset of the same condition; pairs of which one is not sealed
        are left out.
    sample : int
        Images to compare in each pair, chosen by a hash of their source, or a sixteenth as many
        sequences; all models are compared on all images.
    progress : callable, optional
        Called as ``progress(pairs done, pairs in all)``.

    Returns
    -------
    pyarrow.Table
        Of the schema `PARITY`: a row a condition, times the models that were run on both sets.

    Raises
    ------
    ShiftlakeError
        If a shard is damaged.
    """
    root = open_root(root)
    sealed = [pair for pair in pairs if all(has_manifest(root, name) for name in pair)]
    rows = []
    with connect(root) as connection:
        for done, (published, rendered) in enumerate(sealed):
            first, second = read_manifest(root, published), read_manifest(root, rendered)
            some = sample if first.parameters.get("frames") is None else max(1, sample // 16)
            distances = compare_pixels(root, first, second, sample=some)
            shifts: list[Shift | None] = [*_shifts(connection, first, second)]
            for shift in shifts or [None]:
                rows.append(
                    {
                        "published": published,
                        "rendered": rendered,
                        "condition": first.condition,
                        "published_version": first.version,
                        "rendered_version": second.version,
                        "synthetic": first.synthetic or second.synthetic,
                        **asdict(distances),
                        **(asdict(shift) if shift else {}),
                    }
                )
            if progress:
                progress(done + 1, len(sealed))
    filled = [{name: row.get(name) for name in PARITY.names} for row in rows]
    table = pa.Table.from_pylist(filled, schema=PARITY)
    write_parity(root, name, table)
    return table


def compare_pixels(root: Root, published: Manifest, rendered: Manifest, *, sample: int) -> Pixels:
    """Distances over `sample` images that both datasets have, chosen by a hash of their source.

    PSNR is that of the mean squared error over all compared samples, with a peak of 255.
    """
    first, second = _read(root, published, sample), _read(root, rendered, sample)
    common = first.sources & second.sources
    chosen = sorted(first.files.keys() & second.files.keys(), key=_draw)[:sample]
    absolute = squared = 0.0
    count = same_size = identical = 0
    for key in chosen:
        a, b = _decoded(first.files[key]), _decoded(second.files[key])
        if a is None or b is None or a.shape != b.shape:
            continue
        difference = np.abs(a.astype(np.int32) - b)
        same_size += 1
        identical += not difference.any()
        absolute += float(difference.sum())
        squared += float((difference.astype(np.int64) ** 2).sum())
        count += difference.size
    return Pixels(
        n_common=len(common),
        n_compared=len(chosen),
        n_same_size=same_size,
        n_identical=identical,
        mean_abs_difference=absolute / count if count else None,
        psnr_db=float(10 * np.log10(255**2 * count / squared)) if squared else None,
        published_bytes=_mean_size(first, chosen),
        rendered_bytes=_mean_size(second, chosen),
    )


def _shifts(
    connection: duckdb.DuckDBPyConnection, published: Manifest, rendered: Manifest
) -> Iterable[Shift]:
    """Every model with current predictions on both, paired image by image."""
    found = connection.execute(
        """
        SELECT a.model, a.source_key, avg(a.correct::INT), avg(b.correct::INT)
        FROM predictions a JOIN predictions b
            ON a.model = b.model AND a.source_key = b.source_key
            AND a.frame_offset IS NOT DISTINCT FROM b.frame_offset
        WHERE a.benchmark = $1 AND a.condition = $2 AND a.dataset_version = $3
            AND b.benchmark = $4 AND b.condition = $5 AND b.dataset_version = $6
            AND a.correct IS NOT NULL AND b.correct IS NOT NULL
        GROUP BY a.model, a.source_key ORDER BY a.model, a.source_key
        """,
        [value for m in (published, rendered) for value in (m.benchmark, m.condition, m.version)],
    ).fetchall()
    for model, rows in groupby(found, key=lambda row: str(row[0])):
        # One number a source image: the frames of a sequence are no independent images.
        before, after = np.array([row[2:] for row in rows], np.float64).T
        mean, lo, hi = clustered_bootstrap(after - before)
        yield Shift(
            model=model,
            n_paired=len(before),
            published_top1=float(before.mean()),
            rendered_top1=float(after.mean()),
            top1_shift=mean,
            ci_lo=None if np.isnan(lo) else lo,
            ci_hi=None if np.isnan(hi) else hi,
        )


@dataclass(frozen=True)
class _Files:
    """Source keys of a dataset, and the files of those that a hash puts first."""

    sources: set[str]
    files: dict[str, bytes]


def _read(root: Root, manifest: Manifest, sample: int) -> _Files:
    """Read a dataset once; two sets of the same sources keep the same ones."""
    sources: set[str] = set()
    kept: list[tuple[bytes, str, bytes]] = []
    for entry in manifest.shards:
        for each in read_shard(root, manifest, entry):
            key = str(each.meta["source_key"])
            sources.add(key)
            kept.append((_draw(key), key, each.image or b""))
            # Some more than are compared: the other set may lack a few of them.
            if len(kept) >= 4 * sample:
                kept = sorted(kept)[: 2 * sample]
    return _Files(sources, {key: data for _, key, data in sorted(kept)[: 2 * sample]})


def _decoded(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]] | None:
    """Pixels of an image, or of all frames of a sequence."""
    try:
        if media_format(data) == "mp4":
            from ops.perturbations.video import decode

            return decode(data)
        return np.asarray(pixels.decode(data))
    except pixels.UndecodableImage:
        return None


def _mean_size(read: _Files, chosen: Sequence[str]) -> float | None:
    return sum(len(read.files[key]) for key in chosen) / len(chosen) if chosen else None


def _draw(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
