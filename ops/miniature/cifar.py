"""CIFAR-100 in both archives, and CIFAR-10-C and CIFAR-100-C."""

from __future__ import annotations

import io
import json
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ops.miniature import tars
from ops.miniature.animals import (
    apple,
    bear,
    butterfly,
    fish,
    lion,
    mushroom,
    quadruped,
    songbird,
    spider,
    sunflower,
)
from ops.miniature.distortions import GROUPS, distort
from ops.miniature.draw import Nuisance, snapshot
from ops.miniature.geometry import Part
from ops.miniature.keyed import generator
from ops.miniature.old_pickle import Value, dumps
from ops.miniature.publication import Publication
from ops.miniature.things import airliner, bus, car, clock, conifer, cup, rocket, submarine

SMALL = Nuisance(side=(64, 64), scale=(0.75, 0.98), shift=0.08, noise=0, clutter=3, blur=0)

LOOKS: dict[str, list[Part]] = {
    "apple": apple((214, 44, 48)),
    "aquarium_fish": fish((60, 130, 220), (250, 220, 80)),
    "bear": bear((104, 68, 44)),
    "bus": bus((206, 56, 52), (250, 240, 230)),
    "butterfly": butterfly((120, 70, 190), (250, 200, 90)),
    "clock": clock((250, 250, 244), (70, 100, 140)),
    "cup": cup((240, 240, 244)),
    "lion": lion((150, 84, 36), (226, 172, 96)),
    "mushroom": mushroom((206, 40, 44)),
    "pine_tree": conifer((44, 110, 70)),
    "rocket": rocket((236, 238, 240), (212, 60, 56)),
    "sunflower": sunflower((250, 200, 40), (96, 60, 36)),
}
"""Fine label of CIFAR-100 -> looks."""

TEN: tuple[list[Part], ...] = (
    airliner((236, 238, 244), (40, 90, 180)),
    car((196, 52, 52)),
    songbird((70, 130, 200), (60, 80, 120), (50, 60, 90)),
    quadruped((210, 160, 90), (250, 230, 210)),
    quadruped((150, 104, 62), (60, 40, 30)),
    quadruped((120, 96, 84), (40, 30, 28)),
    spider((60, 140, 70)),
    quadruped((96, 60, 40), (50, 36, 30)),
    submarine((90, 100, 130)),
    bus((60, 110, 190), (240, 240, 240)),
)
"""Looks of the ten classes of CIFAR-10, in label order."""


@cache
def fine_and_coarse() -> tuple[list[str], list[str], dict[str, int]]:
    """Return fine names, coarse names, and the coarse index of each fine name."""
    text = resources.files("ops.miniature").joinpath("data/cifar100.json").read_text()
    groups: dict[str, list[str]] = json.loads(text)["coarse"]
    coarse = {name: n for n, names in enumerate(groups.values()) for name in names}
    return sorted(coarse), list(groups), coarse


def publish(publication: Publication) -> None:
    """Write the files of cifar-100, cifar-10-c and cifar-100-c."""
    fine, coarse, coarse_of = fine_and_coarse()
    binary, python = [], []
    for split, per_class in (
        ("train", publication.size.cifar_train),
        ("test", publication.size.cifar_test),
    ):
        pixels, labels = _draw(publication, split, per_class)
        names = [fine[label] for label in labels]
        records = []
        for n, (picture, label, name) in enumerate(zip(pixels, labels, names, strict=True)):
            planes = picture.transpose(2, 0, 1).tobytes()
            records.append(bytes([coarse_of[name], label]) + planes)
            publication.note(f"cifar_100/{split}", f"cifar-100-binary/{split}.bin#{n}", [label])
        binary.append((f"cifar-100-binary/{split}.bin", b"".join(records)))
        batch: dict[str, Value] = {
            "filenames": [f"{name}_s_{n:06d}.png" for n, name in enumerate(names)],
            "batch_label": f"{split}ing batch 1 of 1",
            "fine_labels": labels,
            "coarse_labels": [coarse_of[name] for name in names],
            "data": pixels.transpose(0, 3, 1, 2).reshape(len(pixels), -1),
        }
        python.append((f"cifar-100-python/{split}", dumps(batch)))
        if split == "test":
            _corrupted(publication, "cifar-100-c", "CIFAR-100-C", pixels, labels)
    lists: dict[str, list[str]] = {"fine_label_names": fine, "coarse_label_names": coarse}
    binary += [
        (f"cifar-100-binary/{name}.txt", "".join(f"{each}\n" for each in names).encode())
        for name, names in lists.items()
    ]
    python.append(("cifar-100-python/meta", dumps(lists)))
    for kind, members in (("binary", binary), ("python", python)):
        archive = tars.gzipped(tars.tar([(f"cifar-100-{kind}/", b""), *members]))
        publication.put("cifar-100", f"cifar_100_{kind}", f"cifar-100-{kind}.tar.gz", archive)
    _ten(publication)


def _draw(
    publication: Publication, split: str, per_class: int
) -> tuple[NDArray[np.uint8], list[int]]:
    fine = fine_and_coarse()[0]
    wanted = [(name, n) for name in LOOKS for n in range(per_class)]
    order = generator(publication.seed, "cifar-100", split).permutation(len(wanted))
    pictures, labels = [], []
    for name, n in (wanted[place] for place in order):
        rng = generator(publication.seed, "cifar-100", split, name, n)
        pictures.append(_small(LOOKS[name], rng))
        labels.append(fine.index(name))
    return np.stack(pictures), labels


def _small(parts: list[Part], rng: np.random.Generator) -> NDArray[np.uint8]:
    picture = snapshot(parts, rng, SMALL).resize((32, 32), Image.Resampling.BOX)
    grain = rng.normal(0, 5, (32, 32, 3))
    return np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8)


def _ten(publication: Publication) -> None:
    pixels = np.stack(
        [_small(parts, generator(publication.seed, "cifar-10", n)) for n, parts in enumerate(TEN)]
    )
    _corrupted(publication, "cifar-10-c", "CIFAR-10-C", pixels, list(range(10)))


def _corrupted(
    publication: Publication,
    benchmark: str,
    title: str,
    pixels: NDArray[np.uint8],
    labels: list[int],
) -> None:
    count = publication.size.cifar_corrupted
    clean = pixels[:count]
    members = [(f"{title}/", b"")]
    for corruptions in GROUPS.values():
        for corruption in corruptions:
            rng = generator(publication.seed, benchmark, corruption)
            blocks = [distort(corruption, clean, severity, rng) for severity in range(1, 6)]
            members.append((f"{title}/{corruption}.npy", _npy(np.concatenate(blocks))))
    truth = np.tile(np.array(labels[:count], dtype=np.uint8), 5)
    members.append((f"{title}/labels.npy", _npy(truth)))
    file_id = f"{benchmark.replace('-', '_')}_tar"
    publication.put(benchmark, file_id, f"{title}.tar", tars.tar(members))


def _npy(array: NDArray[np.uint8]) -> bytes:
    target = io.BytesIO()
    np.save(target, array, allow_pickle=False)
    return target.getvalue()
