"""torchvision's models come with the transform of their weights, and no pickle of theirs runs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, load, register
from ops.models.statement import entry_of, stated
from ops.models.torchvision_source import from_torchvision, transform_of
from ops.storage import Root


@pytest.fixture(scope="module")
def models() -> Any:
    return pytest.importorskip("torchvision.models")


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """torch hub's folder of downloaded files, where published names stand for our files."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    (folder := tmp_path / "torch" / "hub" / "checkpoints").mkdir(parents=True)
    return folder


def built(models: Any, name: str, **kwargs: Any) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return models.get_model(name, weights=None, **kwargs).eval()


def added(root: Root, reference: str) -> ModelEntry:
    entry, weights = entry_of("net", stated({"reference": reference}, "test"))
    return register(root, entry, weights)


def test_a_model_loads_later_from_the_stored_weights(
    models: Any, checkpoints: Path, root: Root
) -> None:
    network = built(models, "squeezenet1_1")
    url = models.SqueezeNet1_1_Weights.IMAGENET1K_V1.url
    torch.save(network.state_dict(), path := checkpoints / url.rpartition("/")[2])
    stored = added(root, "torchvision:squeezenet1_1")
    path.unlink()
    assert (stored.kind, stored.reference) == ("torchvision", "squeezenet1_1@IMAGENET1K_V1")
    assert stored.parameters == 1_235_496
    assert not stored.normaliser
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert torch.equal(load(root, stored)(images), network(images))


@pytest.mark.parametrize(
    ("reference", "transform"),
    [
        ("resnet50@IMAGENET1K_V1", Transform(resize=256, crop=224)),
        ("resnet50", Transform(resize=232, crop=224)),
        ("efficientnet_b1@IMAGENET1K_V1", Transform(resize=256, crop=240, interpolation="bicubic")),
        (
            "vit_b_16@IMAGENET1K_SWAG_E2E_V1",
            Transform(resize=384, crop=384, interpolation="bicubic"),
        ),
        ("alexnet", Transform(resize=256, crop=224)),
    ],
)
def test_the_transform_is_that_of_the_weights(
    models: Any, reference: str, transform: Transform
) -> None:
    assert from_torchvision(reference).transform == transform


def test_every_classifier_of_torchvision_can_be_stated(models: Any) -> None:
    for name in models.list_models(module=models):
        for weights in models.get_model_weights(name):
            entry = from_torchvision(f"{name}@{weights.name}")
            assert entry.reference == f"{name}@{weights.name}"


def test_torchvisions_alexnet_is_a_normaliser_of_its_own_size(models: Any) -> None:
    assert from_torchvision("alexnet").normaliser
    with torch.device("meta"):
        network = models.get_model("alexnet", weights=None)
    assert sum(one.numel() for one in network.parameters()) == 61_100_840


def test_arguments_that_come_with_weights_hold_later_too(
    models: Any, checkpoints: Path, root: Root
) -> None:
    # googlenet's weights bring another input scale, and heads that only the training has.
    network = built(models, "googlenet", transform_input=True, init_weights=False)
    url = models.GoogLeNet_Weights.IMAGENET1K_V1.url
    torch.save(network.state_dict(), checkpoints / url.rpartition("/")[2])
    stored = added(root, "torchvision:googlenet")
    images = torch.randn(1, 3, 96, 96, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert torch.equal(load(root, stored)(images), network(images))


def test_a_densenet_has_the_names_it_was_published_with(
    models: Any, checkpoints: Path, root: Root
) -> None:
    network = built(models, "densenet121")
    # As in the published file: dotted, and from before batches were counted.
    published = {
        re.sub(r"(denselayer\d+)\.(norm|conv)([12])\.", r"\1.\2.\3.", name): value
        for name, value in network.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    assert "features.denseblock1.denselayer1.norm.1.weight" in published
    url = models.DenseNet121_Weights.IMAGENET1K_V1.url
    torch.save(published, checkpoints / url.rpartition("/")[2])
    stored = added(root, "torchvision:densenet121")
    assert stored.parameters == 7_978_856
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert torch.equal(load(root, stored)(images), network(images))


def test_a_published_name_with_a_pickle_behind_it_is_refused(
    models: Any, checkpoints: Path, root: Root, tmp_path: Path
) -> None:
    class Sprung:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch '{tmp_path / 'sprung'}'",)

    url = models.SqueezeNet1_1_Weights.IMAGENET1K_V1.url
    torch.save({"weight": Sprung()}, checkpoints / url.rpartition("/")[2])
    with pytest.raises(ShiftlakeError, match="cannot be had"):
        added(root, "torchvision:squeezenet1_1")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("resnet5O", "resnet50"),
        ("resnet50@IMAGENET1K_V9", "IMAGENET1K_V1"),
        ("fasterrcnn_resnet50_fpn", "one of"),
    ],
)
def test_unknown_names_name_near_ones(models: Any, reference: str, told: str) -> None:
    with pytest.raises(ShiftlakeError, match="torchvision has no such") as caught:
        from_torchvision(reference)
    assert told in str(caught.value.expected)


def test_a_transform_without_antialias_is_refused(models: Any) -> None:
    from torchvision.transforms._presets import ImageClassification

    with pytest.raises(ShiftlakeError, match="no equal"):
        transform_of(ImageClassification(crop_size=224, antialias=False), "net")


def test_without_torchvision_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(ShiftlakeError, match="needs torchvision") as caught:
        from_torchvision("resnet50")
    assert caught.value.remedy == "pip install 'shiftlake[torchvision]'"
