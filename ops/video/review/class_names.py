"""What to call the classes of a label space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.catalog import classes

if TYPE_CHECKING:
    from ops.catalog import Catalog


def class_names(label_space: str, catalog: Catalog | None, at_least: int = 0) -> tuple[str, ...]:
    """Names of the classes by label; of a label space without names, their numbers.

    Parameters
    ----------
    label_space : str
    catalog : Catalog, optional
        Tells how many classes a label space has.
    at_least : int
        How many there must be where nothing tells.
    """
    if label_space == classes.ILSVRC:
        return classes.ilsvrc().names
    if label_space in classes.VIDEO_LABEL_SPACES:
        return classes.video(label_space).names
    known = 0 if catalog is None else catalog.label_spaces.get(label_space, 0)
    return tuple(str(label) for label in range(max(known, at_least)))
