"""Whether anything below a folder has changed, told without opening a file.

A local folder's time of change moves with every file or folder that appears in it, goes, or takes
the place of another, which is how everything is published here. A remote root has no such time;
there one listing tells names, sizes and entity tags.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ops.storage.root import Root

# Listings of a remote root cost a round trip each.
_READERS = 16

# Times of change move in steps: a change within the same step as an earlier one cannot be seen.
_STEP = 0.05
_COARSE_STEP = 2.0


@dataclass(frozen=True)
class Listing:
    """What is published below a folder.

    Parameters
    ----------
    sizes : dict of str to int
        Bytes by path below the root, sorted by path.
    folders : tuple of str
        The folder and all below it; empty on a remote root, which has none.
    tags : str
        Of a remote root, 16 hex digits that change with anything published or removed.
    """

    sizes: dict[str, int]
    folders: tuple[str, ...] = ()
    tags: str = ""


def folders_in(root: Root, rel: str) -> list[str]:
    """Names of the folders in the folder `rel`, sorted; none where it does not exist."""
    if root.is_local:
        try:
            with os.scandir(root.local_path(rel)) as found:
                return sorted(entry.name for entry in found if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
    try:
        infos = root.fs.ls(root.at(rel), detail=True)
    except FileNotFoundError:
        return []
    return sorted(
        info["name"].rstrip("/").rpartition("/")[2] for info in infos if info["type"] == "directory"
    )


def list_folders(root: Root, rels: Sequence[str]) -> list[Listing]:
    """What is published below each of several folders; files still being written do not appear."""
    if root.is_local:
        return [_listed_locally(root, rel) for rel in rels]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda rel: _listed_remotely(root, rel), rels))


def times_of(root: Root, folders: Iterable[str]) -> str | None:
    """16 hex digits that change with anything published or removed in these folders.

    Returns
    -------
    str or None
        None where one of the folders has gone.
    """
    base = root.url
    try:
        # A quarter of a million for a thousand models: objects would take twice the time.
        times = [os.stat(f"{base}/{folder}").st_mtime_ns for folder in folders]  # noqa: PTH116
    except OSError:
        return None
    return _digest(np.array(times, np.int64).tobytes())


def sizes_of(root: Root, rels: Sequence[str]) -> list[int | None]:
    """Size of each of many files in bytes, None where there is none; all lie two folders deep."""
    if not root.is_local:
        folders = sorted({"/".join(rel.split("/")[:2]) for rel in rels})
        listings = list_folders(root, folders)
        sizes = {name: size for listing in listings for name, size in listing.sizes.items()}
        return [sizes.get(rel) for rel in rels]
    found: list[int | None] = []
    for rel in rels:
        try:
            found.append(os.stat(f"{root.url}/{rel}").st_size)  # noqa: PTH116
        except OSError:
            found.append(None)
    return found


def settle(root: Root, folders: Iterable[str]) -> None:
    """Wait until a further change in these folders of a local root must move a time."""
    newest = 0
    for folder in folders:
        try:
            newest = max(newest, root.local_path(folder).stat().st_mtime_ns)
        except OSError:
            continue
    # Some file systems count whole seconds only.
    step = _COARSE_STEP if newest % 1_000_000_000 == 0 else _STEP
    left = newest / 1e9 + step - time.time()
    if 0 < left <= step:
        time.sleep(left)


def _listed_locally(root: Root, rel: str) -> Listing:
    sizes: dict[str, int] = {}
    folders = [rel]
    # Grows while it is read: the folders that are found.
    for folder in folders:
        try:
            with os.scandir(f"{root.url}/{folder}") as found:
                for entry in found:
                    if entry.is_dir():
                        folders.append(f"{folder}/{entry.name}")
                    elif not (entry.name.startswith(".") and entry.name.endswith(".part")):
                        sizes[f"{folder}/{entry.name}"] = entry.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            # It has gone since it was found.
            continue
    return Listing(dict(sorted(sizes.items())), tuple(folders))


def _listed_remotely(root: Root, rel: str) -> Listing:
    found = root.fs.find(root.at(rel), detail=True)
    prefix = root.url.split("://", 1)[1].rstrip("/") + "/"
    sizes, lines = {}, []
    for name, info in sorted(found.items()):
        path, size = name.removeprefix(prefix), int(info["size"])
        sizes[path] = size
        lines.append(f"{path} {size} {info.get('ETag')}")
    return Listing(sizes, (), _digest("\n".join(lines).encode()))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
