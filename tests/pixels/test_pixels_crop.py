"""A resize never makes a picture out of nothing."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from ops.pixels import UndecodableImage, resize_and_crop


@pytest.mark.parametrize(
    ("size", "resize", "crop"),
    [((0, 5), None, None), ((5, 0), (8, 8), None), ((0, 0), (4, 4), 2), ((5, 5), (0, 8), 4)],
)
def test_an_image_without_pixels_is_no_black_picture(
    size: tuple[int, int], resize: tuple[int, int] | None, crop: int | None
) -> None:
    with pytest.raises(UndecodableImage, match="at least one pixel"):
        resize_and_crop(Image.new("RGB", size), resize, crop)


def test_a_line_of_pixels_is_a_picture() -> None:
    line = Image.fromarray(np.full((9, 1, 3), 200, np.uint8))
    assert resize_and_crop(line, (6, 6), None).min() == 200
