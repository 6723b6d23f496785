"""ImageNet-1k: train, val, devkit, the label text files, and the ReaL labels of its val images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container

import numpy as np
from PIL import Image

from ops.catalog import classes as catalog_classes
from ops.miniature import encode, tars
from ops.miniature.classes import CHOSEN, LOOKS, val_numbers, wnid
from ops.miniature.draw import Nuisance, mixed, snapshot
from ops.miniature.keyed import generator, shuffled
from ops.miniature.matlab import mat
from ops.miniature.publication import Publication

PHOTO = Nuisance(
    scale=(0.54, 0.9), turn=25, shift=0.12, hue=16, light=(0.6, 1.2), noise=14, clutter=5
)
HARD_SHARE = 0.1
"""Share of hard pictures in train and val."""

ODD_FILES: tuple[Callable[[Image.Image], bytes], ...] = (
    encode.cmyk_jpeg,
    encode.gray_jpeg,
    encode.palette_png,
    encode.exif_rotated_jpeg,
)
"""Formats of the first validation images, which all bear the name .JPEG."""


def publish(publication: Publication) -> None:
    """Write the files of imagenet-1k and imagenet-real."""
    _train(publication)
    _val(publication)
    _devkit(publication)
    _texts(publication)
    _real(publication)


def val_stem(number: int) -> str:
    """Return the file name, without extension, of a validation image."""
    return f"ILSVRC2012_val_{number:08d}"


def val_picture(number: int, label: int, seed: int) -> Image.Image:
    """Return a validation image before it is encoded."""
    rng = generator(seed, "imagenet-1k", "val", number)
    return snapshot(LOOKS[label], rng, mixed(rng, PHOTO, HARD_SHARE))


def val_files(
    publication: Publication, wanted: Container[int] | None = None
) -> dict[int, tuple[int, bytes]]:
    """Draw validation images, all or those `wanted`: number -> label and published bytes."""
    found = {}
    for rank, (number, label) in enumerate(val_numbers(publication.size.val).items()):
        if wanted is not None and number not in wanted:
            continue
        write = ODD_FILES[rank] if rank < len(ODD_FILES) else encode.jpeg
        found[number] = label, write(val_picture(number, label, publication.seed))
    return found


def first_val(publication: Publication, count: int) -> list[tuple[int, int]]:
    """Choose `count` validation images (number, label), spread evenly over the classes.

    Of each class those come first that MiniImageNet-C draws with its seed, so that any subset
    drawn by that rule shows some of them.
    """

    def draw(number: int, label: int) -> bytes:
        return hashlib.sha256(f"7600/{wnid(label)}/{val_stem(number)}".encode()).digest()

    numbers = val_numbers(publication.size.val)
    ranked = [
        (rank, label, number)
        for label in CHOSEN
        for rank, number in enumerate(
            sorted((n for n, own in numbers.items() if own == label), key=lambda n: draw(n, label))
        )
    ]
    return sorted((number, label) for _, label, number in sorted(ranked)[:count])


def devkit_ids() -> dict[int, int]:
    """Return ILSVRC-1000 index -> ILSVRC2012_ID (1 to 1000).

    The true table is not public text, so the miniature has one of its own; what matters to a
    reader is that the two orders differ and that meta.mat links them.
    """
    order = generator(0, "imagenet-1k", "ILSVRC2012_ID").permutation(1000)
    return {index: int(place) + 1 for index, place in enumerate(order)}


def _train(publication: Publication) -> None:
    seed, inner = publication.seed, []
    for label in CHOSEN:
        numbers = generator(seed, "train numbers", label).choice(20000, publication.size.train)
        members = []
        for rank, number in enumerate(sorted({int(n) for n in numbers})):
            rng = generator(seed, "imagenet-1k", "train", label, number)
            picture = snapshot(LOOKS[label], rng, mixed(rng, PHOTO, HARD_SHARE))
            # One CMYK file and one PNG, as the true training set has.
            odd = {(CHOSEN[2], 0): encode.cmyk_jpeg, (CHOSEN[5], 1): encode.palette_png}
            content = odd.get((label, rank), encode.jpeg)(picture)
            name = f"{wnid(label)}_{number}.JPEG"
            members.append((name, content))
            publication.note("imagenet_1k/train", f"{wnid(label)}.tar/{name}", [label])
        inner.append((f"{wnid(label)}.tar", tars.tar(shuffled(members, seed, "train", label))))
    publication.put("imagenet-1k", "ilsvrc2012_train", "ILSVRC2012_img_train.tar", tars.tar(inner))


def _val(publication: Publication) -> None:
    members = []
    for number, (label, content) in val_files(publication).items():
        name = f"{val_stem(number)}.JPEG"
        members.append((name, content))
        publication.note("imagenet_1k/val", name, [label])
    archive = tars.tar(shuffled(members, publication.seed, "val"))
    publication.put("imagenet-1k", "ilsvrc2012_val", "ILSVRC2012_img_val.tar", archive)


def _devkit(publication: Publication) -> None:
    ids = devkit_ids()
    truth = "".join(f"{ids[label]}\n" for label in catalog_classes.val_labels())
    top = "ILSVRC2012_devkit_t12"
    members = [
        (f"{top}/", b""),
        (f"{top}/data/", b""),
        (f"{top}/data/meta.mat", _meta_mat(ids)),
        (f"{top}/data/ILSVRC2012_validation_ground_truth.txt", truth.encode()),
        (f"{top}/readme.txt", b"Devkit of a miniature upstream; the pictures are drawn.\n"),
    ]
    archive = tars.gzipped(tars.tar(members))
    publication.put("imagenet-1k", "ilsvrc2012_devkit_t12", "ILSVRC2012_devkit_t12.tar.gz", archive)


def _meta_mat(ids: dict[int, int]) -> bytes:
    ilsvrc = catalog_classes.ilsvrc()
    rows: list[tuple[int, str, str, int]] = sorted(
        (ids[index], ilsvrc.wnids[index], ilsvrc.names[index], 0) for index in range(1000)
    )
    # Inner nodes of WordNet follow the leaves and have ids too: a reader has to leave them out.
    rows += [(1001, "n00001740", "entity", 2), (1002, "n00015388", "animal", 3)]
    synsets = np.array(
        rows,
        dtype=[("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_children", "O")],
    ).reshape(-1, 1)
    return mat(synsets=synsets)


def _texts(publication: Publication) -> None:
    ilsvrc = catalog_classes.ilsvrc()
    index = {str(i): [ilsvrc.wnids[i], ilsvrc.names[i]] for i in range(1000)}
    val = "".join(f"{ilsvrc.wnids[label]}\n" for label in catalog_classes.val_labels())
    synsets = "".join(f"{each}\n" for each in ilsvrc.wnids)
    put = publication.put
    put("imagenet-1k", "imagenet_synsets_txt", "imagenet_synsets.txt", synsets.encode())
    put(
        "imagenet-1k", "keras_class_index", "imagenet_class_index.json",
        json.dumps(index).encode(),
    )  # fmt: skip
    put(
        "imagenet-1k", "val_synset_labels_txt", "imagenet_2012_validation_synset_labels.txt",
        val.encode(),
    )  # fmt: skip


def _real(publication: Publication) -> None:
    lists = [[label] for label in catalog_classes.val_labels()]
    for rank, (number, label) in enumerate(val_numbers(publication.size.val).items()):
        if rank % 11 == 3:
            lists[number - 1] = []
        elif rank % 7 == 2:
            lists[number - 1] = [CHOSEN[(CHOSEN.index(label) + 1) % len(CHOSEN)], label]
        publication.note("imagenet_real/clean", f"{val_stem(number)}.JPEG", lists[number - 1])
    # The lists cover all 50000 names of the true validation set, not only the images drawn here.
    used = {label for labels in lists for label in labels}
    publication.counts["imagenet_real/clean"] = {
        "expected": len(lists), "expected_classes": len(used), "per_class": None,
    }  # fmt: skip
    content = json.dumps(lists).encode()
    publication.put("imagenet-real", "imagenet_real_json", "real.json", content)
