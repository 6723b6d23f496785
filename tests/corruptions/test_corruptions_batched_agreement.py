import numpy as np
import pytest
import torch

from ops.corruptions import CORRUPTIONS, SEVERITIES, Key, corrupt
from ops.corruptions.batched import corrupt_batch
from ops.corruptions.encoding import decode_jpeg, encode_jpeg
from ops.errors import ShiftlakeError

KEYS = (Key("shades"), Key("noise", seed=3), Key("edges", dataset="another"))

# Single precision in another order: the wide fields, and the sum of a channel.
NOT_TO_THE_BIT = ("elastic_transform", "contrast")


def pictures(size=224):
    """Images of smooth shades, of noise, and of flat fields with hard edges."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:size, :size] / size
    waves = [np.sin(9 * x + 5 * y * k + k) * np.cos(7 * y - 3 * x * k) for k in range(3)]
    shades = 120 + 100 * np.stack(waves, axis=2) + rng.normal(0, 4, (size, size, 3))
    noise = rng.integers(0, 256, (size, size, 3))
    edges = np.full((size, size, 3), (250.0, 128.0, 30.0))
    edges[size // 3 :, size // 4 : size // 2] = (20, 200, 255)
    edges[:, size // 2 :: 9] = 77
    return np.stack((shades, noise, edges)).clip(0, 255).astype(np.uint8)


def tensors(images):
    """The images with the channels first."""
    return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous()


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_batch_gets_the_pixels_that_each_image_gets_alone_on_the_cpu(corruption):
    images = pictures()
    differing = []
    for severity in SEVERITIES:
        found = corrupt_batch(tensors(images), corruption, severity, KEYS)
        expected = np.stack(
            [
                corrupt(image, corruption, severity, key=key)
                for image, key in zip(images, KEYS, strict=True)
            ]
        )
        off = np.abs(found.permute(0, 2, 3, 1).numpy().astype(int) - expected)
        assert off.max() <= 1
        differing.append(float((off > 0).mean()))
    assert max(differing) <= (1e-4 if corruption in NOT_TO_THE_BIT else 0)


@pytest.mark.parametrize(("preset", "size"), [("imagenet_299", 299), ("tiny_imagenet_64", 64)])
@pytest.mark.parametrize(
    "corruption", ["glass_blur", "frost", "fog", "pixelate", "snow", "shot_noise"]
)
def test_other_sizes_have_their_own_parameters(corruption, preset, size):
    images = pictures(size)[:1]
    found = corrupt_batch(tensors(images), corruption, 5, KEYS[:1], preset=preset)
    expected = corrupt(images[0], corruption, 5, key=KEYS[0], preset=preset)
    np.testing.assert_array_equal(found[0].permute(1, 2, 0).numpy(), expected)


@pytest.mark.parametrize("corruption", ["gaussian_noise", "frost", "contrast"])
def test_stored_pixels_are_those_read_back_from_the_stored_file(corruption):
    images = pictures()
    found = corrupt_batch(tensors(images), corruption, 3, KEYS, stored=True)
    for image, key, pixels in zip(images, KEYS, found, strict=True):
        file = encode_jpeg(corrupt(image, corruption, 3, key=key))
        np.testing.assert_array_equal(pixels.permute(1, 2, 0).numpy(), decode_jpeg(file))


def test_an_image_does_not_depend_on_its_neighbours_in_the_batch():
    images = tensors(np.concatenate([pictures()] * 3))
    keys = [f"image {i}" for i in range(9)]
    whole = corrupt_batch(images, "snow", 2, keys)
    for i in (0, 4, 8):
        assert torch.equal(
            whole[i], corrupt_batch(images[i : i + 1], "snow", 2, keys[i : i + 1])[0]
        )
    assert not torch.equal(whole[0], whole[3])


def test_the_images_are_not_written_to_and_may_lie_in_memory_as_they_like():
    images = torch.from_numpy(pictures()).permute(0, 3, 1, 2)
    before = images.clone()
    found = corrupt_batch(images, "impulse_noise", 1, KEYS)
    assert torch.equal(images, before)
    assert found.is_contiguous()
    assert torch.equal(found, corrupt_batch(images.contiguous(), "impulse_noise", 1, KEYS))


def test_a_batch_may_be_empty():
    assert corrupt_batch(torch.empty(0, 3, 224, 224, dtype=torch.uint8), "fog", 1, []).shape[0] == 0


@pytest.mark.parametrize(
    ("images", "corruption", "severity", "keys", "told"),
    [
        (torch.zeros(1, 3, 224, 224, dtype=torch.uint8), "fogg", 1, ["a"], "fog"),
        (torch.zeros(1, 3, 224, 224, dtype=torch.uint8), "fog", 6, ["a"], "severity"),
        (torch.zeros(1, 3, 224, 224), "fog", 1, ["a"], "torch.float32"),
        (torch.zeros(1, 224, 224, 3, dtype=torch.uint8), "fog", 1, ["a"], "(1, 224, 224, 3)"),
        (torch.zeros(2, 3, 224, 224, dtype=torch.uint8), "fog", 1, ["a"], "2 keys"),
    ],
)
def test_what_cannot_be_corrupted_is_refused_by_name(images, corruption, severity, keys, told):
    with pytest.raises(ShiftlakeError) as raised:
        corrupt_batch(images, corruption, severity, keys)
    assert told in str(raised.value)
