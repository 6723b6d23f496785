"""The class lists that rows depend on: masks, and what the classes of a video benchmark are."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from ops.catalog import classes

# Its rows are the clean companion of every masked benchmark, so they carry every mask.
COMPANION = "imagenet_1k/val"


def mask_names(dataset: str, mask: str | None) -> tuple[str, ...]:
    """Masks that are reported for a dataset: its own, or on the clean companion all."""
    if mask is not None:
        return (mask,)
    return classes.MASKS if dataset == COMPANION else ()


@cache
def lists_sha256(dataset: str, mask: str | None, model_space: str, label_space: str) -> str | None:
    """SHA-256 of the class lists that the rows of a model on a dataset are made with.

    Parameters
    ----------
    dataset : str
    mask : str or None
        The dataset's own mask.
    model_space, label_space : str
        Label spaces of the model's outputs and of the dataset.

    Returns
    -------
    str or None
        64 hex digits; None where no list is used, or the dataset cannot be evaluated.
    """
    lists: dict[str, object] = {}
    for name in mask_names(dataset, mask):
        if name in classes.MASKS:
            lists[name] = classes.subset(name)
    if model_space != label_space and label_space in classes.VIDEO_LABEL_SPACES:
        lists[label_space] = classes.video(label_space).ilsvrc_indices
    if not lists:
        return None
    return hashlib.sha256(json.dumps(lists, sort_keys=True).encode()).hexdigest()
