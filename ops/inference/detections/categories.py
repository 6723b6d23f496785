"""Names of classes, and which class of a label space a category of COCO stands for."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, NamedTuple

from ops import catalog
from ops.catalog import classes
from ops.errors import ShiftlakeError

Kind = Literal["own", "coco91"]
OWN: Final = "own"
COCO91: Final = "coco91"


class Categories(NamedTuple):
    """What the category ids of a detector mean.

    `labels` gives the label of every known id, None for a category that has no class in the label
    space; `missing` names the classes that no category stands for.
    """

    labels: dict[int, int | None]
    missing: tuple[str, ...]


def class_names(label_space: str) -> tuple[str, ...]:
    """Name of every class of a label space, each different.

    Raises
    ------
    ShiftlakeError
        If there is no such label space.
    """
    if label_space in classes.VIDEO_LABEL_SPACES:
        return classes.video(label_space).names
    if label_space == classes.ILSVRC:
        # Two of the short names occur twice.
        return classes.ilsvrc().wnids
    size = catalog.load().label_spaces.get(label_space)
    if size is None:
        raise ShiftlakeError(
            "There is no such label space.",
            expected=", ".join(catalog.load().label_spaces),
            found=label_space,
            where="detections",
            remedy="correct the name, or add it with an overlay (SHIFTLAKE_CATALOG)",
        )
    return tuple(f"class {index}" for index in range(size))


def category_id(label: int) -> int:
    """Id of a class in the files written here: from 1, since 0 is the background to many tools."""
    return label + 1


def categories_of(kind: Kind, label_space: str) -> Categories:
    """What the ids of a detector mean in a label space.

    Parameters
    ----------
    kind : {"own", "coco91"}
        ``own``: ids are labels of the label space and one; ``coco91``: those of COCO.
    label_space : str

    Raises
    ------
    ShiftlakeError
        If COCO's categories are not mapped to the label space.
    """
    names = class_names(label_space)
    if kind == OWN:
        return Categories({category_id(label): label for label in range(len(names))}, ())
    data = _coco()
    if label_space not in data["label_spaces"]:
        raise ShiftlakeError(
            "COCO's categories are not mapped to this label space.",
            expected=f"one of {', '.join(data['label_spaces'])}",
            found=label_space,
            where="ops/inference/detections/data/coco91.json",
            remedy="give a detector whose categories are the dataset's own classes",
        )
    of = data["label_spaces"][label_space]
    by_name = {category: names.index(name) for name, category in of.items()}
    # Detectors have an output for every id up to the last, those that COCO never gave included.
    named = {int(at): name for at, name in data["categories"].items()}
    labels = {at: by_name.get(named.get(at, "")) for at in range(1, max(named) + 1)}
    return Categories(labels, tuple(name for name in names if name not in of))


@cache
def _coco() -> dict[str, Any]:
    text = resources.files("ops.inference.detections").joinpath("data/coco91.json").read_text()
    content: dict[str, Any] = json.loads(text)
    return content
