"""ImageNet-Vid on disk in small: Data, Annotations, ImageSets and the clips the frames are from.

As unpacked from the published archive, with its names, its order of elements, and its oddities:
frames without an object have no element for one, some boxes are interpolated, and the lists of the
validation split know nothing of the snippets that came two years later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from ops.catalog import classes as catalog_classes
from ops.miniature import encode
from ops.miniature.filming import SIDE, Film, Seen, Shot, Thing, film
from ops.miniature.mp4 import h264

TOP = "ILSVRC2015"
_AIRPLANE, _BEAR, _BIRD, _LION, _ZEBRA = 0, 2, 4, 15, 29

VAL: dict[str, tuple[Shot, ...]] = {
    "ILSVRC2015_val_00000000": (Shot((Thing(_BIRD, 100),), 26, speed=(0.004, 0.0)),),
    "ILSVRC2015_val_00001000": (Shot((Thing(_AIRPLANE, 404),), 30, speed=(0.04, 0.0)),),
    "ILSVRC2015_val_00002000": (
        Shot(
            (Thing(_LION, 291, -0.5, 0.1, 0.55), Thing(_ZEBRA, 340, 0.5, -0.1, 0.55, range(18))),
            24,
        ),
    ),
    "ILSVRC2015_val_00003000": (Shot((Thing(_ZEBRA, 340),), 11, turn=2.0),),
    "ILSVRC2017_val_00004000": (Shot((Thing(_BEAR, 295),), 26, shake=0.03, passing=range(8, 18)),),
}
TRAIN: dict[str, tuple[Shot, ...]] = {
    "ILSVRC2015_VID_train_0000/ILSVRC2015_train_00005000": (Shot((Thing(_BEAR, 295),), 12),),
    "ILSVRC2015_VID_train_0001/ILSVRC2015_train_00010000": (Shot((Thing(_BIRD, 10),), 12),),
}


def write(folder: Path, *, seed: int = 0, snippets: bool = True) -> Path:
    """Write the tree.

    Parameters
    ----------
    folder : Path
        Where the archive is unpacked.
    seed : int
        Key of all randomness: the same seed gives the same bytes.
    snippets : bool
        Whether the clips lie there, too.

    Returns
    -------
    Path
        ``<folder>/ILSVRC2015``, which holds ``Data``, ``Annotations`` and ``ImageSets``.
    """
    root = folder / TOP
    for split, filmed in (("val", VAL), ("train", TRAIN)):
        for path, shots in filmed.items():
            made = film(shots, seed, "imagenet-vid", path)
            _snippet(root, split, path, made)
            if snippets:
                clip = root / "Data" / "VID" / "snippets" / split / f"{path}.mp4"
                clip.parent.mkdir(parents=True, exist_ok=True)
                clip.write_bytes(h264(made.frames, fps=30))
    _image_sets(root / "ImageSets" / "VID")
    return root


def _snippet(root: Path, split: str, path: str, made: Film) -> None:
    frames = root / "Data" / "VID" / split / path
    texts = root / "Annotations" / "VID" / split / path
    frames.mkdir(parents=True, exist_ok=True)
    texts.mkdir(parents=True, exist_ok=True)
    for at, (pixels, seen) in enumerate(zip(made.frames, made.seen, strict=True)):
        picture = Image.fromarray(pixels)
        (frames / f"{at:06d}.JPEG").write_bytes(encode.jpeg(picture, quality=90))
        (texts / f"{at:06d}.xml").write_text(annotation(path, at, seen))


def annotation(path: str, at: int, seen: Sequence[Seen]) -> str:
    """Return the annotation file of one frame; every third one was drawn by a person."""
    wnids = catalog_classes.video("imagenet_vid30").wnids
    objects = "".join(
        "\t<object>\n"
        f"\t\t<trackid>{each.track}</trackid>\n"
        f"\t\t<name>{wnids[each.label]}</name>\n"
        "\t\t<bndbox>\n"
        f"\t\t\t<xmax>{round(each.box[2])}</xmax>\n"
        f"\t\t\t<xmin>{round(each.box[0])}</xmin>\n"
        f"\t\t\t<ymax>{round(each.box[3])}</ymax>\n"
        f"\t\t\t<ymin>{round(each.box[1])}</ymin>\n"
        "\t\t</bndbox>\n"
        f"\t\t<occluded>{int(each.occluded)}</occluded>\n"
        f"\t\t<generated>{int(at % 3 != 0)}</generated>\n"
        "\t</object>\n"
        for each in seen
    )
    return (
        "<annotation>\n"
        f"\t<folder>{path}</folder>\n"
        f"\t<filename>{at:06d}</filename>\n"
        "\t<source>\n\t\t<database>ILSVRC_2015</database>\n\t</source>\n"
        f"\t<size>\n\t\t<width>{SIDE}</width>\n\t\t<height>{SIDE}</height>\n\t</size>\n"
        f"{objects}</annotation>\n"
    )


def _image_sets(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    lines = []
    for path, shots in VAL.items():
        if path.startswith("ILSVRC2017"):
            continue
        for at in range(sum(shot.frames for shot in shots)):
            number += 1
            lines.append(f"{path}/{at:06d} {number}\n")
    (folder / "val.txt").write_text("".join(lines))
    # One list a class, counted from 1 in the devkit's order, which is that of the labels.
    for label in range(len(catalog_classes.video("imagenet_vid30").names)):
        named = [path for path, shots in TRAIN.items() if shots[0].things[0].label == label]
        text = "".join(f"{path} 1\n" for path in named)
        (folder / f"train_{label + 1}.txt").write_text(text)
