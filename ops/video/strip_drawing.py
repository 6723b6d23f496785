"""How a strip of a frame set is drawn: tiles in the order of offset, and what was decided."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from PIL import Image, ImageDraw, ImageFont

from ops import pixels

# Tiles of a strip; of more frames some are left out, as many before the anchor as after it.
MOST = 21
_PAPER, _INK, _MUTED, _LINE = "#ffffff", "#1c2128", "#636c76", "#aab2bb"
# Every state has a sign of its own beside its colour.
_COLOURS = {"accepted": "#1a7f4b", "rejected": "#c0341d", "pending": "#7d8790"}
_WORDS = {
    "accepted": "accepted: similar",
    "rejected": "rejected",
    "pending": "not decided",
    "missing": "no frame there",
}
_MARGIN, _GAP, _BORDER = 12, 4, 3
_TITLE, _FOOT, _BETWEEN, _LEGEND = 18, 16, 12, 22


@dataclass(frozen=True)
class StripFrame:
    """One frame: its offset, its file (None where it could not be read), what was decided."""

    offset: int
    image: bytes | None
    state: str | None


@dataclass(frozen=True)
class StripSet:
    """A frame set under its name."""

    title: str
    frames: tuple[StripFrame, ...]


def draw_strips(strips: Sequence[StripSet], reach: int, tile: int) -> Image.Image:
    """Strips below each other, with a legend of what occurs in them.

    Parameters
    ----------
    strips : sequence of StripSet
    reach : int
        The largest offset a frame can have.
    tile : int
        Width of a tile in pixels.

    Returns
    -------
    PIL.Image.Image
        Mode RGB, on white.
    """
    offsets = shown_offsets(reach)
    tall = [_height(strip, tile) for strip in strips]
    width = 2 * _MARGIN + len(offsets) * (tile + _GAP) - _GAP
    row = _TITLE + _FOOT + _BETWEEN
    sheet = Image.new("RGB", (width, _MARGIN + sum(tall) + len(strips) * row + _LEGEND), _PAPER)
    pen = ImageDraw.Draw(sheet)
    top = _MARGIN // 2
    seen: set[str] = set()
    for strip, height in zip(strips, tall, strict=True):
        by_offset = {frame.offset: frame for frame in strip.frames}
        _title(pen, strip, top, width)
        for place, offset in enumerate(offsets):
            left = _MARGIN + place * (tile + _GAP)
            frame = by_offset.get(offset)
            box = (left, top + _TITLE, left + tile, top + _TITLE + height)
            if frame is None:
                _hatch(sheet, box)
                seen.add("missing")
            else:
                if offset == 0:
                    around = (box[0] - 3, box[1] - 3, box[2] + 2, box[3] + 2)
                    pen.rectangle(around, outline=_INK, width=2)
                _frame(sheet, pen, box, frame)
                seen |= {frame.state} & set(_COLOURS) if frame.state else set()
            said = "anchor" if offset == 0 and tile >= 44 else f"{offset:+d}" if offset else "0"
            pen.text(
                (left + tile / 2, box[3] + 2), said, anchor="ma",
                fill=_INK if offset == 0 else _MUTED, font=_font(11),
            )  # fmt: skip
        top += row + height
    _legend(pen, sheet, top - _BETWEEN // 2, [state for state in _WORDS if state in seen])
    return sheet


def shown_offsets(reach: int) -> list[int]:
    """Offsets from minus to plus the reach, at most 21 of them, the anchor's in the middle.

    Examples
    --------
    >>> shown_offsets(2)
    [-2, -1, 0, 1, 2]
    """
    side = MOST // 2
    if reach <= side:
        return list(range(-reach, reach + 1))
    after = [round(reach * step / side) for step in range(1, side + 1)]
    return [*(-offset for offset in reversed(after)), 0, *after]


def _height(strip: StripSet, tile: int) -> int:
    """Of the tiles of a strip: in the shape of its first picture, within limits."""
    for frame in strip.frames:
        try:
            width, height = pixels.decode(frame.image).size
        except pixels.UndecodableImage:
            continue
        inner = tile - 2 * _BORDER
        return round(min(max(height / width, 0.5), 1.35) * inner) + 2 * _BORDER
    return tile


def _title(pen: ImageDraw.ImageDraw, strip: StripSet, top: int, width: int) -> None:
    counts = Counter(f.state for f in strip.frames if f.state and f.offset)
    said = ", ".join(
        f"{counts[state]} {word}"
        for state, word in (("accepted", "similar"), ("rejected", "rejected"),
                            ("pending", "not decided"))
        if counts[state]
    )  # fmt: skip
    name = _plain(strip.title)
    name = name if len(name) <= 90 else name[:87] + "..."
    pen.text((_MARGIN, top + 2), name, fill=_INK, font=_font(12))
    if said:
        pen.text((width - _MARGIN, top + 2), said, fill=_MUTED, font=_font(12), anchor="ra")


def _plain(title: str) -> str:
    """A title in the letters that the font has: keys are percent-encoded, accents are left out."""
    letters = unicodedata.normalize("NFKD", unquote(title))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return plain if plain.isascii() and plain.isprintable() else title


def _frame(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    box: tuple[int, int, int, int],
    frame: StripFrame,
) -> None:
    left, top, right, bottom = box
    inner = (right - left - 2 * _BORDER, bottom - top - 2 * _BORDER)
    colour = _COLOURS.get(frame.state or "", _INK if frame.offset == 0 else _LINE)
    try:
        picture = pixels.decode(frame.image).convert("RGB")
    except pixels.UndecodableImage:
        pen.rectangle(box, outline=colour, width=_BORDER)
        pen.text(((left + right) / 2, (top + bottom) / 2), "no image" if inner[0] > 44 else "?",
                 anchor="mm", fill=_COLOURS["rejected"], font=_font(10))  # fmt: skip
        return
    picture.thumbnail(inner, Image.Resampling.LANCZOS)
    at = (left + (right - left - picture.width) // 2, top + (bottom - top - picture.height) // 2)
    # An undecided or unreviewed neighbour is only outlined, the anchor and decisions are framed.
    thick = _BORDER if frame.state or frame.offset == 0 else 1
    pen.rectangle((left, top, right - 1, bottom - 1), outline=colour, width=thick)
    sheet.paste(picture, at)
    if frame.state in _COLOURS:
        _badge(pen, right - 1, bottom - 1, frame.state)


def _badge(pen: ImageDraw.ImageDraw, right: int, bottom: int, state: str) -> None:
    """The sign of a state in a coloured square whose lower right corner is given."""
    side = 13
    x, y = right - side, bottom - side
    pen.rectangle((x, y, right, bottom), fill=_COLOURS[state])
    if state == "accepted":
        lines = [((3, 7), (6, 10)), ((6, 10), (11, 3))]
    elif state == "rejected":
        lines = [((3, 3), (10, 10)), ((3, 10), (10, 3))]
    else:
        pen.text((x + side / 2 + 0.5, y + side / 2 + 0.5), "?", anchor="mm", fill=_PAPER,
                 font=_font(11))  # fmt: skip
        return
    for (x0, y0), (x1, y1) in lines:
        pen.line((x + x0, y + y0, x + x1, y + y1), fill=_PAPER, width=2)


def _hatch(sheet: Image.Image, box: tuple[int, int, int, int]) -> None:
    """Diagonal lines where a set has no frame."""
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    patch = Image.new("RGB", (width, height), _PAPER)
    pen = ImageDraw.Draw(patch)
    for start in range(-height, width, 7):
        pen.line((start, height, start + height, 0), fill=_LINE, width=1)
    pen.rectangle((0, 0, width - 1, height - 1), outline=_LINE)
    sheet.paste(patch, (left, top))


def _legend(pen: ImageDraw.ImageDraw, sheet: Image.Image, top: int, states: list[str]) -> None:
    left = _MARGIN
    for state in states:
        if state == "missing":
            _hatch(sheet, (left, top, left + 22, top + 14))
            left += 28
        else:
            _badge(pen, left + 13, top + 13, state)
            left += 19
        pen.text((left, top + 7), _WORDS[state], fill=_MUTED, font=_font(12), anchor="lm")
        left += int(pen.textlength(_WORDS[state], font=_font(12))) + 22


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
