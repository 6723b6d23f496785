"""Models that a hub serves: over real HTTP, in the published layout, and by commit."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from conftest import Hub
from safetensors.torch import save

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, list_models, load, read_model, register
from ops.models.hub_source import from_hub
from ops.models.statement import entry_of, stated
from ops.storage import Root

REPOSITORY = "lab/tiny-vit"
ARGUMENTS = {"embed_dim": 16, "depth": 1, "num_heads": 2, "img_size": 32, "patch_size": 8}
CONFIG = {
    "architecture": "vit_tiny_patch16_224",
    "num_classes": 4,
    "num_features": 16,
    "global_pool": "token",
    "model_args": ARGUMENTS,
    "pretrained_cfg": {
        "tag": "lab",
        "input_size": [3, 32, 32],
        "fixed_input_size": True,
        "crop_pct": 0.8,
        "crop_mode": "center",
        "interpolation": "bicubic",
        "mean": [0.5, 0.5, 0.5],
        "std": [0.25, 0.25, 0.25],
        "num_classes": 4,
        "first_conv": "patch_embed.proj",
        "classifier": "head",
        "label_names": ["a", "b", "c", "d"],
    },
}


@pytest.fixture(autouse=True)
def libraries() -> None:
    pytest.importorskip("timm")
    pytest.importorskip("huggingface_hub")


def network(seed: int) -> torch.nn.Module:
    import timm

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return timm.create_model("vit_tiny_patch16_224", num_classes=4, **ARGUMENTS).eval()


def files(seed: int, **config: Any) -> dict[str, bytes]:
    weights = {name: value.contiguous() for name, value in network(seed).state_dict().items()}
    return {
        "config.json": json.dumps({**CONFIG, **config}).encode(),
        "model.safetensors": save(weights),
    }


def images() -> torch.Tensor:
    return torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def outputs(model: torch.nn.Module) -> torch.Tensor:
    with torch.inference_mode():
        return model(images())


def added(root: Root, reference: str, **fields: Any) -> ModelEntry:
    statement = stated({"reference": reference, "class_map": [0, 1, 2, 3], **fields}, "test")
    entry, weights = entry_of("tiny", statement)
    return register(root, entry, weights)


@pytest.mark.parametrize("form", ["hf:{}", "timm:hf-hub:{}"])
def test_a_hub_checkpoint_is_pinned_to_its_commit_and_needs_no_network_later(
    root: Root, hub: Hub, form: str
) -> None:
    commit = hub.publish(REPOSITORY, files(seed=0))
    stored = added(root, form.format(REPOSITORY))
    assert (stored.kind, stored.reference, stored.revision) == ("hugging_face", REPOSITORY, commit)
    assert stored.transform.model_dump(mode="json") == {
        "resize": 40,
        "crop": 32,
        "interpolation": "bicubic",
        "antialias": True,
        "mean": [0.5, 0.5, 0.5],
        "std": [0.25, 0.25, 0.25],
    }
    assert "label_names" not in json.dumps(stored.kwargs)
    assert any(path.startswith(f"/{REPOSITORY}/resolve/{commit}/model.safe") for path in hub.asked)
    hub.publish(REPOSITORY, files(seed=1))
    hub.asked.clear()
    assert torch.equal(outputs(load(root, read_model(root, "tiny"))), outputs(network(0)))
    assert hub.asked == []


def test_a_branch_and_a_commit_can_be_named(root: Root, hub: Hub) -> None:
    first = hub.publish(REPOSITORY, files(seed=0), name="v1")
    second = hub.publish(REPOSITORY, files(seed=1))
    assert added(root, f"hf:{REPOSITORY}@v1").revision == first
    assert torch.equal(outputs(load(root, read_model(root, "tiny"))), outputs(network(0)))
    assert added(root, f"hf:{REPOSITORY}@{second}").revision == second
    assert torch.equal(outputs(load(root, read_model(root, "tiny"))), outputs(network(1)))


@pytest.mark.parametrize("reference", ["lab/nothing", f"{REPOSITORY}@v9"])
def test_what_the_hub_does_not_have_is_told(hub: Hub, reference: str) -> None:
    hub.publish(REPOSITORY, files(seed=0))
    with pytest.raises(ShiftlakeError, match="hub did not give") as caught:
        from_hub(reference)
    assert "HF_ENDPOINT" in caught.value.remedy
    assert reference in str(caught.value.where)


@pytest.mark.parametrize("reference", ["tiny", "a/b/c", "lab/"])
def test_a_repository_has_two_names(reference: str) -> None:
    with pytest.raises(ShiftlakeError, match="no repository"):
        from_hub(reference)


def test_a_transformers_repository_is_told_apart(hub: Hub) -> None:
    config = {"architectures": ["ResNetForImageClassification"], "model_type": "resnet"}
    hub.publish("lab/other", {"config.json": json.dumps(config).encode()})
    with pytest.raises(ShiftlakeError, match="timm's format") as caught:
        from_hub("lab/other")
    assert "ResNetForImageClassification" in str(caught.value.found)


def test_weights_that_are_missing_or_do_not_fit_are_told(root: Root, hub: Hub) -> None:
    there = files(seed=0)
    hub.publish(REPOSITORY, {"config.json": there["config.json"]})
    with pytest.raises(ShiftlakeError, match="hub did not give"):
        added(root, f"hf:{REPOSITORY}")
    other = {**there, "config.json": files(0, num_classes=5)["config.json"]}
    hub.publish(REPOSITORY, other)
    with pytest.raises(ShiftlakeError):
        added(root, f"hf:{REPOSITORY}")
    assert list_models(root) == []


def test_other_classes_than_the_label_space_has_are_noticed(root: Root, hub: Hub) -> None:
    hub.publish(REPOSITORY, files(seed=0))
    with pytest.raises(ShiftlakeError, match="another number of outputs") as caught:
        added(root, f"hf:{REPOSITORY}", class_map=None)
    assert "1000" in str(caught.value.expected)
    assert caught.value.found == "4"
