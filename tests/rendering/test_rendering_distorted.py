"""DeepCorrect's distorted sets, of sources in any label space."""

from __future__ import annotations

import io
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from rendering_parts import lake_of, packed, pixels, samples_of

from ops.corruptions import Key
from ops.corruptions.distortions import distort
from ops.rendering import render
from ops.shards import Sample, read_manifest

SETS = {
    "distorted_imagenet": ("imagenet_1k/val", "ilsvrc1000", (120, 90)),
    "distorted_cifar_100": ("cifar_100/test", "cifar100", (32, 32)),
    "distorted_caltech_101": ("caltech_101/clean", "caltech101", (90, 60)),
    "distorted_sun_397": ("sun_397/clean", "sun397", (300, 260)),
}


def samples(dataset: str, size: tuple[int, int]) -> list[Sample]:
    benchmark, _, condition = dataset.partition("/")
    found = []
    for number in range(3):
        rng = np.random.default_rng(number)
        small = Image.fromarray(rng.integers(0, 256, (6, 7, 3), dtype=np.uint8))
        data = packed(small.resize(size), "PNG")
        meta = {
            "benchmark": benchmark,
            "condition": condition,
            "source_key": f"picture_{number}",
            "source_file": f"some.tar/class_{number}/picture_{number}.png",
            "labels": [number],
            "class_name": f"class_{number}",
            "format": "png",
        }
        found.append(Sample(f"class_{number}/picture_{number}", data, "png", number, meta))
    return found


def test_images_are_the_distorted_ones_in_whole_grey_levels(tmp_path: Path) -> None:
    for family, (source, space, size) in SETS.items():
        made = samples(source, size)
        lake = lake_of(tmp_path / family, made, source=source, label_space=space)
        names = [f"{family}/gaussian_blur/5", f"{family}/gaussian_noise/6"]
        for manifest in render(lake.root, lake.catalog, names):
            assert manifest.label_space == space
            assert manifest.n_classes == manifest.n_samples == len(made)
            assert manifest.renderer is not None
            assert "clipped" in manifest.renderer["encoding"]["values"]
            preset = manifest.renderer["preset"]
            for each, clean in zip(samples_of(lake.root, manifest.name), made, strict=True):
                assert (each.key, each.cls, each.extension) == (clean.key, clean.cls, "png")
                assert each.meta["source_file"] == f"{manifest.condition}/{clean.key}.png"
                assert each.meta["class_name"] == clean.meta["class_name"]
                assert each.image is not None
                stored = np.asarray(Image.open(io.BytesIO(each.image)))
                side = (32, 32, 3) if family == "distorted_cifar_100" else (256, 256, 3)
                assert stored.shape == side
                whole = pixels(clean.image)
                if family != "distorted_cifar_100":
                    whole = cv2.resize(whole, side[:2], interpolation=cv2.INTER_LINEAR)
                distorted = distort(
                    whole,
                    str(each.meta["distortion"]),
                    each.meta["severity"],
                    preset=preset,
                    key=Key(each.meta["source_key"], 0, family),
                )
                assert np.abs(np.clip(distorted, 0, 255) - stored).max() <= 0.5 + 1e-5


def test_levels_of_cifar_share_their_noise_and_those_of_imagenet_do_not(tmp_path: Path) -> None:
    correlation = {}
    for family in ("distorted_cifar_100", "distorted_caltech_101"):
        source, space, size = SETS[family]
        grey = [
            Sample(each.key, packed(Image.new("RGB", size, "grey"), "PNG"), "png", 0, each.meta)
            for each in samples(source, size)[:1]
        ]
        lake = lake_of(tmp_path / family, grey, source=source, label_space=space)
        names = [f"{family}/gaussian_noise/{level}" for level in (1, 2)]
        render(lake.root, lake.catalog, names)
        first, second = (
            pixels(samples_of(lake.root, name)[0].image).ravel().astype(float) for name in names
        )
        assert (
            read_manifest(lake.root, names[0]).renderer
            != read_manifest(lake.root, names[1]).renderer
        )
        correlation[family] = np.corrcoef(first, second)[0, 1]
    assert correlation["distorted_cifar_100"] > 0.99
    assert abs(correlation["distorted_caltech_101"]) < 0.02
