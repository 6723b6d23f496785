"""What commands share on the terminal: consoles, progress bars, and the lake they work on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ops.catalog import Catalog, load
from ops.storage import Root, open_root
from ops.video.cataloguing import catalogued
from pipelines.environment import Workplace, workplace

# In a file or a pipe there is no width to fit; 80 columns would cut every table.
out = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 140)
err = Console(stderr=True)


def lake() -> tuple[Workplace, Root, Catalog]:
    """The workplace of this command, its storage root, and the catalog."""
    place = workplace()
    place.enter()
    if place.demo:
        err.print(
            "[yellow]The demo's lake: all images are synthetic. "
            "Set SHIFTLAKE_ROOT to work on real data.[/yellow]"
        )
    root = open_root(place.root)
    return place, root, catalogued(root, load())


@contextmanager
def progress(unit: str) -> Iterator[Progress]:
    """A progress bar on standard error, in bytes or in counted things."""
    counted: list[ProgressColumn] = [MofNCompleteColumn()]
    columns = [DownloadColumn(), TransferSpeedColumn()] if unit == "bytes" else counted
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeRemainingColumn(),
        console=err,
        transient=True,
    ) as bar:
        yield bar


def size_text(size: int | None) -> str:
    """Size in bytes as a person reads it, in powers of ten like the catalog."""
    if size is None:
        return "?"
    value = float(size)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError(size)
