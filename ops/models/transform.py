"""How an image becomes a model's input, as data: sizes, filter and normalisation.

The pixels themselves are made in :mod:`ops.pixels`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, field_validator, model_validator

Interpolation = Literal["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class Transform(BaseModel):
    """The evaluation transform: resize, centre crop, scale to [0, 1], normalise.

    Parameters
    ----------
    resize : int, (int, int) or None
        Length of the shorter side in pixels (the ratio is kept), or the exact (height, width),
        or None to leave the stored size.
    crop : int or None
        Side of the centred square in pixels, padded with black where the image is smaller; None
        for no crop.
    interpolation : str
        Pillow's name of the filter, in lower case.
    antialias : True
        Pillow always widens the filter when it shrinks; recorded because tensor resizing may not.
    mean, std : (float, float, float)
        RGB normalisation on the [0, 1] scale: ``(x / 255 - mean) / std`` in float32.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    resize: PositiveInt | tuple[PositiveInt, PositiveInt] | None = 256
    crop: PositiveInt | None = 224
    interpolation: Interpolation = "bilinear"
    antialias: Literal[True] = True
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD

    @field_validator("mean")
    @classmethod
    def _of_pixels(cls, mean: tuple[float, float, float]) -> tuple[float, float, float]:
        # Often given on the scale 0 to 255, where every prediction is then wrong and no error.
        if not all(0 <= value <= 1 for value in mean):
            raise ValueError("must be on the scale 0 to 1, where 123.675 of 255 is 0.485")
        return mean

    @field_validator("std")
    @classmethod
    def _of_deviations(cls, std: tuple[float, float, float]) -> tuple[float, float, float]:
        if not all(0 < value <= 1 for value in std):
            raise ValueError("must be above 0, on the scale 0 to 1, where 58.395 of 255 is 0.229")
        return std

    @model_validator(mode="after")
    def _one_size(self) -> Transform:
        if self.crop is None and not isinstance(self.resize, tuple):
            raise ValueError("without a crop, resize must be (height, width): inputs form batches")
        return self

    @property
    def canonical(self) -> str:
        """The transform as JSON with sorted keys and no spaces."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of :attr:`canonical`."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]

    @property
    def output_size(self) -> tuple[int, int]:
        """(height, width) of every input, in pixels."""
        if self.crop is not None:
            return (self.crop, self.crop)
        assert isinstance(self.resize, tuple)  # _one_size holds it
        return self.resize
