"""Sheets of pictures that show what a rendered set looks like, in one glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw

from ops.errors import ShiftlakeError
from ops.shards import Manifest, Sample, has_manifest, read_manifest, read_shard
from ops.shards.contact_sheet import data_uri, fitted, tile_of
from ops.storage import Root, open_root

_MARGIN = 14


def severity_sheet(
    root: Root | str, manifests: Sequence[Manifest], *, rows: int = 3, tile: int = 112
) -> str | None:
    """Some images (rows) at every severity of one corruption (columns), the source in front.

    Parameters
    ----------
    root : Root or str
    manifests : sequence of Manifest
        The datasets of one corruption, by severity.
    rows : int
        Images.
    tile : int
        Side of a tile in pixels.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...``; None where nothing is stored.
    """
    root = open_root(root)
    columns = [*_source(root, manifests[0]), *manifests]
    keys = _some_keys(root, manifests[0], rows)
    if not keys:
        return None
    found = [_tiles(root, manifest, keys, tile) for manifest in columns]
    labels = [manifest.condition for manifest in columns]
    return data_uri(
        grid([[column[key] for column in found] for key in keys], labels, [""] * len(keys))
    )


def corruption_sheet(
    root: Root | str, corruptions: Mapping[str, Sequence[Manifest]], *, tile: int = 84
) -> str | None:
    """One image under every corruption (rows) and severity (columns).

    Parameters
    ----------
    root : Root or str
    corruptions : mapping of str to sequence of Manifest
        Datasets by corruption, each by severity.
    tile : int
        Side of a tile in pixels.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...``; None where nothing is stored.
    """
    root = open_root(root)
    stored = {name: found for name, found in corruptions.items() if found}
    first = next(iter(stored.values()), [])
    keys = _some_keys(root, first[0], 1) if first else []
    if not keys:
        return None
    rows = [
        [_tiles(root, manifest, keys, tile)[keys[0]] for manifest in manifests]
        for manifests in stored.values()
    ]
    columns = [f"severity {n + 1}" for n in range(max(map(len, rows)))]
    return data_uri(grid(rows, columns, list(stored)))


def sequence_sheet(
    root: Root | str,
    manifest: Manifest,
    decode: Callable[[bytes], np.ndarray[tuple[int, ...], np.dtype[np.uint8]]],
    *,
    rows: int = 3,
    columns: int = 8,
    tile: int = 96,
) -> str | None:
    """Some sequences (rows), frames evenly from the first to the last (columns).

    Parameters
    ----------
    root : Root or str
    manifest : Manifest
        A dataset of sequences.
    decode : callable
        From a stored sequence to uint8 frames of shape (frames, height, width, 3).
    rows, columns : int
        Sequences and frames.
    tile : int
        Side of a tile in pixels.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...``; None where nothing is stored or can be decoded.
    """
    root = open_root(root)
    drawn: list[list[Image.Image]] = []
    labels: list[str] = []
    for sample in _chosen(root, manifest, set(_some_keys(root, manifest, rows))):
        try:
            frames = decode(sample.image or b"")
        except ShiftlakeError:
            continue
        at = np.linspace(0, len(frames) - 1, columns).astype(int)
        labels = [f"frame {number}" for number in at]
        drawn.append([fitted(Image.fromarray(frames[number]), tile) for number in at])
    return data_uri(grid(drawn, labels, [""] * len(drawn))) if drawn else None


def grid(
    rows: Sequence[Sequence[Image.Image]], columns: Sequence[str], names: Sequence[str]
) -> Image.Image:
    """Tiles of one size in rows, with a line of text above each column and before each row."""
    tile = rows[0][0].width
    left = 6 * max(map(len, names), default=0)
    across = max(map(len, rows))
    size = (left + across * tile, _MARGIN + len(rows) * tile)
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    for number, text in enumerate(columns):
        pen.text((left + number * tile + 3, 1), text[: tile // 6], fill="black")
    for line, (name, tiles) in enumerate(zip(names, rows, strict=True)):
        top = _MARGIN + line * tile
        pen.text((2, top + tile // 2 - 6), name, fill="black")
        for number, picture in enumerate(tiles):
            sheet.paste(picture, (left + number * tile, top))
    return sheet


def _source(root: Root, manifest: Manifest) -> list[Manifest]:
    name = (manifest.renderer or {}).get("source")
    return [read_manifest(root, name)] if name and has_manifest(root, name) else []


def _some_keys(root: Root, manifest: Manifest, count: int) -> list[str]:
    """Source keys evenly from the middle shard, of images that could be rendered."""
    if not manifest.shards or (manifest.renderer or {}).get("form") == "on_the_fly":
        return []
    entry = manifest.shards[len(manifest.shards) // 2]
    keys = [
        str(sample.meta["source_key"])
        for sample in read_shard(root, manifest, entry)
        if sample.image and sample.meta["format"]
    ]
    step = max(1, len(keys) // count)
    return keys[::step][:count]


def _chosen(root: Root, manifest: Manifest, keys: set[str]) -> Iterator[Sample]:
    wanted = set(keys)
    # Rendered shards follow those of their source: the middle one comes first.
    middle = len(manifest.shards) // 2
    for entry in (*manifest.shards[middle:], *manifest.shards[:middle]):
        for sample in read_shard(root, manifest, entry):
            if sample.meta["source_key"] in wanted:
                wanted.remove(sample.meta["source_key"])
                yield sample
                if not wanted:
                    return


def _tiles(
    root: Root, manifest: Manifest, keys: Sequence[str], tile: int
) -> dict[str, Image.Image]:
    found = {key: Image.new("RGB", (tile, tile), "lightgrey") for key in keys}
    for sample in _chosen(root, manifest, set(keys)):
        found[str(sample.meta["source_key"])] = tile_of(sample.image or b"", tile)
    return found
