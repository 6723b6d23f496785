"""The six frost photographs of ImageNet-C's generator, drawn: same names, sizes and formats."""

from __future__ import annotations

import numpy as np
from PIL import Image
from scipy import ndimage

from ops.miniature import encode
from ops.miniature.keyed import generator
from ops.miniature.publication import Publication

# Width and height of the published files. The third shows what the second shows.
SIZES = {1: (900, 600), 2: (560, 315), 3: (560, 315), 4: (527, 350), 5: (660, 495), 6: (485, 323)}


def publish(publication: Publication) -> list[bytes]:
    """Write the frost textures of imagenet-c, and return their files in order."""
    files = []
    for number, size in SIZES.items():
        drawn = 2 if number == 3 else number
        picture = _frost(size, generator(publication.seed, "imagenet-c", "frost", drawn))
        photograph = number > 3
        content = encode.jpeg(picture, 90) if photograph else encode.rgba_png(picture)
        suffix = "jpg" if photograph else "png"
        name = f"frost{number}.{suffix}"
        publication.put("imagenet-c", f"frost_texture_frost{number}", name, content)
        files.append(content)
    return files


def _frost(size: tuple[int, int], rng: np.random.Generator) -> Image.Image:
    """White needles in every direction over a cold background."""
    width, height = size
    ice = np.zeros((height, width))
    for angle in rng.uniform(0, 180, 5):
        grains = (rng.random((height, width)) > 0.996).astype(np.float64)
        needles = ndimage.gaussian_filter(grains, (9, 0.7))
        turned = ndimage.rotate(needles, angle, reshape=False, order=1, mode="wrap")
        ice += turned / turned.max()
    ice = np.clip(ice, 0, 1)[..., None]
    shade = ndimage.gaussian_filter(rng.random((height, width)), 40)
    shade = ((shade - shade.min()) / np.ptp(shade))[..., None]
    cold = np.array([60, 90, 120]) * (0.4 + 0.6 * shade)
    pixels = cold * (1 - ice) + np.array([235, 245, 250]) * ice
    return Image.fromarray(pixels.astype(np.uint8))
