"""How many pictures each benchmark gets; the special cases are the same in every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ops.errors import ShiftlakeError

SizeName = Literal["demo", "test"]


@dataclass(frozen=True)
class Size:
    """Counts of one preset: pictures of each class, where the name does not say otherwise.

    `corrupted` is the number of validation images in ImageNet-C, over all classes; `sequences` is
    the number of ImageNet-P videos of each perturbation; `video_sets` is the number of frame sets
    of each class; `cifar_corrupted` is the number of test images in CIFAR-C, over all classes.
    """

    name: SizeName
    train: int
    val: int
    v2: int
    sketch: int
    natural: int
    corrupted: int
    sequences: int
    video_sets: int
    cifar_train: int
    cifar_test: int
    cifar_corrupted: int
    caltech: int
    sun: int


SIZES: dict[str, Size] = {
    "demo": Size(
        "demo", train=60, val=12, v2=10, sketch=12, natural=12, corrupted=24, sequences=3,
        video_sets=3, cifar_train=50, cifar_test=12, cifar_corrupted=4, caltech=30, sun=30,
    ),
    "test": Size(
        "test", train=2, val=2, v2=2, sketch=2, natural=2, corrupted=4, sequences=1,
        video_sets=1, cifar_train=3, cifar_test=2, cifar_corrupted=2, caltech=4, sun=6,
    ),
}  # fmt: skip


def size_named(name: str) -> Size:
    """Return a preset, or raise `ShiftlakeError` with the names there are."""
    if name not in SIZES:
        raise ShiftlakeError(
            "The miniature has no such size.",
            expected=" or ".join(SIZES),
            found=name,
            where="ops.miniature.build(size=...)",
            remedy="Choose one of the sizes named above.",
        )
    return SIZES[name]
