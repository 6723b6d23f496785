"""Models that a hub serves: over real HTTP, in the published layout, and by commit."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Hub
from safetensors.torch import save
from weight_parts import Trap

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, list_models, load, read_model, register
from ops.models.hub_source import from_hub
from ops.models.statement import entry_of, stated
from ops.models.timm_source import from_timm
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


def refuses(*words: object, **more: object) -> None:
    raise AssertionError("timm read the file itself")


@pytest.fixture
def own_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights read by timm are a failure: whether it reads them safely depends on its release."""
    import timm

    for name in ("load_state_dict_from_hf", "load_state_dict", "load_state_dict_from_url"):
        monkeypatch.setattr(timm.models._builder, name, refuses)


@pytest.mark.usefixtures("own_reader")
def test_a_pickle_on_the_hub_is_read_here_and_cannot_run(
    root: Root, hub: Hub, tmp_path: Path
) -> None:
    there = files(seed=0)
    torch.save(network(0).state_dict(), plain := io.BytesIO())
    config = there["config.json"]
    hub.publish(REPOSITORY, {"config.json": config, "pytorch_model.bin": plain.getvalue()})
    assert torch.equal(outputs(load(root, added(root, f"hf:{REPOSITORY}"))), outputs(network(0)))
    torch.save({"model": network(1).state_dict(), "x": Trap(tmp_path / "s")}, trap := io.BytesIO())
    hostile = {"config.json": config, "pytorch_model.bin": trap.getvalue()}
    hub.publish("lab/hostile", hostile)
    with pytest.raises(ShiftlakeError, match="would run code") as caught:
        added(root, "hf:lab/hostile")
    assert "lab/hostile" in str(caught.value.where)
    # A safe twin goes first.
    hub.publish("lab/hostile", {**hostile, "model.safetensors": there["model.safetensors"]})
    assert added(root, "hf:lab/hostile").weights is not None
    assert not (tmp_path / "s").exists()


@pytest.mark.usefixtures("own_reader")
def test_timms_own_weights_on_the_hub_are_read_here_too(
    root: Root, hub: Hub, tmp_path: Path
) -> None:
    import timm

    own = timm.create_model("test_vit.r160_in1k").eval()
    tensors = {name: value.contiguous() for name, value in own.state_dict().items()}
    hub.publish("timm/test_vit.r160_in1k", {"model.safetensors": save(tensors)})
    stored = register(root, from_timm("test_vit.r160_in1k"))
    found = load(root, stored).state_dict()
    assert all(torch.equal(found[name], value) for name, value in tensors.items())
    torch.save(Trap(tmp_path / "s"), trap := io.BytesIO())
    hub.publish("timm/test_vit.r160_in1k", {"pytorch_model.bin": trap.getvalue()})
    with pytest.raises(ShiftlakeError, match="would run code"):
        register(root, from_timm("test_vit.r160_in1k"))
    assert not (tmp_path / "s").exists()


def test_a_repository_cannot_make_timm_read_other_files(root: Root, hub: Hub) -> None:
    asked = {**ARGUMENTS, "checkpoint_path": "/somewhere.pt"}
    hub.publish(REPOSITORY, files(0, model_args=asked))
    hub.publish("lab/plain", files(0))
    with pytest.raises(ShiftlakeError, match="read files") as caught:
        from_hub(REPOSITORY)
    assert "config.json" in str(caught.value.where)
    with pytest.raises(ShiftlakeError, match="read files"):
        from_hub("lab/plain", kwargs={"pretrained_cfg_overlay": {"file": "/somewhere.pt"}})
    entry = from_hub("lab/plain", name="tiny")
    kwargs = {**entry.kwargs, "model_args": asked}
    with pytest.raises(ShiftlakeError, match="read files"):
        register(root, entry.model_copy(update={"kwargs": kwargs}))


def test_other_classes_than_the_label_space_has_are_noticed(root: Root, hub: Hub) -> None:
    hub.publish(REPOSITORY, files(seed=0))
    with pytest.raises(ShiftlakeError, match="another number of outputs") as caught:
        added(root, f"hf:{REPOSITORY}", class_map=None)
    assert "1000" in str(caught.value.expected)
    assert caught.value.found == "4"
