"""How frame sets are mined: everything that decides which frames are taken."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class MiningConfig(BaseModel):
    """Choices of a mining; every one of them is part of the version of what is mined.

    The defaults are those of ImageNet-Vid-Robust (Shankar et al., section 3.1): one anchor a
    video, ten frames on either side, a neighbour shares a class with its anchor.

    Attributes
    ----------
    k : int
        Neighbours on either side of an anchor.
    stride : int
        Frames from one neighbour to the next.
    anchors_per_video : int
        Frame sets of each video, or of each segment; fewer where fewer frames can be anchors.
    per : {"video", "segment"}
        What anchors are drawn from: a whole video or, as in Youtube-BB, each labelled stretch.
    seed : int
    classes : tuple of int or None
        An anchor shows at least one of these, in the label space of the source; None for any.
    min_object_size : float
        An anchor has a box, of a wanted class, whose shorter side is at least this share of the
        picture's shorter side. With 0, boxes do not matter.
    label_rule : {"share", "equal"}
        A neighbour whose labels are known shares a class with its anchor, or has the same ones.
    max_gap : float or None
        Frames further apart in time than this many frames of the video's rate, anywhere between
        anchor and neighbour, leave the neighbour out; None for any gap.
    cuts : bool
        Leave out neighbours behind a scene cut.
    quality : int
        Of the JPEG files, 1 to 100; a frame published as JPEG keeps its bytes.
    untagged_hd_is_bt709 : bool
        Whether a video of 720 lines or more that does not say its colour matrix has BT.709;
        decoders take BT.601 for all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int = Field(default=10, ge=1, le=1000)
    stride: int = Field(default=1, ge=1)
    anchors_per_video: int = Field(default=1, ge=1)
    per: Literal["video", "segment"] = "video"
    seed: int = 7600
    classes: tuple[int, ...] | None = None
    min_object_size: float = Field(default=0.0, ge=0.0, le=1.0)
    label_rule: Literal["share", "equal"] = "share"
    max_gap: float | None = Field(default=None, gt=0.0)
    cuts: bool = False
    quality: int = Field(default=95, ge=1, le=100)
    untagged_hd_is_bt709: bool = False

    @field_validator("classes")
    @classmethod
    def _each_once(cls, classes: tuple[int, ...] | None) -> tuple[int, ...] | None:
        # In one order: the same choice has the same version however it was written.
        return None if classes is None else tuple(sorted(set(classes)))

    @property
    def offsets(self) -> tuple[int, ...]:
        """Places in a frame set, in steps of the stride: ``-k`` to ``k``, the anchor at 0."""
        return tuple(range(-self.k, self.k + 1))
