"""The two AlexNets: sizes, layers, and Caffe's published layout of the weights."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch
from torch import nn
from weight_parts import convolution

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, load, register
from ops.models.alexnet import PARAMETERS, TRANSFORM, GroupedAlexNet
from ops.models.caffe_weights import read_caffe_weights
from ops.models.statement import entry_of, stated
from ops.storage import Root

# Krizhevsky et al. 2012, figure 2 and section 3.5: kernels of each layer.
KERNELS = {
    "conv1": (96, 3, 11, 11),
    "conv2": (256, 48, 5, 5),
    "conv3": (384, 256, 3, 3),
    "conv4": (384, 192, 3, 3),
    "conv5": (256, 192, 3, 3),
    "fc6": (4096, 9216),
    "fc7": (4096, 4096),
    "fc8": (1000, 4096),
}


@pytest.fixture(scope="module")
def network() -> GroupedAlexNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return GroupedAlexNet().eval()


def test_it_has_the_published_number_of_parameters_and_kernels(network: GroupedAlexNet) -> None:
    assert sum(one.numel() for one in network.parameters()) == PARAMETERS == 60_965_224
    for layer, shape in KERNELS.items():
        assert network.get_parameter(f"{layer}.weight").shape == shape
    assert len(list(network.parameters())) == 2 * len(KERNELS)


def test_it_computes_caffes_layers_in_caffes_order(network: GroupedAlexNet) -> None:
    images = torch.randn(1, 3, 227, 227, generator=torch.Generator().manual_seed(1)) * 60

    def response(maps: torch.Tensor) -> torch.Tensor:
        # 1 + alpha / 5 * sum of squares over five neighbouring channels, to the power beta.
        padded = nn.functional.pad(maps.square(), (0, 0, 0, 0, 2, 2))
        sums = sum(padded[:, shift : shift + maps.shape[1]] for shift in range(5))
        return maps / (1 + 1e-4 / 5 * sums) ** 0.75

    def grouped(maps: torch.Tensor, layer: nn.Conv2d) -> torch.Tensor:
        halves = zip(maps.chunk(2, 1), layer.weight.chunk(2), layer.bias.chunk(2), strict=True)
        found = [nn.functional.conv2d(x, w, b, padding=layer.padding) for x, w, b in halves]
        return torch.cat(found, 1).relu()

    def pool(maps: torch.Tensor) -> torch.Tensor:
        return nn.functional.max_pool2d(maps, 3, 2)

    with torch.inference_mode():
        maps = pool(response(network.conv1(images).relu()))
        assert maps.shape == (1, 96, 27, 27)
        maps = pool(response(grouped(maps, network.conv2)))
        assert maps.shape == (1, 256, 13, 13)
        maps = grouped(network.conv3(maps).relu(), network.conv4)
        maps = pool(grouped(maps, network.conv5))
        assert maps.shape == (1, 256, 6, 6)
        hidden = network.fc7(network.fc6(maps.flatten(1)).relu()).relu()
        torch.testing.assert_close(network(images), network.fc8(hidden))
        strided = images.contiguous(memory_format=torch.channels_last)
        torch.testing.assert_close(network(strided), network.fc8(hidden))


def test_its_transform_subtracts_caffes_means_on_the_scale_of_bytes() -> None:
    assert (TRANSFORM.resize, TRANSFORM.crop) == ((256, 256), 227)
    pixel = torch.tensor([255.0, 0.0, 128.0]) / 255
    found = (pixel - torch.tensor(TRANSFORM.mean)) / torch.tensor(TRANSFORM.std)
    wanted = torch.tensor([255 - 122.67891434, -116.66876762, 128 - 104.00698793])
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-4)


def number(value: int) -> bytes:
    parts = []
    while True:
        value, low = value >> 7, value & 0x7F
        parts.append(low | (0x80 if value else 0))
        if not value:
            return bytes(parts)


def message(field: int, content: bytes) -> bytes:
    return number(field << 3 | 2) + number(len(content)) + content


def caffemodel(layers: dict[str, list[torch.Tensor]], *, old: bool) -> bytes:
    """A NetParameter as Caffe wrote it, in the older form or the newer one."""
    net = message(1, b"AlexNet")
    for name, tensors in layers.items():
        blobs = b""
        for tensor in tensors:
            data = message(5, struct.pack(f"<{tensor.numel()}f", *tensor.flatten().tolist()))
            if old:
                sizes = [1] * (4 - tensor.ndim) + list(tensor.shape)
                head = b"".join(
                    number(place << 3) + number(size) for place, size in enumerate(sizes, 1)
                )
            else:
                head = message(7, message(1, b"".join(number(size) for size in tensor.shape)))
            blobs += message(6 if old else 7, head + data)
        # A bottom, a float of a learning rate and a type stand between what is read.
        extra = number(7 << 3 | 5) + struct.pack("<f", 1.0) if old else b""
        kind = number(5 << 3) + number(4) if old else message(2, b"Convolution")
        named = message(4 if old else 1, name.encode())
        bottom = message(2 if old else 3, b"data")
        net += message(2 if old else 100, bottom + named + kind + extra + blobs)
    return net


@pytest.mark.parametrize("old", [True, False])
def test_caffes_layout_is_read_in_both_of_its_forms(tmp_path: Path, old: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    made = {
        "conv1": [torch.randn(4, 3, 2, 2, generator=generator), torch.randn(4)],
        "relu1": [],
        "fc2": [torch.randn(5, 16, generator=generator), torch.randn(5)],
    }
    (path := tmp_path / "net.caffemodel").write_bytes(caffemodel(made, old=old))
    found = read_caffe_weights(path)
    assert sorted(found) == ["conv1.bias", "conv1.weight", "fc2.bias", "fc2.weight"]
    # Caffe reads images as blue, green, red.
    assert torch.equal(found["conv1.weight"], made["conv1"][0][:, [2, 1, 0]])
    assert torch.equal(found["conv1.bias"], made["conv1"][1])
    assert torch.equal(found["fc2.weight"], made["fc2"][0])
    assert torch.equal(found["fc2.bias"], made["fc2"][1])


@pytest.mark.parametrize("content", [b"", b"\x00\x01nonsense\xff" * 9])
def test_files_that_are_no_caffe_weights_are_told(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / "net.caffemodel").write_bytes(content)
    with pytest.raises(ShiftlakeError, match="Caffe weights cannot be read"):
        read_caffe_weights(path)


def test_cut_caffe_weights_are_told(tmp_path: Path) -> None:
    whole = caffemodel({"conv1": [torch.zeros(4, 3, 2, 2)]}, old=True)
    (path := tmp_path / "net.caffemodel").write_bytes(whole[:-9])
    with pytest.raises(ShiftlakeError, match="Caffe weights cannot be read"):
        read_caffe_weights(path)


def test_caffes_weights_are_stored_under_the_names_of_the_layers(
    root: Root, tmp_path: Path
) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = convolution()
    state = network.state_dict()
    flipped = {"conv1.weight": state["conv1.weight"].flip(1)}
    layers = {
        name: [{**state, **flipped}[f"{name}.{part}"] for part in ("weight", "bias")]
        for name in ("conv1", "fc2")
    }
    (path := tmp_path / "net.caffemodel").write_bytes(caffemodel(layers, old=True))
    entry = ModelEntry(
        name="net",
        kind="checkpoint",
        reference="weight_parts:convolution",
        transform=Transform(resize=2, crop=2),
        class_map=(0, 1, 2),
    )
    stored = register(root, entry, path)
    assert stored.weights is not None
    assert stored.weights.suffix == "safetensors"
    loaded = load(root, stored).state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in state.items())


def test_it_is_stated_as_the_normaliser(tmp_path: Path) -> None:
    statement = stated({"reference": "alexnet:grouped"}, "test")
    entry, weights = entry_of("alexnet", statement, tmp_path / "own.pt")
    assert weights == tmp_path / "own.pt"
    assert entry.normaliser
    assert (entry.kind, entry.reference) == ("checkpoint", "ops.models.alexnet:GroupedAlexNet")
    assert entry.transform == TRANSFORM
    other = statement.model_copy(update={"normaliser": False})
    assert not entry_of("alexnet", other, weights)[0].normaliser


def test_another_alexnet_is_told(tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="no such AlexNet") as caught:
        entry_of("alexnet", stated({"reference": "alexnet:torchvision"}, "t"))
    assert "torchvision:alexnet" in str(caught.value.expected)
