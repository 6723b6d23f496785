"""The twelve ILSVRC classes of the miniature and what each looks like.

They were chosen so that every special case of the benchmarks occurs: the 200-class lists of
ImageNet-A, -O and -R meet them in every combination but none of the three lists holds them all,
nine map to ImageNet-Vid classes and eight to YouTube-BB classes, two of those only to one of
them, and unpadded indices sort differently as text ("1", "10", "100", "291" ... "9").
Wnids, names and lists come from `ops.catalog.classes`; only the choice and the looks are here.
"""

from __future__ import annotations

from ops.catalog import classes as catalog_classes
from ops.miniature.animals import bear, fish, lion, ostrich, quadruped, songbird, swan
from ops.miniature.geometry import Part
from ops.miniature.things import airliner, ball, bus, submarine, umbrella

LOOKS: dict[int, list[Part]] = {
    1: fish((246, 130, 32), (255, 184, 70)),
    9: ostrich(),
    10: songbird((232, 128, 60), (92, 74, 62), (40, 38, 44)),
    100: swan((34, 32, 38)),
    291: lion((150, 84, 36), (226, 172, 96)),
    295: bear((40, 34, 34)),
    340: quadruped((240, 238, 232), (60, 56, 56), stripes=(30, 28, 32)),
    404: airliner((240, 242, 246), (40, 90, 180)),
    574: ball((250, 250, 250), (196, 200, 206), tee=True),
    779: bus((248, 190, 24), (40, 36, 36)),
    833: submarine((66, 104, 112)),
    879: umbrella((214, 48, 92), (250, 240, 240)),
}
"""ILSVRC-1000 index -> coloured outlines."""

CHOSEN: tuple[int, ...] = tuple(sorted(LOOKS))


def wnid(index: int) -> str:
    """Return the WordNet id of an ILSVRC-1000 index."""
    return catalog_classes.ilsvrc().wnids[index]


def name(index: int) -> str:
    """Return the short English name of an ILSVRC-1000 index."""
    return catalog_classes.ilsvrc().names[index].replace("_", " ")


def members(subset: str) -> tuple[int, ...]:
    """Return the chosen classes on a 200-class list (`imagenet_a`, `imagenet_o`, `imagenet_r`)."""
    return tuple(index for index in CHOSEN if index in set(catalog_classes.subset(subset)))


def val_numbers(per_class: int) -> dict[int, int]:
    """Choose validation images whose true label is a chosen class.

    Parameters
    ----------
    per_class : int
        Images of each class, at most 50.

    Returns
    -------
    dict of int to int
        Number in the file name (1 to 50000) -> ILSVRC-1000 index, in ascending order.
    """
    found: dict[int, list[int]] = {index: [] for index in CHOSEN}
    for number, label in enumerate(catalog_classes.val_labels(), start=1):
        if label in found and len(found[label]) < per_class:
            found[label].append(number)
    return dict(sorted((n, label) for label, numbers in found.items() for n in numbers))
