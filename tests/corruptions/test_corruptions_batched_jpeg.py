import io

import numpy as np
import pytest
import torch
from PIL import Image

from ops.corruptions.batched import round_trip
from ops.corruptions.encoding import decode_jpeg, encode_jpeg


def pictures(height, width):
    """Images that reach every branch of the codec: noise, edges, extremes and smooth shades."""
    rng = np.random.default_rng(height * width)
    y, x = np.mgrid[:height, :width]
    noise = rng.integers(0, 256, (height, width, 3))
    extremes = rng.integers(0, 2, (height, width, 3)) * 255
    checks = np.repeat((x + y)[..., None] % 2 * 255, 3, axis=2)
    bars = np.stack((x % 2 * 255, y % 3 * 127, (x // 2 + y // 3) % 2 * 255), axis=2)
    shades = np.stack((x, y, x + y), axis=2) % 256
    waves = np.stack([128 + 127 * np.sin(x / a + y / 9) for a in (5, 17, 60)], axis=2)
    flat = np.full((height, width, 3), (255, 0, 37))
    return np.stack((noise, extremes, checks, bars, shades, waves, flat)).astype(np.uint8)


def through_pillow(image, quality):
    """The image after a file that Pillow writes and reads."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def on_device(images, quality):
    """The images after the emulated file, channels last again."""
    tensors = torch.from_numpy(images).permute(0, 3, 1, 2).contiguous()
    return round_trip(tensors, quality).permute(0, 2, 3, 1).numpy()


# Every quality that is used, at the benchmark's size; other sizes for their edges.
CASES = [((224, 224), quality) for quality in (7, 10, 15, 18, 25, 85, 100)] + [
    (size, quality)
    for size in ((299, 299), (64, 64), (37, 90), (16, 5), (1, 33))
    for quality in (13, 50, 85)
]


@pytest.mark.parametrize(("size", "quality"), CASES)
def test_not_one_sample_differs_from_libjpeg_turbo(size, quality):
    images = pictures(*size)
    expected = np.stack([through_pillow(image, quality) for image in images])
    np.testing.assert_array_equal(on_device(images, quality), expected)


def test_stored_pixels_are_those_of_the_rendered_datasets_files():
    images = pictures(224, 224)
    expected = np.stack([decode_jpeg(encode_jpeg(image)) for image in images])
    np.testing.assert_array_equal(on_device(images, 85), expected)
