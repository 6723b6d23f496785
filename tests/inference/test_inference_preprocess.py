"""The transform gives torchvision's pixels, whatever the size of the image."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from ops.inference.forward import Forward
from ops.inference.preprocess import apply, prepare
from ops.inference.record import Numerics
from ops.models import Transform
from ops.pixels import UndecodableImage

FILTERS = ["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]


def noise(width: int, height: int, levels: int = 256) -> Image.Image:
    """Uniform noise from black to white; the fewer levels, the more a filter overshoots."""
    rng = np.random.default_rng(width * 10_007 + height)
    pixels = rng.integers(0, levels, (height, width, 3)) * 255 // (levels - 1)
    return Image.fromarray(pixels.astype(np.uint8))


def by_the_rule(
    image: Image.Image, resize: int | tuple[int, int], crop: int, kind: str
) -> np.ndarray:
    """The published rule in plain steps: whole resize, black padding, centred square."""
    width, height = image.size
    if isinstance(resize, tuple):
        size = (resize[1], resize[0])
    elif width <= height:
        size = (resize, int(resize * height / width))
    else:
        size = (int(resize * width / height), resize)
    pixels = np.asarray(image.resize(size, getattr(Image.Resampling, kind.upper())))
    for axis in (0, 1):
        lack = crop - pixels.shape[axis]
        if lack > 0:
            around = [(0, 0), (0, 0), (0, 0)]
            around[axis] = (math.floor(lack / 2), math.ceil(lack / 2))
            pixels = np.pad(pixels, around)
        else:
            start = round(-lack / 2)
            pixels = pixels[start : start + crop] if axis == 0 else pixels[:, start : start + crop]
    return pixels


@settings(max_examples=250, deadline=None)
@given(
    width=st.integers(1, 260),
    height=st.integers(1, 260),
    resize=st.integers(1, 120) | st.tuples(st.integers(1, 260), st.integers(1, 260)),
    crop=st.integers(1, 120),
    kind=st.sampled_from(["bilinear", "bicubic"]) | st.sampled_from(FILTERS),
    levels=st.sampled_from([2, 256]),
)
@example(width=250, height=187, resize=128, crop=112, kind="bilinear", levels=256)
@example(width=187, height=250, resize=128, crop=112, kind="bicubic", levels=2)
@example(width=64, height=64, resize=64, crop=64, kind="bilinear", levels=256)
@example(width=201, height=64, resize=64, crop=63, kind="lanczos", levels=256)
@example(width=3, height=200, resize=5, crop=90, kind="bicubic", levels=256)
@example(width=1, height=1, resize=120, crop=1, kind="bicubic", levels=2)
# The two at which Pillow turns from rows first to columns first, and the image over 100 widths.
@example(width=60, height=200, resize=(120, 20), crop=40, kind="bilinear", levels=256)
@example(width=60, height=200, resize=(119, 20), crop=40, kind="bilinear", levels=256)
@example(width=2, height=250, resize=(249, 1), crop=100, kind="bicubic", levels=256)
def test_pixels_are_those_of_a_whole_resize_then_a_crop(
    width: int, height: int, resize: int | tuple[int, int], crop: int, kind: str, levels: int
) -> None:
    image = noise(width, height, levels)
    transform = Transform(resize=resize, crop=crop, interpolation=kind)
    expected = by_the_rule(image, resize, crop, kind)
    assert np.array_equal(apply(image, transform), expected)
    used = np.full_like(expected, 77)
    assert apply(image, transform, used) is used
    assert np.array_equal(used, expected)


@pytest.mark.parametrize("size", [(500, 375), (375, 500), (500, 333), (1280, 720), (224, 224)])
@pytest.mark.parametrize(
    ("resize", "kind"), [(256, "bilinear"), (235, "bicubic"), (248, "bicubic")]
)
def test_pixels_at_the_sizes_of_the_benchmarks(
    size: tuple[int, int], resize: int, kind: str
) -> None:
    image = noise(*size)
    transform = Transform(resize=resize, crop=224, interpolation=kind)
    assert np.array_equal(apply(image, transform), by_the_rule(image, resize, 224, kind))


@pytest.mark.parametrize("size", [(2_300, 2_000), (30_000, 70), (70, 30_000)])
def test_pixels_of_images_too_large_for_one_piece_or_the_cache(size: tuple[int, int]) -> None:
    image = noise(*size)
    transform = Transform(resize=64, crop=56, interpolation="bicubic")
    assert np.array_equal(apply(image, transform), by_the_rule(image, 64, 56, "bicubic"))


def test_a_pair_squashes_and_none_keeps_the_stored_size() -> None:
    image = noise(90, 60)
    squashed = apply(image, Transform(resize=(40, 50), crop=None))
    assert np.array_equal(squashed, np.asarray(image.resize((50, 40), 2)))
    stored = apply(image, Transform(resize=None, crop=60))
    assert np.array_equal(stored, np.asarray(image)[:, 15:75])


@pytest.fixture(scope="module")
def transforms():  # type: ignore[no-untyped-def]
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    # Its wheel, built for CUDA, stops beside a CPU torch at two operators no transform uses.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torchvision import transforms

    return transforms


@settings(max_examples=40, deadline=None)
@given(
    width=st.integers(8, 400),
    height=st.integers(8, 400),
    sizes=st.sampled_from([(256, 224), (64, 64), (72, 64), (30, 65), (235, 224)]),
    kind=st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"]),
)
def test_input_is_torchvisions_to_the_last_bit(  # type: ignore[no-untyped-def]
    transforms, width: int, height: int, sizes: tuple[int, int], kind: str
) -> None:
    transform = Transform(resize=sizes[0], crop=sizes[1], interpolation=kind)
    theirs = transforms.Compose(
        [
            transforms.Resize(sizes[0], transforms.InterpolationMode(kind)),
            transforms.CenterCrop(sizes[1]),
            transforms.ToTensor(),
            transforms.Normalize(transform.mean, transform.std),
        ]
    )
    images = [noise(width, height), noise(height, width)]
    forward = Forward(
        torch.nn.Identity(), transform, Numerics(dtype="fp32", device="cpu"), "identity"
    )
    pixels = np.stack([apply(image, transform) for image in images])
    mine = forward.normalise(torch.from_numpy(pixels))
    assert torch.equal(mine, torch.stack([theirs(image) for image in images]))


@pytest.mark.parametrize("size", [(1, 60_000), (60_000, 1), (2, 4_000_000)])
@pytest.mark.parametrize("kind", ["bilinear", "lanczos"])
def test_a_line_of_pixels_is_never_blown_up_to_gigapixels(size: tuple[int, int], kind: str) -> None:
    image = Image.new("RGB", size)
    transform = Transform(resize=256, crop=8, interpolation=kind)
    out = np.full((8, 8, 3), 7, np.uint8)
    reason = prepare(image, transform, out)
    assert reason is not None
    assert reason.startswith("would be resized to ")
    assert "limit 89,478,485" in reason
    assert not out.any()
    with pytest.raises(UndecodableImage, match="cannot be resized"):
        apply(image, transform)


def test_the_path_that_resizes_only_the_crop_is_bounded_as_well() -> None:
    transform = Transform(resize=16_384, crop=8)
    assert prepare(Image.new("RGB", (400, 200)), transform, np.empty((8, 8, 3), np.uint8))
