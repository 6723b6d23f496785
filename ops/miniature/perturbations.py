"""The ImageNet-P archives: mp4 sequences in which one thing changes a little from frame to frame.

The steps are stand-ins of the right character; the real sequences are in `ops.perturbations`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from ops.miniature import tars
from ops.miniature.classes import wnid
from ops.miniature.distortions import distort
from ops.miniature.imagenet import first_val, val_picture, val_stem
from ops.miniature.keyed import generator, shuffled
from ops.miniature.mp4 import mp4
from ops.miniature.publication import Publication

SIDE = 64
GROUPS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise"),
    "blur": ("motion_blur", "zoom_blur"),
    "weather": ("snow", "brightness"),
    "digital": ("translate", "rotate", "tilt", "scale"),
}
"""Archive of ImageNet-P -> perturbations in it."""


def publish(publication: Publication) -> None:
    """Write the four files of imagenet-p."""
    chosen = first_val(publication, publication.size.sequences)
    for group, perturbations in GROUPS.items():
        found: list[tars.Member] = []
        for perturbation in perturbations:
            for number, label in chosen:
                picture = val_picture(number, label, publication.seed)
                rng = generator(publication.seed, "imagenet-p", perturbation, number)
                path = f"{perturbation}/{wnid(label)}/{val_stem(number)}.mp4"
                found.append((path, mp4(list(sequence(perturbation, picture, rng)))))
                publication.note(f"imagenet_p/{perturbation}", path, [label])
        archive = tars.tar(shuffled(found, publication.seed, "imagenet-p", group))
        publication.put("imagenet-p", f"imagenet_p_{group}", f"{group}.tar", archive)


def frame_count(perturbation: str) -> int:
    """Return the published length of a sequence: 31 frames, or 41 for translate."""
    return 41 if perturbation == "translate" else 31


def sequence(
    perturbation: str, picture: Image.Image, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames of one sequence, uint8 RGB of shape (64, 64, 3)."""
    frames = frame_count(perturbation)
    margin = SIDE + 24
    wide = ImageOps.fit(picture.convert("RGB"), (margin, margin))
    edge = (margin - SIDE) // 2
    crop = (edge, edge, edge + SIDE, edge + SIDE)
    clean = np.asarray(wide.crop(crop))[None]
    for n in range(frames):
        step = n - frames // 2
        if perturbation in ("gaussian_noise", "shot_noise"):
            # Noise frames are independent versions of the clean first frame.
            yield clean[0] if n == 0 else distort(perturbation, clean, 1, rng)[0]
        elif perturbation in ("motion_blur", "zoom_blur", "snow"):
            yield distort(perturbation, clean, 1 + 3 * n // frames, rng)[0]
        elif perturbation == "brightness":
            lit = clean[0].astype(np.float32) + 255 * 0.02 * step
            yield np.clip(lit, 0, 255).astype(np.uint8)
        elif perturbation == "translate":
            yield np.asarray(wide.crop((edge + step // 2, edge, edge + step // 2 + SIDE, crop[3])))
        elif perturbation == "rotate":
            turned = wide.rotate(step, resample=Image.Resampling.BILINEAR)
            yield np.asarray(turned.crop(crop))
        elif perturbation == "tilt":
            lean = (1, step / 150, -step / 4, step / 150, 1, -step / 4)
            bent = wide.transform(
                wide.size, Image.Transform.AFFINE, lean, Image.Resampling.BILINEAR
            )
            yield np.asarray(bent.crop(crop))
        else:
            yield np.asarray(_scaled(wide.crop(crop), 0.4 + 0.025 * n))


def _scaled(picture: Image.Image, factor: float) -> Image.Image:
    """Return the picture scaled about its middle, on black where it became too small."""
    side = round(SIDE * factor)
    ground = Image.new("RGB", (SIDE, SIDE))
    edge = (SIDE - side) // 2
    ground.paste(picture.resize((side, side), Image.Resampling.BILINEAR), (edge, edge))
    return ground
