"""The sets of other pictures of the same classes: ImageNetV2, Sketch, A, O and R."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PIL import Image

from ops.miniature import encode, tars
from ops.miniature.classes import CHOSEN, LOOKS, members, name, wnid
from ops.miniature.draw import HARD, Nuisance, mixed, rendition, sketch, snapshot
from ops.miniature.geometry import Part, ellipse, regular, ribbon, star
from ops.miniature.imagenet import PHOTO
from ops.miniature.keyed import generator, hexname, shuffled
from ops.miniature.publication import Publication

V2_SETS: dict[str, tuple[str, str, Nuisance, float]] = {
    "imagenetv2/top_images": ("imagenetv2_top_images", "top-images", PHOTO, 0.08),
    "imagenetv2/threshold07": (
        "imagenetv2_threshold07", "threshold0.7",
        Nuisance(scale=(0.48, 0.85), turn=36, hue=30, noise=18, clutter=7, light=(0.55, 1.25)),
        0.16,
    ),
    "imagenetv2/matched_frequency": (
        "imagenetv2_matched_frequency", "matched-frequency",
        Nuisance(scale=(0.45, 0.8), turn=42, hue=40, noise=20, clutter=8, shift=0.16),
        0.28,
    ),
}  # fmt: skip
"""Dataset -> file id, name of the set, nuisance and share of hard pictures; each set is harder
than the one before.
"""

ADVERSARIAL = replace(HARD, scale=(0.3, 0.55), hue=180, occluders=3)
STYLES = ("art", "cartoon", "graphic", "embroidery", "sketch", "misc")
CONTENTS = ("benthos", "lichen", "kelp", "gear", "lantern", "ribbon", "quartz", "pollen")


def publish(publication: Publication) -> None:
    """Write the files of imagenetv2, imagenet-sketch, imagenet-a, imagenet-o and imagenet-r."""
    for dataset in V2_SETS:
        _v2(publication, dataset)
    _sketch(publication)
    _adversarial(publication)
    _out_of_distribution(publication)
    _renditions(publication)


def _v2(publication: Publication, dataset: str) -> None:
    file_id, title, nuisance, hard = V2_SETS[dataset]
    seed, found = publication.seed, []
    for label in CHOSEN:
        for n in range(publication.size.v2):
            rng = generator(seed, dataset, label, n)
            stem = hexname(seed, dataset, label, n)
            path = f"imagenetv2-{title}-format-val/{label}/{stem}.jpeg"
            picture = snapshot(LOOKS[label], rng, mixed(rng, nuisance, hard))
            found.append((path, encode.jpeg(picture)))
            publication.note(dataset, path, [label])
    # Named .tar.gz and yet a plain tar, as the published files are.
    archive = _tree(publication, dataset, found)
    publication.put("imagenetv2", file_id, f"imagenetv2-{title}.tar.gz", archive)


def _sketch(publication: Publication) -> None:
    seed, found = publication.seed, []
    for label in CHOSEN:
        # One class has one picture more than the others.
        extra = 1 if label == CHOSEN[3] else 0
        for n in range(publication.size.sketch + extra):
            path = f"sketch/{wnid(label)}/sketch_{n}.JPEG"
            picture = sketch(LOOKS[label], generator(seed, "imagenet-sketch", label, n))
            if (label, n) == (CHOSEN[6], 1):
                picture = Image.new("RGB", picture.size)  # Upstream has some black pictures.
            found.append((path, encode.jpeg(picture)))
            publication.note("imagenet_sketch/clean", path, [label])
    archive = tars.zipped([("sketch/", b""), *found])
    publication.put("imagenet-sketch", "imagenet_sketch_zip", "ImageNet-Sketch.zip", archive)


def _adversarial(publication: Publication) -> None:
    found = []
    for label in members("imagenet_a"):
        for n in range(publication.size.natural):
            rng = generator(publication.seed, "imagenet-a", label, n)
            picture = snapshot(LOOKS[label], rng, ADVERSARIAL)
            wrong = name(CHOSEN[int(rng.integers(len(CHOSEN)))])
            score = f"{rng.uniform(0, 0.1):.6f}_{wrong} _ {wrong}_{rng.uniform(0.5, 1):.6f}"
            path = f"imagenet-a/{wnid(label)}/{score}.jpg"
            found.append((path, encode.jpeg(picture)))
            publication.note("imagenet_a/clean", path, [label])
    found.append(("imagenet-a/README.txt", b"Drawn stand-ins for ImageNet-A.\n"))
    archive = _tree(publication, "imagenet-a", found)
    publication.put("imagenet-a", "imagenet_a_tar", "imagenet-a.tar", archive)


def _out_of_distribution(publication: Publication) -> None:
    found = []
    folders = members("imagenet_o")
    for label in folders:
        for n in range(publication.size.natural):
            rng = generator(publication.seed, "imagenet-o", label, n)
            content = CONTENTS[int(rng.integers(len(CONTENTS)))]
            picture = snapshot(_oddity(rng), rng, Nuisance())
            confidence = f"{rng.uniform(0.6, 1):.7f}"
            path = f"imagenet-o/{wnid(label)}/{content}_{confidence}.JPEG"
            found.append((path, encode.jpeg(picture)))
            publication.note("imagenet_o/clean", path, [])
    found.append(("imagenet-o/README.txt", b"Drawn stand-ins for ImageNet-O.\n"))
    publication.counts["imagenet_o/clean"] = {
        "expected": len(found) - 1, "expected_classes": len(folders), "per_class": None,
    }  # fmt: skip
    archive = _tree(publication, "imagenet-o", found)
    publication.put("imagenet-o", "imagenet_o_tar", "imagenet-o.tar", archive)


def _renditions(publication: Publication) -> None:
    found = []
    for label in members("imagenet_r"):
        for n in range(publication.size.natural):
            style = STYLES[(n + label) % len(STYLES)]
            rng = generator(publication.seed, "imagenet-r", label, n)
            # Bare names repeat from class to class: only the path is a key.
            path = f"imagenet-r/{wnid(label)}/{style}_{n // len(STYLES)}.jpg"
            found.append((path, encode.jpeg(rendition(LOOKS[label], rng, style))))
            publication.note("imagenet_r/clean", path, [label])
    found.append(("imagenet-r/README.txt", b"Drawn stand-ins for ImageNet-R.\n"))
    archive = _tree(publication, "imagenet-r", found)
    publication.put("imagenet-r", "imagenet_r_tar", "imagenet-r.tar", archive)


def _tree(publication: Publication, what: str, found: list[tars.Member]) -> bytes:
    """Return a tar of folders first and then files in an order that is not sorted."""
    files = shuffled(found, publication.seed, what)
    return tars.tar(tars.folders(path for path, _ in files) + files)


def _oddity(rng: np.random.Generator) -> list[Part]:
    """Invent a thing of no class: a crystal, a knot of ribbons or a heap of rings."""
    kind = int(rng.integers(3))
    parts: list[Part] = []
    for n in range(int(rng.integers(3, 6))):
        red, green, blue = (int(c) for c in rng.integers(40, 240, 3))
        x, y = (float(v) for v in rng.uniform(-0.45, 0.45, 2))
        radius = float(rng.uniform(0.3, 0.75))
        turn = float(rng.uniform(0, 90))
        if kind == 0:
            outline = star(x / 2, y / 2, 0.95 - 0.17 * n, 0.5 - 0.1 * n, 7, turn)
        elif kind == 1:
            ends = [(float(a), float(b)) for a, b in rng.uniform(-0.9, 0.9, (3, 2))]
            outline = ribbon(ends, 0.3, 0.12)
        else:
            outline = regular(x, y, radius, int(rng.integers(3, 6)), turn)
        parts.append((outline, (red, green, blue)))
        if kind == 2:
            parts.append((ellipse(x, y, radius / 3, radius / 3), (blue, red, green)))
    return parts
