"""Squares that are stored already cropped are shown as they are, or resized straight."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from evaluation_parts import add_model, made_samples, table_of
from PIL import Image

from ops.catalog import Catalog
from ops.inference import evaluate, plan_key, plan_numerics
from ops.inference.protocol import described, pixels_transform
from ops.models import ModelEntry, Transform, load
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root

NAME = "imagenet_c/fog/3"
USUAL = Transform()


def squares(count: int, side: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [
        np.asarray(
            Image.fromarray(rng.integers(0, 256, (7, 7, 3), dtype=np.uint8)).resize((side, side))
        )
        for _ in range(count)
    ]


def seal_squares(root: Root, pixels: list[np.ndarray], cropped: int | None) -> Manifest:
    samples = []
    for made, image in zip(made_samples(NAME, len(pixels), lambda i: [i]), pixels, strict=True):
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, "PNG")
        samples.append(Sample(made.key, buffer.getvalue(), "png", None, made.meta))
    manifest = write_dataset(root, NAME, samples, label_space="ilsvrc1000")
    if cropped is None:
        return manifest
    manifest = manifest.model_copy(update={"parameters": {"cropped": cropped}})
    root.write_json(f"shards/{NAME}/manifest.json", manifest.model_dump(mode="json"))
    return manifest


def logits_of(root: Root, entry: ModelEntry, pixels: list[np.ndarray]) -> torch.Tensor:
    images = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (USUAL.mean, USUAL.std))
    with torch.inference_mode():
        return load(root, entry)((images - mean) / std)


@pytest.mark.parametrize(
    ("transform", "protocol"),
    [
        # The official evaluation of ImageNet-C is CenterCrop(224) alone: nothing is enlarged.
        (Transform(resize=256, crop=224), "stored 224"),
        (Transform(resize=(224, 224), crop=None), "stored 224"),
        (Transform(resize=300, crop=288, interpolation="bicubic"), "stored 224, resized to 288"),
        (Transform(resize=64, crop=64), "stored 224, resized to 64"),
        (Transform(resize=(96, 128), crop=None), "stored 224, resized to 96x128"),
    ],
)
def test_a_model_sees_the_whole_square(
    root: Root, catalog: Catalog, transform: Transform, protocol: str
) -> None:
    pixels = squares(3, 224)
    seal_squares(root, pixels, 224)
    entry = add_model(root, transform=transform)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=2)
    assert (record.protocol, record.cropped) == (protocol, 224)
    height, width = transform.output_size
    filters = Image.Resampling[transform.interpolation.upper()]
    seen = [np.asarray(Image.fromarray(p).resize((width, height), filters)) for p in pixels]
    if (height, width) == (224, 224):
        assert all((a == b).all() for a, b in zip(seen, pixels, strict=True))
    expected = logits_of(root, entry, seen).sort(descending=True).values[:, :5]
    rows = table_of(root, record)["top5_logit"].to_pylist()
    np.testing.assert_allclose(rows, expected.numpy(), rtol=1e-4)


def test_photographs_keep_the_resize_and_crop_of_the_model(root: Root, catalog: Catalog) -> None:
    pixels = squares(2, 240)
    seal_squares(root, pixels, None)
    entry = add_model(root, transform=USUAL)
    record = evaluate(root, catalog, "pooled", NAME)
    assert (record.protocol, record.cropped) == ("resize 256, crop 224", None)
    bilinear = Image.Resampling.BILINEAR
    resized = [np.asarray(Image.fromarray(p).resize((256, 256), bilinear)) for p in pixels]
    seen = [image[16:240, 16:240] for image in resized]
    expected = logits_of(root, entry, seen).sort(descending=True).values[:, :5]
    rows = table_of(root, record)["top5_logit"].to_pylist()
    np.testing.assert_allclose(rows, expected.numpy(), rtol=1e-4)


def test_the_protocol_is_part_of_the_key(root: Root) -> None:
    photographs = seal_squares(root, squares(2, 224), None)
    stored = photographs.model_copy(update={"parameters": {"cropped": 224}})
    entry = add_model(root, transform=USUAL)
    numerics = plan_numerics(entry, "cpu")
    assert plan_key(entry, photographs, numerics) != plan_key(entry, stored, numerics)
    # A parameter that no pixel depends on is no part of it.
    drawn = photographs.model_copy(update={"parameters": {"seed": 7600}})
    assert plan_key(entry, photographs, numerics) == plan_key(entry, drawn, numerics)


def test_the_catalog_says_so_of_every_cropped_set(catalog: Catalog) -> None:
    families = ("imagenet_c", "mini_imagenet_c", "imagenet_p")
    for spec in catalog.datasets.values():
        expected = 224 if spec.family.startswith(families) else None
        assert spec.parameters.get("cropped") == expected, spec.name


def test_a_transform_without_a_crop_is_described_by_its_size() -> None:
    square = Transform(resize=(96, 128), crop=None)
    assert described(square, None) == "resize 96x128"
    assert described(Transform(resize=None, crop=32), None) == "crop 32"
    assert pixels_transform(square, None) is square
