"""The flicker gallery as one picture, for a place that shows no page."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from ops import catalog as catalogs
from ops.catalog import Catalog
from ops.report.cast import cast_of
from ops.report.flicker import Flip, flips_of, with_flips
from ops.report.names import frame_set_name
from ops.report.pictures import Found, Wanted, read_pictures
from ops.storage import Root, open_root

if TYPE_CHECKING:
    import duckdb

_TILE, _GAP, _TEXT, _TITLE = 128, 6, 44, 20
_COLUMNS = 4
_INK, _MUTED, _RIGHT, _WRONG = "#1c2128", "#636c76", "#1a7f4b", "#b3401a"


def flicker_gallery_strip(
    root: Root | str,
    connection: duckdb.DuckDBPyConnection,
    catalog: Catalog | None = None,
    *,
    max_bytes: int = 90_000,
) -> str | None:
    """Pairs of frames that flip the best models, with what each frame was taken for.

    Parameters
    ----------
    root : Root or str
    connection : duckdb.DuckDBPyConnection
        Of :func:`ops.results.connect`.
    catalog : Catalog, optional
    max_bytes : int
        Of the picture; the address is a third longer.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...``; None where no model flips.
    """
    root = open_root(root)
    chosen = with_flips(connection, cast_of(connection))
    by_model = {model: flips_of(connection, model, _COLUMNS) for model in chosen}
    by_model = {model: flips for model, flips in by_model.items() if flips}
    if not by_model:
        return None
    wanted = [
        shown.wanted for flips in by_model.values() for flip in flips
        for shown in (flip.anchor, flip.frame)
    ]  # fmt: skip
    pictures = read_pictures(root, catalog or catalogs.load(), wanted, side=_TILE)
    sheet = _sheet(by_model, pictures)
    data = b""
    for quality in (82, 62, 42, 25):
        packed = io.BytesIO()
        sheet.save(packed, "webp", quality=quality, method=4)
        data = packed.getvalue()
        if len(data) <= max_bytes:
            break
    return "data:image/webp;base64," + base64.b64encode(data).decode()


def _sheet(by_model: dict[str, list[Flip]], pictures: dict[Wanted, Found]) -> Image.Image:
    columns = max(map(len, by_model.values()))
    across, down = 2 * _TILE + 3 * _GAP, _TILE + _TEXT
    size = (columns * across + _GAP, len(by_model) * (down + _TITLE) + _GAP)
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    for row, (model, flips) in enumerate(by_model.items()):
        top = row * (down + _TITLE) + _GAP
        pen.text((_GAP, top), f"{model}: right, and wrong a moment later", fill=_INK,
                 font=_font(13))  # fmt: skip
        for column, flip in enumerate(flips):
            left = _GAP + column * across
            _pair(sheet, pen, left, top + _TITLE, flip, pictures)
    return sheet


def _pair(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    left: int,
    top: int,
    flip: Flip,
    pictures: dict[Wanted, Found],
) -> None:
    sides = ((flip.anchor, "anchor", _RIGHT), (flip.frame, f"{flip.offset:+d} frames", _WRONG))
    for number, (shown, where, colour) in enumerate(sides):
        x = left + number * (_TILE + _GAP)
        found = pictures[shown.wanted]
        if found.uri:
            picture = Image.open(io.BytesIO(base64.b64decode(found.uri.partition(",")[2])))
            sheet.paste(picture, (x, top + _TILE - picture.height))
        else:
            pen.rectangle((x, top, x + _TILE, top + _TILE), outline=_MUTED)
            pen.text((x + 4, top + 4), "no picture", fill=_MUTED, font=_font(11))
        sign = "right: " if number == 0 else "wrong: "
        _line(pen, x, top + _TILE + 2, sign + shown.said, colour)
        _line(pen, x, top + _TILE + 15, where, _MUTED)
    name = frame_set_name(flip.benchmark, flip.condition)
    _line(pen, left, top + _TILE + 28, f"{name}: {flip.label}", _MUTED, 2 * _TILE)


def _line(
    pen: ImageDraw.ImageDraw, x: int, y: int, text: str, colour: str, width: int = _TILE
) -> None:
    """Text that is cut where it would be wider than its place."""
    font = _font(11)
    while text and pen.textlength(text, font=font) > width:
        text = text[:-2].rstrip("…") + "…"
    pen.text((x, y), text, fill=colour, font=font)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
