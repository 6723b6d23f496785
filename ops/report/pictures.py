"""Small pictures of single samples, found in the sealed shards by their keys."""

from __future__ import annotations

import base64
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from ops import pixels
from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import DEFAULT_LIMITS, CutArchive, HostileArchive
from ops.fetch.archive_tar import FileSource, walk_tar
from ops.shards import Manifest, ShardEntry, read_manifest
from ops.storage import Root, paths

# Largest width and height, in pixels: half as much again as they are shown.
SIDE = 144
_QUALITY = 68
# Of a remote root each shard is fetched as a whole.
MOST_SHARDS = 240
MOST_REMOTE_SHARDS = 24


class Wanted(NamedTuple):
    """A sample of a dataset, or one frame of a sequence."""

    dataset: str
    version: str
    shard: str
    key: str
    frame: int | None = None


class Found(NamedTuple):
    """A picture as a data URI, or why there is none."""

    uri: str
    missing: str = ""


def read_pictures(
    root: Root, catalog: Catalog, wanted: Iterable[Wanted], *, side: int = SIDE
) -> dict[Wanted, Found]:
    """Thumbnails of samples; each shard is opened once, and only what is wanted is decoded.

    Parameters
    ----------
    root : Root
    catalog : Catalog
        Knows how datasets made on the fly are rendered.
    wanted : iterable of Wanted
    side : int
        No thumbnail is wider or taller, in pixels.

    Returns
    -------
    dict of Wanted to Found
        For all that is wanted: a damaged or missing shard costs its pictures, never the report.
    """
    by_shard: dict[tuple[str, str], set[Wanted]] = defaultdict(set)
    for each in wanted:
        by_shard[each.dataset, each.shard].add(each)
    most = MOST_SHARDS if root.is_local else MOST_REMOTE_SHARDS
    found: dict[Wanted, Found] = {}
    for number, ((dataset, shard), those) in enumerate(sorted(by_shard.items())):
        found |= {each: Found("", "it is not in its shard") for each in those}
        if number >= most:
            found |= {each: Found("", "it lies in one shard too many") for each in those}
            continue
        try:
            for each, picture in _pictures(root, catalog, dataset, shard, those):
                found[each] = Found(_uri(picture, side))
        except ShiftlakeError as error:
            found |= {w: Found("", error.what) for w in those if not found[w].uri}
    return found


def _pictures(
    root: Root, catalog: Catalog, dataset: str, shard: str, wanted: set[Wanted]
) -> Iterator[tuple[Wanted, Image.Image]]:
    manifest = read_manifest(root, dataset)
    wanted = {each for each in wanted if each.version == manifest.version}
    entry = next((entry for entry in manifest.shards if entry.name == shard), None)
    if entry is None or not wanted:
        raise ShiftlakeError(
            "The dataset was rebuilt since the model was run on it.",
            expected=f"shard {shard} of another version",
            found=f"version {manifest.version}",
            where=dataset,
            remedy="evaluate again",
        )
    by_key = defaultdict(list)
    for each in wanted:
        by_key[each.key].append(each)
    decoded = _made if manifest.on_the_fly else _stored
    for key, frames in decoded(root, catalog, manifest, entry, set(by_key)):
        for each in by_key[key]:
            if each.frame is None:
                yield each, Image.fromarray(frames[0])
            elif each.frame < len(frames):
                yield each, Image.fromarray(frames[each.frame])


_Frames = np.ndarray[Any, np.dtype[np.uint8]]


def _stored(
    root: Root, catalog: Catalog, manifest: Manifest, entry: ShardEntry, keys: set[str]
) -> Iterator[tuple[str, _Frames]]:
    """Frames, or one picture, of some samples of a shard, reading no others."""
    path = paths.shard(manifest.name, entry.name)
    if root.size(path) != entry.bytes:
        raise _damaged(manifest, entry, f"{root.size(path)} bytes")
    with root.open(path) as file:
        source = FileSource(file, 0, entry.bytes)
        left = set(keys)
        try:
            for member in walk_tar(source, manifest.name, DEFAULT_LIMITS):
                key, _, extension = member.name.rpartition(".")
                if key not in left or extension in ("json", "cls"):
                    continue
                left.discard(key)
                yield from _decoded(key, source.read(member.size), extension)
                if not left:
                    return
        except (CutArchive, HostileArchive) as error:
            raise _damaged(manifest, entry, str(error.found)) from error


def _made(
    root: Root, catalog: Catalog, manifest: Manifest, entry: ShardEntry, keys: set[str]
) -> Iterator[tuple[str, _Frames]]:
    """The same of a dataset made on the fly, as its stored form would hold them."""
    from ops import rendering

    rendering.require_current(root, catalog, manifest)
    recipe = rendering.Recipe.of(manifest)
    textures = rendering.textures(root, catalog) if recipe.textures is not None else None
    left = set(keys)
    for sample in rendering.read(root, manifest, entry):
        if sample.key not in left:
            continue
        left.discard(sample.key)
        try:
            made = rendering.as_stored(manifest, sample, textures=textures)
        except pixels.UndecodableImage:
            continue
        yield sample.key, made if made.ndim == 4 else made[None]
        if not left:
            return


def _decoded(key: str, data: bytes, extension: str) -> Iterator[tuple[str, _Frames]]:
    read: Callable[[bytes], Any] = pixels.decode
    if extension == "mp4":
        from ops.perturbations.video import decode

        read = decode
    try:
        made = np.asarray(read(data))
    except pixels.UndecodableImage:
        return
    yield key, made if made.ndim == 4 else made[None]


def _uri(picture: Image.Image, side: int) -> str:
    picture = picture.convert("RGB")
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    picture.save(packed, "webp", quality=_QUALITY, method=6)
    return "data:image/webp;base64," + base64.b64encode(packed.getvalue()).decode()


def _damaged(manifest: Manifest, entry: ShardEntry, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "Its shard is missing or damaged.",
        expected=f"{entry.bytes} bytes",
        found=found,
        where=f"{manifest.name}/{entry.name}",
        remedy=f"build it again: shiftlake build {manifest.name}",
    )
