"""Zero-shot heads are those of open_clip's own recipe, and evaluation needs the image tower alone.

The weights come from a loopback hub, in the layout open_clip publishes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import pytest
import torch
from conftest import Hub
from safetensors.torch import save

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, load, read_model, register
from ops.models.statement import entry_of, stated
from ops.models.zero_shot import from_open_clip
from ops.storage import Root

REFERENCE = "hf-hub:lab/tiny-clip"
CLASSES = (1, 9, 207, 999)
MODEL = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
PREPROCESS = {
    "mean": [0.5, 0.4, 0.3],
    "std": [0.2, 0.3, 0.4],
    "interpolation": "bilinear",
    "resize_mode": "squash",
}


@pytest.fixture(scope="module")
def open_clip() -> Any:
    return pytest.importorskip("open_clip")


def clip(open_clip: Any, **more: Any) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = open_clip.CLIP(**{**MODEL, **more})
    with torch.no_grad():
        model.logit_scale.fill_(3.5)
    return model.eval()


@pytest.fixture
def published(hub: Hub, open_clip: Any) -> Hub:
    model = clip(open_clip)
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    config = {"model_cfg": MODEL, "preprocess_cfg": PREPROCESS}
    files = {
        "open_clip_config.json": json.dumps(config).encode(),
        "open_clip_model.safetensors": save(tensors),
    }
    hub.publish("lab/tiny-clip", files)
    return hub


def added(root: Root, **fields: Any) -> ModelEntry:
    given = {"reference": f"open_clip:{REFERENCE}", "class_map": list(CLASSES), **fields}
    entry, weights = entry_of("clip", stated(given, "test"))
    return register(root, entry, weights)


def images() -> torch.Tensor:
    return torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def test_the_logits_are_those_of_the_published_recipe(
    root: Root, published: Hub, open_clip: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = added(root)
    model, tokenizer = clip(open_clip), open_clip.get_tokenizer("ViT-B-32")
    with torch.inference_mode():
        # Class by class, as in section 3.1.4 of the CLIP paper and its notebook.
        columns = []
        for index in CLASSES:
            name = open_clip.IMAGENET_CLASSNAMES[index]
            texts = [template(name) for template in open_clip.OPENAI_IMAGENET_TEMPLATES]
            embeddings = model.encode_text(tokenizer(texts))
            embeddings /= embeddings.norm(dim=-1, keepdim=True)
            mean = embeddings.mean(dim=0)
            columns.append(mean / mean.norm())
        features = model.encode_image(images())
        features /= features.norm(dim=-1, keepdim=True)
        wanted = model.logit_scale.exp() * features @ torch.stack(columns, dim=1)

        # Neither text tower nor tokenizer nor network from here on.
        published.asked.clear()
        monkeypatch.delattr(open_clip, "get_tokenizer")
        monkeypatch.delattr(open_clip, "create_model")
        network = load(root, read_model(root, "clip"))
        found = network(images())
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    assert published.asked == []
    assert not any("text" in name or "token_embedding" in name for name in network.state_dict())
    assert stored.weights is not None
    assert stored.weights.suffix == "safetensors"


def test_the_entry_tells_prompts_transform_and_classes(
    root: Root, published: Hub, open_clip: Any
) -> None:
    stored = added(root)
    assert len(open_clip.OPENAI_IMAGENET_TEMPLATES) == 80
    templates = [template("{}") for template in open_clip.OPENAI_IMAGENET_TEMPLATES]
    names = [open_clip.IMAGENET_CLASSNAMES[index] for index in CLASSES]
    prompts = json.dumps([names, templates]).encode()
    assert stored.prompts == hashlib.sha256(prompts).hexdigest()
    assert (stored.kind, stored.reference) == ("open_clip", REFERENCE)
    assert stored.class_map == CLASSES
    assert stored.transform.model_dump(mode="json") == {
        "resize": [32, 32],
        "crop": 32,
        "interpolation": "bilinear",
        "antialias": True,
        "mean": [0.5, 0.4, 0.3],
        "std": [0.2, 0.3, 0.4],
    }
    simple = added(root, kwargs={"templates": "simple"})
    assert simple.prompts != stored.prompts
    assert simple.weights != stored.weights


def test_a_tag_settles_transform_and_activation(open_clip: Any) -> None:
    plain = from_open_clip("ViT-B-32/laion2b_s34b_b79k")
    assert (plain.transform.resize, plain.transform.crop) == (224, 224)
    assert plain.transform.interpolation == "bicubic"
    assert plain.transform.mean == (0.48145466, 0.4578275, 0.40821073)
    assert not plain.kwargs["quick_gelu"]
    # OpenAI's weights were trained with another activation than the architecture has by name.
    assert from_open_clip("ViT-B-32/openai").kwargs["quick_gelu"]
    squashed = from_open_clip("ViT-B-16-SigLIP/webli")
    assert squashed.transform.resize == (224, 224)
    assert squashed.transform.mean == (0.5, 0.5, 0.5)
    assert plain.prompts == squashed.prompts


def test_a_bias_is_kept_and_quick_activations_are_used(root: Root, open_clip: Any) -> None:
    from ops.models.zero_shot import ZeroShot, create

    entry = ModelEntry(
        name="clip",
        kind="open_clip",
        reference="ViT-B-32/openai",
        kwargs={
            "embed_dim": 16,
            "vision_cfg": MODEL["vision_cfg"],
            "quick_gelu": True,
            "templates": "openai",
        },
        transform={"resize": 32, "crop": 32},
        class_map=CLASSES,
    )
    network = create(entry, pretrained=False).eval()
    assert isinstance(network, ZeroShot)
    model = clip(open_clip, quick_gelu=True)
    network.visual.load_state_dict(model.visual.state_dict())
    network.bias.fill_(-10.0)
    with torch.inference_mode():
        torch.testing.assert_close(network.visual(images()), model.encode_image(images()))
        assert torch.equal(network(images()), torch.full((3, len(CLASSES)), -10.0))


@pytest.mark.parametrize(
    ("reference", "told"),
    [("ViT-B-32/laion3b", "laion2b_s34b_b79k"), ("ViT-Q-99/openai", "ARCHITECTURE/TAG")],
)
def test_unknown_names_are_told(open_clip: Any, reference: str, told: str) -> None:
    with pytest.raises(ShiftlakeError, match="open_clip has no such") as caught:
        from_open_clip(reference)
    assert told in str(caught.value.expected)


def test_other_arguments_and_a_weights_file_are_refused(
    open_clip: Any, root: Root, tmp_path: Any
) -> None:
    with pytest.raises(ShiftlakeError, match="does not take these arguments"):
        from_open_clip("ViT-B-32/openai", kwargs={"template": "a photo of a {}."})
    statement = stated({"reference": "open_clip:ViT-B-32/openai"}, "test")
    with pytest.raises(ShiftlakeError, match="takes no weights file"):
        entry_of("clip", statement, tmp_path / "w.safetensors")


def test_without_open_clip_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(ShiftlakeError, match="needs open_clip") as caught:
        from_open_clip("ViT-B-32/openai")
    assert caught.value.remedy == "pip install 'shiftlake[open_clip]'"
