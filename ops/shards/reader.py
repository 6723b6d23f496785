"""Read sealed shards, trusting nothing: counts and sizes always, hashes on request."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import DEFAULT_LIMITS, CutArchive, HostileArchive
from ops.fetch.archive_tar import walk_tar
from ops.parallel import map_shards
from ops.shards.manifest import Manifest, ShardEntry, histogram_hash, read_manifest
from ops.shards.sample import Sample
from ops.storage import Root, open_root, paths


class ShardDamaged(ShiftlakeError):
    """A shard is not the one its manifest seals: cut, swapped, foreign or missing."""


class _NoSample(Exception):
    """Members of one key that make no sample."""


class _Hashing:
    """A shard read from front to back, hashed on the way if asked."""

    def __init__(self, file: BinaryIO, hashed: bool) -> None:
        self._file = file
        self._sha256 = hashlib.sha256() if hashed else None
        self._position = 0

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._position += len(data)
        if self._sha256 is not None:
            self._sha256.update(data)
        return data

    def skip(self, size: int) -> bool:
        return len(self.read(size)) == size

    def tell(self) -> int:
        return self._position

    def digest(self) -> str | None:
        while self.read(1 << 20):
            pass
        return None if self._sha256 is None else self._sha256.hexdigest()


def read_shard(
    root: Root, manifest: Manifest, entry: ShardEntry, *, hash: bool = False
) -> Iterator[Sample]:
    """Yield the samples of a shard, and refuse it by name if it is not what was sealed.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        The seal of the dataset.
    entry : ShardEntry
        Which of its shards.
    hash : bool
        Also compare the sha256; known only after the last sample.

    Raises
    ------
    ShardDamaged
        If the shard is missing, of another size, cut, holds another number of samples, samples
        of another dataset, or (with `hash`) other bytes.
    ShiftlakeError
        If the dataset is made on the fly: its shards are those of its source.
    """
    if manifest.on_the_fly:
        # Taken as they lie there, clean images would pass for corrupted ones.
        raise ShiftlakeError(
            f"{manifest.name} is made as it is read; its shards hold the clean images.",
            expected="a dataset that is stored",
            found=f"a manifest over the shards of {manifest.stored.name}",
            where=manifest.name,
            remedy="evaluate it, or open it with ops.rendering.open_dataset",
        )
    path = paths.shard(manifest.name, entry.name)
    size = root.size(path)
    if size != entry.bytes:
        raise damaged_shard(root, manifest, entry, f"{entry.bytes:,} bytes", _size_text(size))
    count = 0
    try:
        opened = root.open(path)
    except FileNotFoundError:
        raise damaged_shard(root, manifest, entry, f"{entry.bytes:,} bytes", "no file") from None
    with opened as file:
        source = _Hashing(file, hash)
        try:
            for sample in _samples(source, f"{manifest.name}/{entry.name}"):
                where = f"{sample.meta.get('benchmark')}/{sample.meta.get('condition')}"
                if where != manifest.name:
                    raise damaged_shard(root, manifest, entry, f"samples of {manifest.name}", where)
                count += 1
                yield sample
        except (CutArchive, HostileArchive) as error:
            raise damaged_shard(root, manifest, entry, error.expected, error.found) from error
        except _NoSample as error:
            key, problem = error.args
            raise damaged_shard(root, manifest, entry, f"a sample {key}", problem) from error
        if count != entry.n_samples:
            raise damaged_shard(
                root, manifest, entry, f"{entry.n_samples:,} samples", f"{count:,} samples"
            )
        digest = source.digest()
        if digest is not None and digest != entry.sha256:
            raise damaged_shard(root, manifest, entry, f"sha256 {entry.sha256}", f"sha256 {digest}")


def _samples(source: _Hashing, where: str) -> Iterator[Sample]:
    key: str | None = None
    members: dict[str, bytes] = {}
    for member in walk_tar(source, where, DEFAULT_LIMITS):
        data = source.read(member.size)
        name, _, extension = member.name.rpartition(".")
        if name != key:
            if key is not None:
                yield _assemble(key, members)
            key, members = name, {}
        members[extension] = data
    if key is not None:
        yield _assemble(key, members)


def _assemble(key: str, members: dict[str, bytes]) -> Sample:
    cls = members.pop("cls", None)
    try:
        meta: Any = json.loads(members.pop("json"))
        label = None if cls is None else int(cls)
    except (KeyError, ValueError) as error:
        raise _NoSample(key, f"{type(error).__name__}: {error}") from error
    if not isinstance(meta, dict) or not isinstance(meta.get("labels"), list):
        raise _NoSample(key, "no labels in the JSON member")
    extension, image = next(iter(members.items()), ("jpg", None))
    return Sample(key, image, extension, label, meta)


@dataclass(frozen=True)
class Verified:
    """What a verification of one dataset found.

    Parameters
    ----------
    dataset, version : str
    n_samples, n_shards, bytes : int
        As sealed.
    problems : tuple of str
        One line for every shard that is not what was sealed, and every key that repeats.
    histogram : dict of int to int, or None
        Samples of each label, as read; None if only sizes were compared.
    n_keys : int or None
        Different sample keys, as read.
    """

    dataset: str
    version: str
    n_samples: int
    n_shards: int
    bytes: int
    problems: tuple[str, ...]
    histogram: dict[int, int] | None
    n_keys: int | None


def verify(
    root: Root | str,
    dataset: str,
    *,
    hash: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Verified:
    """Check a sealed dataset against its manifest.

    Of a dataset made on the fly the shards of its source are checked.

    Parameters
    ----------
    root : Root or str
    dataset : str
    hash : bool
        Read every shard: compare counts and sha256, count keys and labels. Otherwise only sizes
        are compared.
    progress : callable, optional
        Called as ``progress(shards done, shards in all)``.

    Raises
    ------
    DatasetMissing
        If there is no manifest.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    check = partial(_hashed if hash else _measured, root, manifest.stored)
    results: dict[int, _Read] = {}
    # Hashing runs outside the interpreter's lock, and a remote root is waited for.
    for position, result in map_shards(check, manifest.shards, threads=True):
        results[position] = result
        if progress:
            progress(len(results), len(manifest.shards))
    problems: list[str] = []
    histogram: Counter[int] = Counter()
    keys: set[str] = set()
    for position, entry in enumerate(manifest.shards):
        read = results[position]
        for key in read.keys:
            if key in keys:
                problems.append(f"{entry.name}: {key} stands more than once")
            keys.add(key)
        histogram.update(read.labels)
        problems += [] if read.problem is None else [f"{entry.name}: {read.problem}"]
    if hash and histogram_hash(histogram) != manifest.label_histogram_sha256:
        problems.append("the labels in the shards are not those that were sealed")
    return Verified(
        dataset,
        manifest.version,
        manifest.n_samples,
        len(manifest.shards),
        manifest.bytes,
        tuple(problems),
        dict(histogram) if hash else None,
        len(keys) if hash else None,
    )


@dataclass
class _Read:
    """What one shard turned out to hold, up to where it is damaged."""

    keys: list[str] = field(default_factory=list)
    labels: Counter[int] = field(default_factory=Counter)
    problem: str | None = None


def _hashed(root: Root, manifest: Manifest, entry: ShardEntry) -> _Read:
    read = _Read()
    try:
        for sample in read_shard(root, manifest, entry, hash=True):
            read.keys.append(sample.key)
            read.labels.update(sample.meta["labels"])
    except ShardDamaged as error:
        read.problem = f"expected {error.expected}, found {error.found}"
    return read


def _measured(root: Root, manifest: Manifest, entry: ShardEntry) -> _Read:
    size = root.size(paths.shard(manifest.name, entry.name))
    if size == entry.bytes:
        return _Read()
    error = damaged_shard(root, manifest, entry, f"{entry.bytes:,} bytes", _size_text(size))
    return _Read(problem=f"expected {error.expected}, found {error.found}")


def damaged_shard(
    root: Root, manifest: Manifest, entry: ShardEntry, expected: object, found: object
) -> ShardDamaged:
    """The error for a shard that is not what was sealed, or no longer."""
    try:
        now = read_manifest(root, manifest.name).version
    except ShiftlakeError:
        now = manifest.version
    if now != manifest.version:
        return ShardDamaged(
            f"{manifest.name} was rebuilt since its manifest was read; {entry.name} is gone.",
            expected=f"version {manifest.version}",
            found=f"version {now}",
            where=root.at(paths.manifest(manifest.name)),
            remedy="open the dataset again; results of the two versions do not mix",
        )
    return ShardDamaged(
        f"Shard {entry.name} is not the one that was sealed.",
        expected=expected,
        found=found,
        where=root.at(paths.shard(manifest.name, entry.name)),
        remedy=f"remove it and build again: shiftlake build {manifest.name}",
    )


def _size_text(size: int | None) -> str:
    return "no file" if size is None else f"{size:,} bytes"
