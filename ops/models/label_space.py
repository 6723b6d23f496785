"""Whether a model's outputs fit into its label space."""

from __future__ import annotations

from collections.abc import Mapping

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry


def check_class_map(entry: ModelEntry, label_spaces: Mapping[str, int]) -> int:
    """Check a model's class map against the size of its label space.

    Parameters
    ----------
    entry : ModelEntry
    label_spaces : mapping of str to int
        Number of classes of each label space, as in the catalog.

    Returns
    -------
    int
        Number of classes of the model's label space.

    Raises
    ------
    ShiftlakeError
        If the label space is unknown, or the class map names a class outside of it.
    """
    size = label_spaces.get(entry.label_space)
    if size is None:
        raise ShiftlakeError(
            "There is no such label space.",
            expected=f"one of {', '.join(label_spaces)}",
            found=entry.label_space,
            where=entry.name,
            remedy="correct the name, or add it with an overlay (SHIFTLAKE_CATALOG)",
        )
    if entry.class_map is not None and not (entry.class_map and max(entry.class_map) < size):
        raise ShiftlakeError(
            "The class map of a model leaves its label space.",
            expected=f"one or more classes from 0 to {size - 1}",
            found=f"class {max(entry.class_map)}" if entry.class_map else "none",
            where=f"{entry.name}, {entry.label_space}",
            remedy="name for every output the index of its class in the label space",
        )
    return size
