"""The ImageNet-P archives: mp4 sequences in which one thing changes a little from frame to frame.

The frames are perturbed as the released ones were, by the official arithmetic with generators of
their own. The videos are coded faster, and coarser, than the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ops.miniature import tars
from ops.miniature.classes import wnid
from ops.miniature.corruptions import resized
from ops.miniature.imagenet import first_val, val_files, val_stem
from ops.miniature.keyed import generator, shuffled
from ops.miniature.mp4 import h264
from ops.miniature.publication import Publication
from ops.perturbations import sequence

if TYPE_CHECKING:
    import torch

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
    files = val_files(publication, {number for number, _ in chosen})
    for group, perturbations in GROUPS.items():
        found: list[tars.Member] = []
        for perturbation in perturbations:
            for number, label in chosen:
                picture = np.asarray(resized(files[number][1]))
                rng = _generator(publication.seed, perturbation, number)
                frames = sequence(picture, perturbation, rng=rng, mode="exact")
                path = f"{perturbation}/{wnid(label)}/{val_stem(number)}.mp4"
                found.append((path, h264(list(frames), fps=1, preset="veryfast")))
                publication.note(f"imagenet_p/{perturbation}", path, [label])
        archive = tars.tar(shuffled(found, publication.seed, "imagenet-p", group))
        publication.put("imagenet-p", f"imagenet_p_{group}", f"{group}.tar", archive)


def _generator(
    seed: int, perturbation: str, number: int
) -> np.random.RandomState | torch.Generator:
    drawn = int(generator(seed, "imagenet-p", perturbation, number).integers(2**32))
    if perturbation == "gaussian_noise":
        # The release drew this one sequence by torch, which nothing else here needs.
        import torch

        return torch.Generator().manual_seed(drawn)
    return np.random.RandomState(drawn)
