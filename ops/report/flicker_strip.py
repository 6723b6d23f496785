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

_TILE, _GAP, _TEXT, _TITLE = 128, 6, 52, 20
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


def _sheet(by_model: dict[str, list[Flip]], found: dict[Wanted, Found]) -> Image.Image:
    pictures = {wanted: _picture(each) for wanted, each in found.items()}
    columns = max(map(len, by_model.values()))
    across = 2 * _TILE + 4 * _GAP
    tall = [
        max(pictures[shown.wanted].height for flip in flips for shown in (flip.anchor, flip.frame))
        for flips in by_model.values()
    ]
    height = sum(tall) + len(tall) * (_TITLE + _TEXT) + _GAP
    sheet = Image.new("RGB", (columns * across, height), "white")
    pen = ImageDraw.Draw(sheet)
    top = _GAP
    for (model, flips), row in zip(by_model.items(), tall, strict=True):
        said = f"{model}: right, and wrong a moment later"
        pen.text((_GAP, top), said, fill=_INK, font=_font(13))
        for column, flip in enumerate(flips):
            at = (_GAP + column * across, top + _TITLE + row)
            _pair(sheet, pen, at, flip, pictures)
        top += _TITLE + row + _TEXT
    return sheet


def _picture(found: Found) -> Image.Image:
    if found.uri:
        return Image.open(io.BytesIO(base64.b64decode(found.uri.partition(",")[2])))
    blank = Image.new("RGB", (_TILE, _TILE // 2), "white")
    pen = ImageDraw.Draw(blank)
    pen.rectangle((0, 0, _TILE - 1, _TILE // 2 - 1), outline=_MUTED)
    pen.text((5, 5), "no picture", fill=_MUTED, font=_font(11))
    return blank


def _pair(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    at: tuple[int, int],
    flip: Flip,
    pictures: dict[Wanted, Image.Image],
) -> None:
    """Both pictures, standing on the line whose left end is given, and what is said below."""
    left, line = at
    for number, shown in enumerate((flip.anchor, flip.frame)):
        x = left + number * (_TILE + _GAP)
        picture = pictures[shown.wanted]
        sheet.paste(picture, (x, line - picture.height))
        sign, colour = (("right", _RIGHT), ("wrong", _WRONG))[number]
        _line(pen, x, line + 2, f"{sign}: {shown.said}", colour)
        _line(pen, x, line + 15, ("anchor", flip.away)[number], _MUTED)
    name = frame_set_name(flip.benchmark, flip.condition)
    _line(pen, left, line + 28, f"{name}, shows {flip.label}", _MUTED, 2 * _TILE)


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
