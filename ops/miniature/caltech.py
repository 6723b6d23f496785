"""Caltech-101 (an archive of archives) and Caltech-256 (with its stray files)."""

from __future__ import annotations

import numpy as np

from ops.miniature import encode, tars
from ops.miniature.animals import bear, butterfly, face, quadruped, spider, starfish, sunflower
from ops.miniature.draw import Nuisance, snapshot
from ops.miniature.geometry import Part, regular, star
from ops.miniature.keyed import generator
from ops.miniature.matlab import mat
from ops.miniature.publication import Publication
from ops.miniature.things import airliner, football, stop_sign, umbrella

PHOTO = Nuisance(side=(70, 100), noise=8)

LOOKS_101: dict[str, list[Part]] = {
    "Faces": face(),
    "airplanes": airliner((236, 238, 244), (200, 60, 60)),
    "butterfly": butterfly((236, 140, 40), (250, 240, 220)),
    "soccer_ball": football((246, 246, 246), (30, 30, 34)),
    "starfish": starfish((226, 96, 70), (250, 200, 150)),
    "stop_sign": stop_sign(),
    "sunflower": sunflower((250, 200, 40), (96, 60, 36)),
    "umbrella": umbrella((50, 120, 190), (250, 236, 190)),
}
ANNOTATION_FOLDERS = {"Faces": "Faces_2", "airplanes": "Airplanes_Side_2"}

LOOKS_256: dict[str, list[Part]] = {
    "009.bear": bear((104, 68, 44)),
    "024.butterfly": butterfly((60, 130, 210), (250, 240, 150)),
    "056.dog": quadruped((196, 146, 90), (50, 36, 30)),
    "193.soccer-ball": football((246, 246, 246), (30, 30, 34)),
    "198.spider": spider((44, 36, 40)),
    "201.starfish-101": starfish((226, 96, 70), (250, 200, 150)),
    "250.zebra": quadruped((240, 238, 232), (60, 56, 56), stripes=(30, 28, 32)),
    "251.airplanes-101": airliner((236, 238, 244), (200, 60, 60)),
}
CLUTTER = "257.clutter"


def publish(publication: Publication) -> None:
    """Write the files of caltech-101 and caltech-256."""
    _caltech_101(publication)
    _caltech_256(publication)


def _caltech_101(publication: Publication) -> None:
    seed, top = publication.seed, "101_ObjectCategories"
    images: list[tars.Member] = []
    annotations: list[tars.Member] = []
    # The rule is the sorted folder names; capitals come first.
    for label, name in enumerate(sorted(LOOKS_101)):
        for n in range(1, publication.size.caltech + 1):
            rng = generator(seed, "caltech-101", name, n)
            picture = snapshot(LOOKS_101[name], rng, PHOTO)
            write = encode.gray_jpeg if (label, n) == (1, 2) else encode.jpeg
            path = f"{top}/{name}/image_{n:04d}.jpg"
            images.append((path, write(picture)))
            publication.note("caltech_101/clean", path, [label])
            folder = ANNOTATION_FOLDERS.get(name, name)
            mat = _annotation(*picture.size)
            annotations.append((f"Annotations/{folder}/annotation_{n:04d}.mat", mat))
    for n in range(1, 4):
        rng = generator(seed, "caltech-101", "BACKGROUND_Google", n)
        path = f"{top}/BACKGROUND_Google/image_{n:04d}.jpg"
        images.append((path, encode.jpeg(snapshot(_clutter(rng), rng, PHOTO))))
    inner = tars.gzipped(tars.tar(tars.folders(path for path, _ in images) + images))
    boxes = tars.tar(tars.folders(path for path, _ in annotations) + annotations)
    archive = tars.zipped(
        [
            ("caltech-101/", b""),
            ("caltech-101/101_ObjectCategories.tar.gz", inner),
            ("caltech-101/Annotations.tar", boxes),
        ]
    )
    put = publication.put
    put("caltech-101", "caltech_101_zip", "caltech-101.zip", archive)
    put("caltech-101", "caltech_101_inner_images", "101_ObjectCategories.tar.gz", inner)
    put("caltech-101", "caltech_101_inner_annotations", "Annotations.tar", boxes)


def _caltech_256(publication: Publication) -> None:
    seed, top = publication.seed, "256_ObjectCategories"
    found: list[tars.Member] = []
    for folder in (*LOOKS_256, CLUTTER):
        number = int(folder[:3])
        for n in range(1, publication.size.caltech + 1):
            rng = generator(seed, "caltech-256", folder, n)
            parts = _clutter(rng) if folder == CLUTTER else LOOKS_256[folder]
            path = f"{top}/{folder}/{number:03d}_{n:04d}.jpg"
            found.append((path, encode.jpeg(snapshot(parts, rng, PHOTO))))
            publication.note("caltech_256/clean", path, [number - 1])
    # Files that are no pictures of their folder's class and that upstream forgot.
    found.append((f"{top}/198.spider/RENAME2", b"mv 198_0001.jpg 198_0002.jpg\n"))
    stray = snapshot(LOOKS_256["056.dog"], generator(seed, "caltech-256", "greg"), PHOTO)
    found.append((f"{top}/056.dog/greg/vision309/greg.jpg", encode.jpeg(stray)))
    archive = tars.tar(tars.folders(path for path, _ in found) + found)
    publication.put("caltech-256", "caltech_256_tar", "256_ObjectCategories.tar", archive)


def _annotation(wide: int, high: int) -> bytes:
    box = np.array([[high // 8, high - high // 8, wide // 8, wide - wide // 8]], dtype=np.uint16)
    return mat(box_coord=box)


def _clutter(rng: np.random.Generator) -> list[Part]:
    parts: list[Part] = []
    for n in range(5):
        red, green, blue = (int(c) for c in rng.integers(30, 230, 3))
        x, y = (float(v) for v in rng.uniform(-0.7, 0.7, 2))
        outline = star(x, y, 0.5, 0.3, 4 + n) if n % 2 else regular(x, y, 0.45, 3 + n)
        parts.append((outline, (red, green, blue)))
    return parts
