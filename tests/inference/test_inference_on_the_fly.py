"""What is rendered while it is evaluated gives the rows of what was rendered and stored."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_parts import PHOTOGRAPHS as COUNT
from evaluation_parts import add_model, table_of
from PIL import Image

from ops import rendering
from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.inference.on_device import CorruptedOnDevice
from ops.inference.on_the_fly import RenderedOnHost
from ops.models import Transform
from ops.shards import read_manifest
from ops.storage import Root, paths

SAME = ["labels", "pred", "top5_idx", "top5_logit", "p_max", "correct"]
IDENTITY = ["sample_key", "source_key", "frame_set", "frame_offset", "status", "error"]


def rows_of(root: Root, catalog: Catalog, dataset: str, **options: object) -> list[dict]:
    return table_of(root, evaluate(root, catalog, "pooled", dataset, **options)).to_pylist()


@pytest.mark.usefixtures("photographs")
@pytest.mark.parametrize("condition", ["fog/3", "gaussian_noise/5", "frost/2"])
@pytest.mark.parametrize("side", [224, 48])
def test_on_the_fly_gives_the_rows_of_the_stored_set(
    root: Root, few: Catalog, condition: str, side: int
) -> None:
    stored, fly = f"imagenet_c_rendered/{condition}", f"imagenet_c_on_the_fly/{condition}"
    rendering.render(root, few, [stored, fly])
    assert not root.exists(f"shards/{fly}/{read_manifest(root, fly).shards[0].name}")
    add_model(root, transform=Transform(resize=256, crop=side))
    one = rows_of(root, few, stored, batch_size=2)
    other = rows_of(root, few, fly, batch_size=2, workers=2)
    assert len(one) == len(other) == COUNT
    for before, now in zip(one, other, strict=True):
        assert [now[name] for name in IDENTITY] == [before[name] for name in IDENTITY]
        assert [now[name] for name in SAME] == [before[name] for name in SAME]
        assert now["benchmark"] == "imagenet_c_on_the_fly"
    assert [row["status"] for row in other].count("decode_error") == 1
    assert other[3]["error"].startswith("source cannot be decoded")
    assert other[0]["sample_key"] == "n01440764/ILSVRC2012_val_00000001"


@pytest.mark.usefixtures("photographs")
def test_corrupting_batches_on_a_device_gives_what_the_threads_give(
    root: Root, few: Catalog
) -> None:
    name = "imagenet_c_on_the_fly/contrast/2"
    (manifest,) = rendering.render(root, few, [name])
    transform = Transform(resize=(224, 224), crop=None)
    host = RenderedOnHost(root, manifest, transform, None)
    device = CorruptedOnDevice(root, manifest, transform, None, torch.device("cpu"), 1)
    found = []
    for given in (host, device):
        samples = [sample for shard in manifest.shards for sample in given.read(shard)]
        pixels = np.empty((COUNT, *given.shape), np.uint8)
        reasons = [given.prepare(s, place) for s, place in zip(samples, pixels, strict=True)]
        assert [reason is None for reason in reasons] == [True, True, True, False, True]
        found.append((reasons, given.finish(samples, torch.from_numpy(pixels)).numpy()))
    (one_reasons, one), (other_reasons, other) = found
    assert one_reasons == other_reasons
    ok = [0, 1, 2, 4]
    difference = np.abs(one[ok].astype(int) - other[ok])
    assert one.shape == other.shape == (COUNT, 224, 224, 3)
    # The rendering itself may differ by one level in one sample of 10,000; a JPEG spreads that.
    assert (difference > 0).mean() < 2e-3


@pytest.mark.usefixtures("photographs")
def test_batches_from_a_device_are_resized_as_the_threads_resize(root: Root, few: Catalog) -> None:
    (manifest,) = rendering.render(root, few, ["imagenet_c_on_the_fly/contrast/2"])
    wide, narrow = (Transform(resize=(side, side), crop=None) for side in (224, 48))
    cpu = torch.device("cpu")
    whole, resized = (CorruptedOnDevice(root, manifest, t, None, cpu, 2) for t in (wide, narrow))
    samples = list(whole.read(manifest.shards[0]))
    pixels = np.empty((len(samples), *whole.shape), np.uint8)
    for sample, place in zip(samples, pixels, strict=True):
        assert whole.prepare(sample, place) is None
    seen = whole.finish(samples, torch.from_numpy(pixels)).numpy()
    small_ones = resized.finish(samples, torch.from_numpy(pixels)).numpy()
    bilinear = Image.Resampling.BILINEAR
    for image, made in zip(seen, small_ones, strict=True):
        expected = np.asarray(Image.fromarray(image).resize((48, 48), bilinear))
        assert (made == expected).all()


@pytest.mark.usefixtures("photographs")
def test_what_can_no_longer_be_made_as_it_was_sealed_is_refused(root: Root, few: Catalog) -> None:
    name = "imagenet_c_on_the_fly/fog/3"
    (manifest,) = rendering.render(root, few, [name])
    add_model(root)
    renderer = {**(manifest.renderer or {}), "version": 0}
    older = manifest.model_copy(update={"renderer": renderer, "version": "0" * 16})
    root.write_json(paths.manifest(name), older.model_dump(mode="json"))
    with pytest.raises(ShiftlakeError, match="no longer be made"):
        evaluate(root, few, "pooled", name)
