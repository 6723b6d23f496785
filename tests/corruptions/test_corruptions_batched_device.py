import pytest
import torch

from ops.corruptions import CORRUPTIONS
from ops.corruptions.batched import corrupt_batch


@pytest.mark.parametrize("corruption", [name for name in CORRUPTIONS if name != "spatter"])
def test_the_work_is_queued_on_the_device_without_ever_waiting_for_it(corruption):
    # A meta device holds no numbers: reading one, or mixing it with another device's, raises.
    images = torch.empty(3, 3, 224, 224, dtype=torch.uint8, device="meta")
    for severity in (1, 5):
        found = corrupt_batch(images, corruption, severity, ["a", "b", "c"], stored=True)
        assert (found.device.type, found.dtype, found.shape) == ("meta", torch.uint8, images.shape)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_cuda_device_gives_the_cpus_pixels(corruption):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (4, 3, 224, 224), dtype=torch.uint8, generator=generator)
    for severity in (1, 5):
        here, there = (
            corrupt_batch(images.to(device), corruption, severity, list("abcd")).cpu().int()
            for device in ("cpu", "cuda")
        )
        assert (here - there).abs().max() <= 1
        assert ((here != there).double().mean()) <= 1e-4
