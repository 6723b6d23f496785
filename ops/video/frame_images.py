"""One frame of a sealed dataset by its key: the published JPEG, read where it lies in its shard.

Keys ascend through a dataset's shards, so the first key of each shard says which one holds a
frame; a shard's headers are walked when the first of its frames is asked for.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import DEFAULT_LIMITS, CutArchive, HostileArchive
from ops.fetch.archive_tar import FileSource, walk_tar
from ops.shards.manifest import ShardEntry, read_manifest
from ops.shards.reader import damaged_shard
from ops.storage import Root, paths

_IMAGES = ("jpg", "png")


class FrameImages:
    """The images of one version of a sealed dataset, in any order.

    Safe to use from several threads. Of a remote root whole shards are copied once into scratch:
    a reviewer comes back to each of them hundreds of times.

    Parameters
    ----------
    root : Root
    dataset : str
        ``<benchmark>/<condition>``, such as ``frame_sets/<source>``.
    sha256 : mapping of str to str, optional
        The sha256 of the image of each sample key, as mining recorded it; what is read is compared
        with it, so that nobody judges other pictures than were mined.

    Attributes
    ----------
    version : str
        Of the dataset when it was opened.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    """

    def __init__(self, root: Root, dataset: str, sha256: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._manifest = read_manifest(root, dataset)
        self._sha256 = sha256
        self._lock = Lock()
        self._first: list[str] = []
        self._files: dict[str, Path] = {}
        self._members: dict[str, dict[str, tuple[str, int, int]]] = {}
        self.version = self._manifest.version

    def read(self, key: str) -> tuple[bytes, str]:
        """The published bytes of a frame, and their extension.

        Parameters
        ----------
        key : str
            Sample key.

        Returns
        -------
        bytes
        str
            ``jpg`` or ``png``.

        Raises
        ------
        KeyError
            If no sample of the dataset has this key.
        ShardDamaged
            If its shard is not the one that was sealed.
        """
        if self._sha256 is not None and key not in self._sha256:
            raise KeyError(key)
        entry = self._entry(key)
        try:
            data, extension, size = self._stored(entry, key)
        except FileNotFoundError:
            # Copies in scratch are others' as well: an evaluation removes what it is done with.
            self._forget(entry)
            data, extension, size = self._stored(entry, key)
        found = hashlib.sha256(data).hexdigest()
        wanted = found if self._sha256 is None else self._sha256[key]
        if len(data) != size or found != wanted:
            self._forget(entry)
            raise damaged_shard(
                self._root,
                self._manifest,
                entry,
                f"the image of {key}: {size:,} bytes, sha256 {wanted[:16]}",
                f"{len(data):,} bytes, sha256 {found[:16]}",
            )
        return data, extension

    def _stored(self, entry: ShardEntry, key: str) -> tuple[bytes, str, int]:
        """What lies where the image of a key is, its extension, and the size it has to have."""
        extension, offset, size = self._index(entry)[key]
        with self._files[entry.name].open("rb") as file:
            file.seek(offset)
            return file.read(size), extension, size

    def _entry(self, key: str) -> ShardEntry:
        with self._lock:
            if not self._first:
                self._first = [self._first_key(entry) for entry in self._manifest.shards]
        position = bisect_right(self._first, key) - 1
        if position < 0:
            raise KeyError(key)
        return self._manifest.shards[position]

    def _first_key(self, entry: ShardEntry) -> str:
        try:
            with self._root.open(paths.shard(self._manifest.name, entry.name)) as file:
                source = FileSource(file, 0, entry.bytes)
                return next(walk_tar(source, entry.name, DEFAULT_LIMITS)).name.rpartition(".")[0]
        except (FileNotFoundError, CutArchive, HostileArchive, StopIteration) as error:
            raise self._damaged(entry, type(error).__name__) from error

    def _index(self, entry: ShardEntry) -> dict[str, tuple[str, int, int]]:
        with self._lock:
            if (found := self._members.get(entry.name)) is not None:
                return found
            try:
                path = self._root.local_copy(paths.shard(self._manifest.name, entry.name))
                if (size := path.stat().st_size) != entry.bytes:
                    raise self._damaged(entry, f"{size:,} bytes")
                with path.open("rb") as file:
                    source = FileSource(file, 0, size)
                    parts = [
                        (*member.name.rpartition(".")[::2], member.offset, member.size)
                        for member in walk_tar(source, entry.name, DEFAULT_LIMITS)
                    ]
            except (FileNotFoundError, CutArchive, HostileArchive) as error:
                found_text = error.found if isinstance(error, ShiftlakeError) else "no file"
                raise self._damaged(entry, found_text) from error
            self._files[entry.name] = path
            self._members[entry.name] = {
                key: (extension, offset, size)
                for key, extension, offset, size in parts
                if extension in _IMAGES
            }
            return self._members[entry.name]

    def _forget(self, entry: ShardEntry) -> None:
        """Look again next time: a shard made again in place may be whole by then."""
        with self._lock:
            self._members.pop(entry.name, None)

    def _damaged(self, entry: ShardEntry, found: object) -> ShiftlakeError:
        expected = f"{entry.bytes:,} bytes, a whole tar"
        return damaged_shard(self._root, self._manifest, entry, expected, found)
