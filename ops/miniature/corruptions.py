"""The ImageNet-C archives: five of them, named .tar and really gzip, without a top folder.

The pictures are corrupted as the released ones were: official arithmetic, a generator that nobody
can replay from outside, and JPEG of quality 85. The frost photographs are drawn.
"""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image

from ops.corruptions import corrupt
from ops.corruptions.textures import decode
from ops.miniature import encode, frost, tars
from ops.miniature.classes import wnid
from ops.miniature.distortions import GROUPS
from ops.miniature.imagenet import first_val, val_files, val_stem
from ops.miniature.keyed import generator, shuffled
from ops.miniature.publication import Publication


def publish(publication: Publication) -> None:
    """Write the five archives of imagenet-c, and the frost textures of its generator."""
    textures = decode(frost.publish(publication)[:5])
    first = first_val(publication, publication.size.corrupted)
    files = val_files(publication, {number for number, _ in first})
    chosen = [(number, label, cropped(files[number][1])) for number, label in first]
    for group, corruptions in GROUPS.items():
        found: list[tars.Member] = []
        for corruption in corruptions:
            for severity in range(1, 6):
                seeds = generator(publication.seed, "imagenet-c", corruption, severity)
                rng = np.random.RandomState(seeds.integers(2**32))
                for number, label, clean in chosen:
                    pixels = corrupt(
                        clean, corruption, severity, rng=rng, mode="exact", textures=textures
                    )
                    path = f"{corruption}/{severity}/{wnid(label)}/{val_stem(number)}.JPEG"
                    found.append((path, encode.jpeg(Image.fromarray(pixels), quality=85)))
                    publication.note(f"imagenet_c/{corruption}/{severity}", path, [label])
                    if severity == 5 and group != "extra":
                        publication.note(f"mini_imagenet_c/{corruption}/5", path, [label])
        files_in_order = shuffled(found, publication.seed, "imagenet-c", group)
        archive = tars.gzipped(tars.tar(files_in_order))
        publication.put("imagenet-c", f"imagenet_c_{group}", f"{group}.tar", archive)


def resized(content: bytes) -> Image.Image:
    """The picture in RGB with its shorter side at 256 pixels."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    width, height = picture.size
    short = min(width, height)
    size = (256 * width // short, 256 * height // short)
    return picture.resize(size, Image.Resampling.BILINEAR)


def cropped(content: bytes) -> npt.NDArray[np.uint8]:
    """The middle 224 pixels of the resized picture, uint8 RGB of shape (224, 224, 3)."""
    picture = resized(content)
    left, top = (round((side - 224) / 2) for side in picture.size)
    return np.asarray(picture.crop((left, top, left + 224, top + 224)))
