"""A photograph of a pixel's width is rendered as what it shows, whatever the preset crops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from ops.rendering.engines import corruptions


@pytest.mark.parametrize("preset", ["imagenet_224", "imagenet_299", "tiny_imagenet_64"])
@pytest.mark.parametrize("size", [(1, 1), (1, 20), (20, 1), (2, 3)])
def test_no_preset_makes_black_out_of_a_line(preset: str, size: tuple[int, int]) -> None:
    recipe: Any = SimpleNamespace(preset=preset)
    found = corruptions.prepare(Image.new("RGB", size, (200, 90, 30)), recipe)
    assert found.shape[0] == found.shape[1]
    assert (found == (200, 90, 30)).all()
