"""A figure as SVG for a page, or as a PNG for a place that only takes pictures.

Both are the same bytes for the same figure. In the SVG, text stays text, the colours of
:mod:`ops.report.style` are CSS variables, and whatever belongs to a model carries its name, with a
tooltip.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ops.errors import ShiftlakeError
from ops.report import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

_VARIABLES = {
    style.INK: "ink",
    style.MUTED: "muted",
    style.GRID: "grid",
    style.CROWD: "crowd",
    style.PAPER: "paper",
    **{colour: f"model-{i}" for i, colour in enumerate(style.COLOURS)},
}
_FONT = "Helvetica, Arial, sans-serif"
_MARK = "mark:"
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_SCALES = (2.0, 1.5, 1.25, 1.0, 0.8, 0.6, 0.45, 0.3)


def mark(artist: Artist, model: str, title: str) -> None:
    """Say which model something drawn belongs to, and its tooltip."""
    artist.set_gid(_MARK + json.dumps([[model, title]], ensure_ascii=False))


def mark_points(artist: Artist, named: Sequence[tuple[str, str]]) -> None:
    """Say so of every point of a line of markers, in their order, as (model, tooltip)."""
    artist.set_gid(_MARK + json.dumps(list(named), ensure_ascii=False))


def as_svg(figure: Figure) -> str:
    """A figure as an ``<svg>`` element, without a date and without anything to load.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    str
        Scales to the width it is given, up to its own.
    """
    import matplotlib

    buffer = io.StringIO()
    with style.paper():
        # Ids are hashes of what they name; the label keeps those of two figures apart.
        matplotlib.rcParams["svg.hashsalt"] = str(figure.get_label())
        figure.savefig(
            buffer,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
            transparent=True,
        )
    root = ElementTree.fromstring(buffer.getvalue())
    _tidy(root)
    width, height = root.attrib["viewBox"].split()[2:]
    root.attrib.clear()
    root.attrib |= {
        "xmlns": _SVG,
        "viewBox": f"0 0 {width} {height}",
        "style": f"max-width: {width}px; font-family: {_FONT}; stroke-linejoin: round",
        "role": "img",
    }
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def as_png_data_uri(figure: Figure, max_bytes: int = 90_000) -> str:
    """A figure on white as ``data:image/png;base64,...``, at the best resolution that fits.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    max_bytes : int
        Of the PNG; the address is a third longer.

    Raises
    ------
    ShiftlakeError
        If not even a thumbnail fits.
    """
    from PIL import Image

    size = 0
    for scale in _SCALES:
        drawn = io.BytesIO()
        with style.paper():
            figure.savefig(drawn, format="png", dpi=72 * scale, facecolor="white")
        packed = io.BytesIO()
        # Few colours, so that a palette loses nothing that can be seen.
        picture = Image.open(drawn).convert("RGB")
        picture.quantize(128, Image.Quantize.MEDIANCUT).save(packed, "PNG", optimize=True)
        size = packed.tell()
        if size <= max_bytes:
            return "data:image/png;base64," + base64.b64encode(packed.getvalue()).decode()
    raise ShiftlakeError(
        "A figure does not fit.",
        expected=f"at most {max_bytes:,} bytes",
        found=f"{size:,} bytes at {_SCALES[-1]:g} of its size",
        where=str(figure.get_label()),
        remedy="allow more bytes, or link to the report",
    )


def _tidy(element: Element) -> None:
    """Leave out what is not drawn, shorten what is, and put names and tooltips where marks are."""
    element.tag = element.tag.rpartition("}")[2]
    element.text = (element.text or "").strip() or None
    element.tail = None
    kept: list[Element] = []
    for child in element:
        _tidy(child)
        if child.tag == "g" and not child.attrib:
            kept += list(child)
        elif child.tag not in ("metadata", "style") and (
            len(child) or child.tag not in ("g", "defs")
        ):
            kept.append(child)
    element[:] = kept
    own = element.attrib.pop("id", "") if element.tag == "g" else ""
    element.attrib.update({name: _short(name, value) for name, value in element.attrib.items()})
    if element.attrib.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    if (link := element.attrib.pop(_LINK, None)) is not None:
        element.attrib["href"] = link
    if element.tag == "g":
        _share_style(element)
    if own.startswith(_MARK):
        _name(element, json.loads(own.removeprefix(_MARK)))


def _share_style(group: Element) -> None:
    """Move a style that all markers of a group have to the group."""
    styles = {child.attrib.get("style") for child in group}
    (only,) = styles if len(styles) == 1 else (None,)
    if only is not None and len(group) > 1 and all(child.tag == "use" for child in group):
        group.attrib["style"] = only
        for child in group:
            del child.attrib["style"]


def _name(group: Element, marks: list[tuple[str, str]]) -> None:
    places = [group] if len(marks) == 1 else list(group.iter("use"))
    for place, (model, title) in zip(places, marks, strict=True):
        if model:
            place.attrib["data-model"] = model
        if title:
            tooltip = Element("title")
            tooltip.text = title
            place.insert(0, tooltip)


def _short(name: str, value: str) -> str:
    """An attribute with numbers to a hundredth of a pixel, and colours that a page can change."""
    if name == "style":
        value = re.sub(r"font-family: [^;]*;? ?", "", value)
        for colour, variable in _VARIABLES.items():
            value = value.replace(f": {colour}", f": var(--{variable}, {colour})")
        return value
    if name not in ("d", "x", "y", "transform"):
        return value
    shorter = re.sub(
        r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), value
    )
    return " ".join(shorter.split())
