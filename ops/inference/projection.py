"""From a model's outputs to logits in a dataset's label space, and the masks that apply there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ops import catalog as catalogs
from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.inference.class_lists import mask_names
from ops.inference.scores import Logits
from ops.models import ModelEntry
from ops.models.label_space import check_class_map
from ops.shards import Manifest


@dataclass(frozen=True)
class Projection:
    """How outputs of one model become logits of one dataset.

    Parameters
    ----------
    class_map : tuple of int or None
        Output ``j`` is class ``class_map[j]`` of the model's label space.
    n_classes : int
        Size of the model's label space.
    groups : tuple of tuple of int or None
        For each class of a video label space, the classes of the model it stands for.
    mask : str or None
        The dataset's own class mask.
    masks : dict of str to tuple of int
        All masks to report.
    """

    model: str
    dataset: str
    class_map: tuple[int, ...] | None
    n_classes: int
    groups: tuple[tuple[int, ...], ...] | None
    mask: str | None
    masks: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __call__(self, outputs: Logits) -> Logits:
        """Project a batch of outputs.

        Parameters
        ----------
        outputs : float32 array, shape (samples, outputs)
            Finite.

        Returns
        -------
        float32 array, shape (samples, classes of the dataset)
            ``-inf`` for a class the model has no output for. A video class is the *maximum* over
            the classes it stands for (Shankar et al. 2021, section 4).

        Raises
        ------
        ShiftlakeError
            If the number of outputs contradicts the class map or the label space.
        """
        expected = self.n_classes if self.class_map is None else len(self.class_map)
        if outputs.shape[1] != expected:
            raise ShiftlakeError(
                "The model has another number of outputs than its label space has classes.",
                expected=f"{expected} outputs",
                found=f"{outputs.shape[1]}",
                where=self.model,
                remedy="register it with a class_map that names the class of every output",
            )
        logits = outputs
        if self.class_map is not None:
            logits = np.full((len(outputs), self.n_classes), -np.inf, dtype=np.float32)
            logits[:, list(self.class_map)] = outputs
        if self.groups is not None:
            projected = np.full((len(logits), len(self.groups)), -np.inf, dtype=np.float32)
            for index, group in enumerate(self.groups):
                if group:
                    projected[:, index] = logits[:, list(group)].max(axis=1)
            logits = projected
        if len(logits) and not np.isfinite(logits).any(axis=1).all():
            raise self._no_class(self.dataset)
        return logits

    def _no_class(self, what: str) -> ShiftlakeError:
        return ShiftlakeError(
            f"The model has no output for any class of {what}.",
            expected="at least one class in common",
            found="none",
            where=f"{self.model} on {self.dataset}",
            remedy="evaluate it on a dataset whose classes it knows",
        )


def projection(
    entry: ModelEntry, manifest: Manifest, label_spaces: Mapping[str, int] | None = None
) -> Projection:
    """The projection of a model's outputs for a dataset.

    Parameters
    ----------
    entry : ModelEntry
    manifest : Manifest
    label_spaces : mapping of str to int, optional
        Number of classes of each label space; by default the catalog's.

    Raises
    ------
    ShiftlakeError
        If the label spaces do not meet or are unknown, the class map leaves its label space, or
        the model knows no class of the dataset's mask.
    """
    space, own = manifest.label_space, entry.label_space
    if not classes.understands(own, space):
        raise ShiftlakeError(
            "The model predicts in another label space than the dataset is labelled in.",
            expected=" or ".join(
                [f"a model in {space}"]
                + ([classes.ILSVRC] if classes.understands(classes.ILSVRC, space) else [])
            ),
            found=f"{entry.name} predicts in {own}",
            where=manifest.name,
            remedy="choose a dataset of the model's label space, or register another model",
        )
    sizes = catalogs.load().label_spaces if label_spaces is None else label_spaces
    made = Projection(
        model=entry.name,
        dataset=manifest.name,
        class_map=entry.class_map,
        n_classes=check_class_map(entry, sizes),
        groups=classes.video(space).ilsvrc_indices if space != own else None,
        mask=manifest.mask,
        masks=_masks(entry, manifest),
    )
    if manifest.mask is not None and manifest.mask not in made.masks:
        raise made._no_class(f"the mask {manifest.mask}")
    return made


def _masks(entry: ModelEntry, manifest: Manifest) -> dict[str, tuple[int, ...]]:
    known = None if entry.class_map is None else set(entry.class_map)
    names = mask_names(manifest.name, manifest.mask)
    found = {name: classes.subset(name) for name in names}
    # A model of a few classes may know none of a mask; a softmax over nothing is undefined.
    return {name: mask for name, mask in found.items() if known is None or known & set(mask)}
