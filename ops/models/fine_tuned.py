"""What is recorded of a fine-tuning: how it was done, on which videos, and what it changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ops.metrics import clopper_pearson
from ops.storage import Root, paths
from ops.video.datasets import MINED, REVIEWED, mined_dataset, reviewed_dataset

Loss = Literal["plain", "pm_k"]


class Arguments(BaseModel):
    """The arguments of :func:`ops.models.pm_k_training.fine_tune` that decide the weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    loss: Loss
    epochs: Annotated[int, Field(ge=1)]
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    candidates: Annotated[int, Field(ge=2)] | None
    mix: Annotated[float, Field(ge=0, le=1)]
    warm_up: Annotated[int, Field(ge=0)]
    sets_per_step: Annotated[int, Field(ge=1)]
    k: Annotated[int, Field(ge=0)]
    held_out: Annotated[float, Field(ge=0, lt=1)]
    seed: int


class Epoch(BaseModel):
    """One epoch over the sets of training.

    Attributes
    ----------
    loss : float
        Mean of what was minimised.
    right : int
        Sets whose frame of the step was right, before the step.
    moved : int
        Sets whose frame of the step was not the anchor.
    """

    model_config = ConfigDict(frozen=True)

    loss: float
    right: int
    moved: int


class Score(BaseModel):
    """Counts of a model over frame sets, the anchor in its own set.

    Attributes
    ----------
    n : int
        Sets.
    anchors : int
        Those whose anchor is right.
    all_frames : int
        Those of which every frame within k is right.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    anchors: int
    all_frames: int

    @property
    def flips(self) -> int:
        """Sets whose anchor is right and a neighbour wrong: the drop, as a count."""
        return self.anchors - self.all_frames

    @property
    def rows(self) -> list[tuple[str, int, int, float, float]]:
        """Name, count, of how many, and the exact 95 % interval of every share.

        The last is the share of right anchors that flip. A loss that lowers the accuracy lowers
        the drop with it, and may leave this as it was.
        """
        counted = [
            ("anchors", self.anchors, self.n),
            ("all frames", self.all_frames, self.n),
            ("drop", self.flips, self.n),
            ("flips of right anchors", self.flips, self.anchors),
        ]
        found = []
        for name, k, n in counted:
            lo, hi = clopper_pearson(k, n)
            found.append((name, k, n, float(lo), float(hi)))
        return found


class FineTuned(BaseModel):
    """How a model's weights came about.

    Attributes
    ----------
    model, base : str
        The new model and the one it was made of.
    base_weights_sha256 : str
    dataset, dataset_version : str
    arguments : Arguments
    n_trained, n_held_out : int
        Sets.
    held_out_videos : tuple of str
        No frame of theirs was trained on.
    skipped : dict of str to str
        Why a set was not used, by its name.
    epochs : tuple of Epoch
    before, after : Score or None
        Both models on the sets of the held-out videos; None where there are none.
    """

    model_config = ConfigDict(frozen=True)

    model: str
    base: str
    base_weights_sha256: str
    dataset: str
    dataset_version: str
    arguments: Arguments
    n_trained: int
    n_held_out: int
    held_out_videos: tuple[str, ...]
    skipped: dict[str, str]
    epochs: tuple[Epoch, ...]
    before: Score | None
    after: Score | None


def read_training(root: Root, key: str) -> FineTuned | None:
    """The record of a training; None where weights were trained in another way, or elsewhere.

    Parameters
    ----------
    root : Root
    key : str
        `training` of a registered model.
    """
    try:
        return FineTuned.model_validate(root.read_json(paths.training(key)))
    except FileNotFoundError:
        return None


def seen_in_training(fine_tuned_on: Iterable[str], datasets: Iterable[str]) -> list[str]:
    """Those of some datasets that hold videos a model was fine-tuned on.

    Parameters
    ----------
    fine_tuned_on : iterable of str
        Of a registered model.
    datasets : iterable of str
        Mined and reviewed sets of one source have the same videos.
    """
    seen = {same for name in fine_tuned_on for same in _of_one_source(name)}
    return [name for name in datasets if name in seen]


def _of_one_source(name: str) -> tuple[str, ...]:
    benchmark, _, source = name.partition("/")
    if benchmark in (MINED, REVIEWED):
        return mined_dataset(source), reviewed_dataset(source)
    return (name,)
