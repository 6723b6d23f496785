"""What the numbers in a results file mean: images and categories of a COCO ground-truth file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.inference.detections.categories import OWN, Categories, Kind, categories_of, class_names
from ops.inference.detections.framed import Framed

_SUFFIXES = (".jpg", ".jpeg", ".JPEG", ".JPG", ".png")


@dataclass(frozen=True)
class CocoTruth:
    """Which frame an image id is, and which class a category id.

    Attributes
    ----------
    image_ids : ndarray of int64, shape (I,)
        Ascending.
    frames : ndarray of int64, shape (I,)
        Position of the image's frame among the dataset's sorted keys.
    categories : Categories
    """

    image_ids: NDArray[np.int64]
    frames: NDArray[np.int64]
    categories: Categories


def truth_of(framed: Framed, kind: Kind = OWN) -> CocoTruth:
    """The numbers of the file that :func:`write_ground_truth` writes, without the file.

    Parameters
    ----------
    framed : Framed
    kind : {"own", "coco91"}
        What category ids are: of that file, or COCO's.
    """
    places = np.arange(framed.frames.num_rows, dtype=np.int64)
    return CocoTruth(places + 1, places, categories_of(kind, framed.manifest.label_space))


def read_truth(file: BinaryIO, framed: Framed, where: object, kind: Kind = OWN) -> CocoTruth:
    """Read a ground-truth file that somebody else made over the same frames.

    Parameters
    ----------
    file : binary file
        COCO's format; of each image `file_name` is a sample key, with or without a suffix such as
        ``.jpg``, and sizes, where given, are those of the frame. Categories are known by name, or
        by WordNet id.
    framed : Framed
    where : object
        Names the file in an error.
    kind : {"own", "coco91"}
        With ``coco91`` category ids are COCO's, and those in the file are not looked at.

    Raises
    ------
    ShiftlakeError
        If it is no such file, names an id twice, an image that is no frame of the dataset, one of
        another size, or a category that is no class of it.
    """
    content = _content(file, where)
    keys = framed.frames["sample_key"].to_pylist()
    place = {key: at for at, key in enumerate(keys)}
    widths, heights = (framed.frames[name].to_pylist() for name in ("width", "height"))
    ids: dict[int, int] = {}
    for image in _entries(content, "images", where):
        number, name = _number(image, "image", where), str(image.get("file_name"))
        at = place.get(name, place.get(_stem(name)))
        if at is None:
            raise _refused(f"frames of {framed.manifest.name}", f"file_name {name!r}", where)
        size = (image.get("width", widths[at]), image.get("height", heights[at]))
        if size != (widths[at], heights[at]):
            expected = f"{widths[at]} x {heights[at]} pixels, the frame as it is displayed"
            raise _refused(expected, f"{size[0]} x {size[1]} for {name}", where)
        if ids.setdefault(number, at) != at:
            raise _refused("one image an id", f"two images with the id {number}", where)
    known = categories_of(kind, framed.manifest.label_space)
    if kind == OWN:
        known = _by_name(content, framed.manifest.label_space, where)
    order = sorted(ids)
    return CocoTruth(
        np.array(order, np.int64), np.array([ids[at] for at in order], np.int64), known
    )


def _by_name(content: Mapping[str, Any], label_space: str, where: object) -> Categories:
    names = class_names(label_space)
    label_of = {name: label for label, name in enumerate(names)}
    if label_space in classes.VIDEO_LABEL_SPACES:
        wnids = classes.video(label_space).wnids
        label_of |= {wnid: label for label, wnid in enumerate(wnids) if wnid}
    labels: dict[int, int | None] = {}
    for category in _entries(content, "categories", where):
        number, name = _number(category, "category", where), str(category.get("name"))
        if name not in label_of:
            raise _refused(f"classes of {label_space}", f"a category {name!r}", where)
        if labels.setdefault(number, label_of[name]) != label_of[name]:
            raise _refused("one category an id", f"two categories with the id {number}", where)
    there = set(labels.values())
    return Categories(labels, tuple(n for at, n in enumerate(names) if at not in there))


def _content(file: BinaryIO, where: object) -> Mapping[str, Any]:
    try:
        content = json.load(file)
    except (ValueError, RecursionError) as error:
        raise _refused("JSON", f"{type(error).__name__}: {error}", where) from error
    if not isinstance(content, Mapping):
        raise _refused("an object with images and categories", type(content).__name__, where)
    return content


def _entries(content: Mapping[str, Any], name: str, where: object) -> list[Mapping[str, Any]]:
    entries = content.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise _refused(f"a list of objects under {name!r}", type(entries).__name__, where)
    return entries


def _number(entry: Mapping[str, Any], what: str, where: object) -> int:
    number = entry.get("id")
    if type(number) is not int or not -(2**63) <= number < 2**63:
        raise _refused(f"a whole number as the id of each {what}", repr(number), where)
    return number


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _refused(expected: str, found: str, where: object) -> ShiftlakeError:
    return ShiftlakeError(
        "The ground-truth file does not fit the dataset.",
        expected=expected,
        found=found,
        where=where,
        remedy="write one with shiftlake detections ground-truth, and detect with its numbers",
    )
