"""What a GPU makes on the fly, tried with its kernels on a CPU: the pixels of the threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluation_parts import PHOTOGRAPHS as COUNT

from ops import rendering
from ops.catalog import Catalog
from ops.inference.inputs import Input
from ops.inference.on_device import CorruptedOnDevice
from ops.inference.on_the_fly import RenderedOnHost, made_on_device, open_rendered
from ops.inference.record import Numerics
from ops.inference.sequences_on_device import SequencesOnDevice
from ops.models import Transform
from ops.rendering import Recipe
from ops.shards import Manifest
from ops.storage import Root

CPU = torch.device("cpu")
WHOLE = Transform(resize=(224, 224), crop=None)


def rows(given: Input, manifest: Manifest) -> tuple[list[str | None], np.ndarray]:
    samples = [sample for shard in manifest.shards for sample in given.read(shard)]
    pixels = np.empty((len(samples), *given.shape), np.uint8)
    reasons = [given.prepare(s, place) for s, place in zip(samples, pixels, strict=True)]
    return reasons, given.finish(samples, torch.from_numpy(pixels)).numpy()


@pytest.mark.usefixtures("photographs")
@pytest.mark.parametrize("name", ["tilt", "gaussian_noise_2"])
def test_sequences_of_a_device_are_those_of_the_threads(
    root: Root, few: Catalog, name: str
) -> None:
    (manifest,) = rendering.render(root, few, [f"imagenet_p_on_the_fly/{name}"])
    reasons, host = rows(RenderedOnHost(root, manifest, WHOLE, None), manifest)
    others, device = rows(SequencesOnDevice(root, manifest, WHOLE, CPU, 1), manifest)
    assert reasons == others
    assert [reason is None for reason in reasons] == [True, True, True, False, True]
    length = int(manifest.parameters["frames"])
    assert host.shape == device.shape == (COUNT * length, 224, 224, 3)
    assert device.any(axis=(1, 2, 3)).reshape(COUNT, length).all(1).tolist() == [
        reason is None for reason in reasons
    ]
    difference = np.abs(host.astype(int) - device)
    # At most one sample in 10,000 differs, by one level.
    assert difference.max() <= 1
    assert (difference > 0).mean() <= 1e-4


@pytest.mark.usefixtures("photographs")
def test_sequences_of_a_device_are_resized_as_the_threads_resize(root: Root, few: Catalog) -> None:
    (manifest,) = rendering.render(root, few, ["imagenet_p_on_the_fly/translate"])
    small = Transform(resize=(48, 48), crop=None)
    _, host = rows(RenderedOnHost(root, manifest, small, None), manifest)
    _, device = rows(SequencesOnDevice(root, manifest, small, CPU, 2), manifest)
    assert host.shape == device.shape == (COUNT * int(manifest.parameters["frames"]), 48, 48, 3)
    assert (np.abs(host.astype(int) - device) <= 1).all()


@pytest.mark.usefixtures("photographs")
@pytest.mark.parametrize(
    ("dataset", "on_gpu"),
    [
        ("imagenet_p_on_the_fly/translate", SequencesOnDevice),
        ("imagenet_c_on_the_fly/contrast/2", CorruptedOnDevice),
    ],
)
def test_a_gpu_makes_what_it_can_and_a_cpu_leaves_it_to_the_threads(
    root: Root, few: Catalog, dataset: str, on_gpu: type
) -> None:
    (manifest,) = rendering.render(root, few, [dataset])
    for device, kind in (("cuda", on_gpu), ("cpu", RenderedOnHost)):
        numerics = Numerics(dtype="fp32", device=device)
        assert type(open_rendered(root, few, manifest, WHOLE, numerics, 1)) is kind
    recipe = Recipe.of(manifest)
    assert made_on_device(recipe)
    assert not made_on_device(recipe.model_copy(update={"mode": "exact"}))
    lossy = {**recipe.encoding, "quality": 10, "storage": "published"}
    assert not made_on_device(recipe.model_copy(update={"encoding": lossy}))
