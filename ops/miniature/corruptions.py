"""The ImageNet-C archives: five of them, named .tar and really gzip, without a top folder."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageOps

from ops.miniature import encode, tars
from ops.miniature.classes import wnid
from ops.miniature.distortions import GROUPS, distort
from ops.miniature.imagenet import first_val, val_picture, val_stem
from ops.miniature.keyed import generator, shuffled
from ops.miniature.publication import Publication

SIDE = 64
"""Height and width of an ImageNet-C picture here, px (224 in the published archives)."""


def publish(publication: Publication) -> None:
    """Write the five files of imagenet-c."""
    chosen = first_val(publication, publication.size.corrupted)
    clean = np.stack(
        [
            np.asarray(ImageOps.fit(val_picture(number, label, publication.seed), (SIDE, SIDE)))
            for number, label in chosen
        ]
    )
    for group, corruptions in GROUPS.items():
        found: list[tars.Member] = []
        for corruption in corruptions:
            for severity in range(1, 6):
                rng = generator(publication.seed, "imagenet-c", corruption, severity)
                spoilt = distort(corruption, clean, severity, rng)
                for (number, label), pixels in zip(chosen, spoilt, strict=True):
                    path = f"{corruption}/{severity}/{wnid(label)}/{val_stem(number)}.JPEG"
                    found.append((path, encode.jpeg(Image.fromarray(pixels), quality=85)))
                    publication.note(f"imagenet_c/{corruption}/{severity}", path, [label])
                    if severity == 5 and group != "extra":
                        publication.note(f"mini_imagenet_c/{corruption}/5", path, [label])
        files = shuffled(found, publication.seed, "imagenet-c", group)
        archive = tars.gzipped(tars.tar(files))
        publication.put("imagenet-c", f"imagenet_c_{group}", f"{group}.tar", archive)
