"""The one resource all assets share: where data lies, and what exists upstream."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import dagster as dg
from pydantic import Field

from ops.catalog import MIRROR_VARIABLE, OVERLAY_VARIABLE, Catalog, load
from ops.storage import Root, open_root
from ops.video.cataloguing import catalogued
from ops.video.sources import VIDEOS_VARIABLE


class Lake(dg.ConfigurableResource[Root]):
    """A storage root and a catalog.

    Parameters
    ----------
    root : str
        A folder or an ``s3://`` URL; empty for ``$SHIFTLAKE_ROOT``.
    catalog : str
        Path or URL of a catalog overlay; empty for ``$SHIFTLAKE_CATALOG``.
    videos : str
        Folder of the video sources; empty for ``$SHIFTLAKE_VIDEOS``.
    workers : int
        Processes that a build or an evaluation may use; 0 for all usable CPUs.
    devices : list of str
        Devices of an evaluation, such as ``cuda:0``, each taking shards; empty for the first GPU,
        or the CPU where there is none.
    """

    root: str = ""
    catalog: str = ""
    videos: str = ""
    workers: int = 0
    devices: list[str] = Field(default_factory=list)

    def open(self) -> Root:
        """The storage root."""
        return open_root(self.root or None)

    def load(self) -> Catalog:
        """The catalog with its overlay, read again whenever that changed, and the mined sets."""
        return catalogued(self.open(), self._published())

    def video_folder(self) -> Path | None:
        """Where the video sources lie; None where no folder is named."""
        named = self.videos or os.environ.get(VIDEOS_VARIABLE, "")
        return Path(named) if named else None

    def _published(self) -> Catalog:
        address = self.catalog or os.environ.get(OVERLAY_VARIABLE, "")
        if "://" in address:
            return load(address)
        stamp = Path(address).stat() if address and Path(address).exists() else None
        mark = (stamp.st_mtime_ns, stamp.st_size) if stamp else None
        return _loaded(address, mark, os.environ.get(MIRROR_VARIABLE))

    @property
    def processes(self) -> int | None:
        """Number of worker processes, None for as many as there are CPUs."""
        return self.workers or None


@cache
def _loaded(address: str, mark: tuple[int, int] | None, mirror: str | None) -> Catalog:
    return load(address or None)
