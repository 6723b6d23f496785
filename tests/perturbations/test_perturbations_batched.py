"""Sequences of a batch in torch are those of the compiled kernels."""

import numpy as np
import pytest
import torch

from ops.errors import ShiftlakeError
from ops.perturbations import Key, perturbations, sequence
from ops.perturbations.batched import sequence_batch
from tests.parity import fixtures
from tests.perturbations.perturbation_parts import CONDITIONS, hard

KEYS = ["a", Key("b", seed=7, dataset="elsewhere")]
# Each noise once: their levels differ in a number alone.
ONCE = [(name, 1) for name in perturbations()] + [("shot_noise", 3)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """On a busy machine torch's threads spend their time waiting for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def images():
    pair = np.stack([fixtures.picture("wide"), hard(341)])
    return torch.from_numpy(pair).permute(0, 3, 1, 2).contiguous()


@pytest.mark.parametrize(("name", "difficulty"), ONCE)
def test_a_batch_has_the_frames_of_its_images_alone(images, name, difficulty):
    before = images.clone()
    made = sequence_batch(images, name, KEYS, difficulty=difficulty)
    assert made.dtype == torch.uint8
    assert torch.equal(images, before)
    for image, key, frames in zip(images, KEYS, made, strict=True):
        pixels = image.permute(1, 2, 0).contiguous().numpy()
        alone = sequence(pixels, name, key=key, difficulty=difficulty).astype(np.int16)
        apart = np.abs(frames.permute(0, 2, 3, 1).numpy() - alone)
        assert apart.max() <= 1
        assert (apart > 0).mean() <= 1e-4


@pytest.mark.parametrize("name", ["gaussian_noise", "snow", "rotate"])
def test_the_company_of_an_image_changes_nothing(name):
    rng = np.random.default_rng(0)
    # One more than are worked on together.
    images = torch.from_numpy(rng.integers(0, 256, (5, 3, 256, 256), np.uint8))
    together = sequence_batch(images, name, list("abcde"))
    other = sequence_batch(images[[4, 1]], name, ["e", "b"])
    assert torch.equal(other, together[[4, 1]])


def test_an_empty_batch_has_no_sequences():
    empty = torch.empty((0, 3, 256, 300), dtype=torch.uint8)
    assert sequence_batch(empty, "translate", []).shape == (0, 41, 3, 224, 224)


@pytest.mark.parametrize("name", [name for name in perturbations() if name != "spatter"])
def test_the_work_is_queued_on_the_device_without_ever_waiting_for_it(name):
    # A meta device holds no numbers: reading one, or mixing it with another device's, raises.
    images = torch.empty(2, 3, 256, 300, dtype=torch.uint8, device="meta")
    made = sequence_batch(images, name, KEYS)
    assert made.device.type == "meta"
    assert made.shape == (2, perturbations()[name].frames, 3, 224, 224)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize(("name", "difficulty"), CONDITIONS)
def test_a_cuda_device_gives_the_cpus_pixels(images, name, difficulty):
    here, there = (
        sequence_batch(images.to(device), name, KEYS, difficulty=difficulty).cpu().int()
        for device in ("cpu", "cuda")
    )
    assert (here - there).abs().max() <= 1
    assert (here != there).double().mean() <= 1e-4


@pytest.mark.parametrize(
    ("images", "keys", "said"),
    [
        (torch.zeros(1, 3, 256, 256), ["a"], "float32"),
        (np.zeros((1, 3, 256, 256), np.uint8), ["a"], "ndarray"),
        (torch.zeros(1, 256, 256, 3, dtype=torch.uint8), ["a"], r"\(1, 256, 256, 3\)"),
        (torch.zeros(1, 3, 224, 224, dtype=torch.uint8), ["a"], r"\(1, 3, 224, 224\)"),
        (torch.zeros(2, 3, 256, 256, dtype=torch.uint8), ["a"], "1 keys"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused(images, keys, said):
    with pytest.raises(ShiftlakeError, match=said):
        sequence_batch(images, "rotate", keys)


def test_names_and_difficulties_are_those_of_single_images():
    images = torch.zeros(1, 3, 256, 256, dtype=torch.uint8)
    with pytest.raises(ShiftlakeError, match="Did you mean"):
        sequence_batch(images, "rotat", ["a"])
    with pytest.raises(ShiftlakeError, match="difficulty"):
        sequence_batch(images, "rotate", ["a"], difficulty=2)
