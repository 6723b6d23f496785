"""A small picture of a dataset's samples, for a person to see at a glance what is in it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from ops import pixels
from ops.shards.manifest import Manifest
from ops.shards.reader import read_shard
from ops.storage import Root

_LIMIT = 90_000


def contact_sheet(
    root: Root, manifests: Sequence[Manifest], *, columns: int = 8, rows: int = 3, tile: int = 96
) -> str | None:
    """Draw samples from all over some datasets, as a data URI.

    Parameters
    ----------
    root : Root
    manifests : sequence of Manifest
        Sealed datasets; they share the tiles.
    columns, rows : int
        Tiles across and down.
    tile : int
        Side of a tile in pixels.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...`` under about 100 kB, so that an event log can hold it; None
        where no sample is a still image.
    """
    wanted = columns * rows
    pictures: list[Image.Image] = []
    share = max(1, wanted // max(1, len(manifests)))
    for manifest in manifests:
        pictures += _pictures(root, manifest, share, tile)
    pictures = pictures[:wanted]
    if not pictures:
        return None
    used = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * tile, used * tile), "white")
    for position, picture in enumerate(pictures):
        sheet.paste(picture, (position % columns * tile, position // columns * tile))
    return data_uri(sheet)


def data_uri(sheet: Image.Image) -> str:
    """A picture as a data URI of at most some 100 kB, at the best quality that fits."""
    for quality in (80, 60, 40, 20):
        packed = io.BytesIO()
        sheet.save(packed, "webp", quality=quality)
        if packed.tell() <= _LIMIT:
            break
    return "data:image/webp;base64," + base64.b64encode(packed.getvalue()).decode()


def tile_of(data: bytes, side: int) -> Image.Image:
    """A picture of some bytes that fits a square; it says so where they are no image."""
    try:
        return fitted(pixels.decode(data), side)
    except pixels.UndecodableImage:
        canvas = Image.new("RGB", (side, side), "white")
        ImageDraw.Draw(canvas).text((6, side // 2 - 6), "unreadable", fill="firebrick")
        return canvas


def fitted(picture: Image.Image, side: int) -> Image.Image:
    """A picture, made smaller if need be, in the middle of a white square."""
    canvas = Image.new("RGB", (side, side), "white")
    picture.thumbnail((side - 4, side - 4))
    canvas.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return canvas


def _pictures(root: Root, manifest: Manifest, count: int, tile: int) -> list[Image.Image]:
    """`count` pictures from the middle shard, evenly over its samples."""
    if not manifest.shards or manifest.joined_to is not None:
        return []
    entry = manifest.shards[len(manifest.shards) // 2]
    step = max(1, entry.n_samples // count)
    found: list[Image.Image] = []
    for position, sample in enumerate(read_shard(root, manifest, entry)):
        if position % step:
            continue
        if sample.image is None or sample.extension == "mp4":
            return []
        found.append(tile_of(sample.image, tile))
        if len(found) == count:
            break
    return found
