"""What a new seal made superfluous is removed; what another build is still writing is not."""

from __future__ import annotations

import time

from ops.shards.manifest import Manifest
from ops.storage import Root, paths

_STILL_WRITTEN_SECONDS = 3600.0


def sweep_dataset(root: Root, manifest: Manifest, replaced: Manifest | None = None) -> None:
    """Remove notes, shards of other versions, and what killed writers left.

    Parameters
    ----------
    root : Root
    manifest : Manifest
        The seal that stands; its shards stay.
    replaced : Manifest, optional
        The seal that stood before; its shards go at once. Other notes and shards may belong to
        a build of another version: they go once nobody has written them for an hour.
    """
    folder = paths.dataset(manifest.name)
    current = {entry.name for entry in manifest.shards} | {"manifest.json"}
    old = {entry.name for entry in replaced.shards} if replaced else set()
    # Looked at once: the build of another version may go on writing meanwhile.
    other: dict[str, list[str]] = {}
    own = f"{paths.UNSEALED}{manifest.version}"
    finished = False
    for path in root.list(folder):
        name, _, below = path.removeprefix(f"{folder}/").partition("/")
        if name == own:
            finished = True
        elif below and not name.startswith(paths.UNSEALED):
            continue
        elif name in old - current:
            root.remove(path)
        elif name not in current:
            other.setdefault(name if below else _version_part(name), []).append(path)
    if finished:
        root.remove_folder(f"{folder}/{own}")
    for group in _by_build(other):
        if not _still_written(root, group):
            for path in group:
                root.remove(path)
            for notes in {path.rpartition("/")[0] for path in group} - {folder}:
                root.remove_folder(notes)
    root.sweep(folder)


def _version_part(shard: str) -> str:
    """First eight digits of the version in a shard's name, ``<slug>-<version>-<number>.tar``."""
    parts = shard.rsplit("-", 2)
    return parts[1] if len(parts) == 3 else shard


def _by_build(found: dict[str, list[str]]) -> list[list[str]]:
    """Notes and shards of one version together: a build is as young as its youngest file."""
    builds: dict[str, list[str]] = {}
    for name, group in found.items():
        builds.setdefault(name.removeprefix(paths.UNSEALED)[:8], []).extend(group)
    return list(builds.values())


def _still_written(root: Root, group: list[str]) -> bool:
    now = time.time()
    return any(
        (written := root.modified(path)) is not None and now - written < _STILL_WRITTEN_SECONDS
        for path in group
    )
