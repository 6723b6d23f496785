"""SUN-397: nested classes, foreign formats under .jpg names, one file that does not decode."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image

from ops.miniature import encode, tars
from ops.miniature.draw import Nuisance, snapshot
from ops.miniature.geometry import Part
from ops.miniature.keyed import generator, hexname, shuffled
from ops.miniature.publication import Publication
from ops.miniature.things import beach, church, desert, forest, mountain, skyscraper

SCENE = Nuisance(side=(72, 104), scale=(0.95, 1.15), turn=5, shift=0.08, hue=8, noise=12, clutter=0)
LOOKS: dict[str, list[Part]] = {
    "/b/beach": beach(),
    "/c/church/outdoor": church(),
    "/d/desert/sand": desert(),
    "/f/forest/broadleaf": forest(),
    "/m/mountain": mountain(),
    "/s/skyscraper": skyscraper(),
}
"""Line of ClassName.txt -> looks, in the order of that file."""

BAD_IMAGE = "sun_bhenjvsvrtumjuri"
FORMATS: tuple[Callable[[Image.Image], bytes], ...] = (
    encode.bmp,
    encode.gray16_png,
    encode.rgba_png,
    encode.gif,
    encode.gray_jpeg,
)
"""Formats of one picture of each of the first five classes; all are named .jpg."""


def publish(publication: Publication) -> None:
    """Write the files of sun-397."""
    seed, count = publication.seed, publication.size.sun
    images: list[tars.Member] = []
    splits: dict[str, list[str]] = {"Training": [], "Testing": []}
    for label, (name, parts) in enumerate(LOOKS.items()):
        for n in range(count):
            rng = generator(seed, "sun-397", name, n)
            picture = snapshot(parts, rng, SCENE)
            write = FORMATS[label] if n == 1 and label < len(FORMATS) else encode.jpeg
            stem = f"sun_a{_letters(hexname(seed, name, n, length=15))}"
            path = f"SUN397{name}/{stem}.jpg"
            images.append((path, write(picture)))
            publication.note("sun_397/clean", path, [label])
            splits["Training" if n % 2 == 0 else "Testing"].append(f"{name}/{stem}.jpg\n")
    church_class = list(LOOKS).index("/c/church/outdoor")
    picture = snapshot(church(), generator(seed, "sun-397", BAD_IMAGE), SCENE)
    path = f"SUN397/c/church/outdoor/{BAD_IMAGE}.jpg"
    images.append((path, encode.broken_jpeg(picture)))
    publication.note("sun_397/clean", path, [church_class])

    names = "".join(f"{name}\n" for name in LOOKS).encode()
    files = [*shuffled(images, seed, "sun-397"), ("SUN397/ClassName.txt", names)]
    archive = tars.gzipped(tars.tar(tars.folders(path for path, _ in files) + files))
    publication.put("sun-397", "sun397_tar", "SUN397.tar.gz", archive)
    lists: list[tars.Member] = [("ClassName.txt", names)]
    for n in range(1, 11):
        for split, rows in splits.items():
            mixed = sorted(shuffled(rows, seed, split, n)[: max(1, len(rows) * 9 // 10)])
            lists.append((f"{split}_{n:02d}.txt", "".join(mixed).encode()))
    publication.put("sun-397", "sun397_partitions", "Partitions.zip", tars.zipped(lists))


def _letters(digits: str) -> str:
    """Return hexadecimal digits as letters, the way SUN names its pictures."""
    return digits.translate(str.maketrans("0123456789", "ghijklmnop"))
