"""A blank image shows at registration what would otherwise fail hours later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from weight_parts import FAULTS

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, list_models, read_model, register, remove
from ops.models.trial import check_outputs
from ops.storage import Root, paths


def entry(name: str = "net", **fields: Any) -> ModelEntry:
    given = {
        "name": name,
        "kind": "callable",
        "reference": "weight_parts:two_layers",
        "transform": Transform(resize=2, crop=2),
        "class_map": (0, 1, 2),
        **fields,
    }
    return ModelEntry(**given)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("raises", "fails on a blank image"),
        ("nan", "not finite"),
        ("infinite", "not finite"),
        ("probabilities", "probabilities, not logits"),
        ("list", "does not return logits"),
        ("flat", "does not return logits"),
    ],
)
def test_outputs_that_cannot_be_used_are_refused_before_anything_is_stored(
    root: Root, fault: str, told: str
) -> None:
    assert fault in FAULTS
    bad = entry(reference="weight_parts:Faulty", kwargs={"fault": fault})
    with pytest.raises(ShiftlakeError, match=told) as caught:
        register(root, bad)
    assert "--no-check" in caught.value.remedy
    assert root.list("models") == []
    assert register(root, bad, check=False).name == "net"


def test_a_wrong_number_of_classes_is_told_with_both_numbers(root: Root) -> None:
    with pytest.raises(ShiftlakeError, match="another number of outputs") as caught:
        register(root, entry(class_map=None))
    assert "1000 outputs" in str(caught.value.expected)
    assert caught.value.found == "3"
    register(root, entry(kwargs={"outputs": 100}, class_map=None, label_space="cifar100"))
    with pytest.raises(ShiftlakeError, match="another number of outputs"):
        register(root, entry(class_map=(0, 1)))


@pytest.mark.parametrize("fault", ["sigmoid", "probabilities"])
def test_probabilities_are_no_logits_of_independent_outputs_either(root: Root, fault: str) -> None:
    bad = entry(head="sigmoid", reference="weight_parts:Faulty", kwargs={"fault": fault})
    with pytest.raises(ShiftlakeError, match="probabilities, not logits") as caught:
        register(root, bad)
    assert "take the sigmoid off" in caught.value.remedy
    assert list_models(root) == []
    good = entry(head="sigmoid", reference="weight_parts:Faulty", kwargs={"fault": "far"})
    assert register(root, good).head == "sigmoid"


def test_logits_of_one_image_may_lie_between_0_and_1() -> None:
    class Sums(torch.nn.Module):
        """Sums of pixels: 0.5 for a grey image, and more for one that gets brighter."""

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return 0.5 + images.diff(dim=3).sum(dim=(2, 3)) * 100

    plain = Transform(resize=2, crop=2, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    check_outputs(Sums(), entry(head="sigmoid", transform=plain), 3)


def test_a_name_is_only_given_away_on_request(root: Root, tmp_path: Path) -> None:
    sizes = {"kwargs": {"outputs": 3, "seed": 1}}
    first = register(root, entry(**sizes), replace=False)
    assert register(root, entry(**sizes, note="again"), replace=False).weights == first.weights
    other = entry(kwargs={"outputs": 3, "seed": 2})
    with pytest.raises(ShiftlakeError, match="another model's") as caught:
        register(root, other, replace=False)
    assert first.weights is not None
    assert first.weights.sha256[:12] in str(caught.value.expected)
    assert "kwargs, weights" in str(caught.value.found)
    assert "--force" in caught.value.remedy
    assert register(root, other).weights != first.weights


def test_a_removed_model_leaves_its_weights_and_can_come_back(root: Root) -> None:
    first = register(root, entry(kwargs={"seed": 1}))
    assert first.weights is not None
    remove(root, "net")
    assert list_models(root) == []
    assert root.exists(paths.weights(first.weights.sha256, "safetensors"))
    with pytest.raises(ShiftlakeError, match="no such model"):
        remove(root, "net")
    assert register(root, entry(kwargs={"seed": 1})) == first


def test_entries_of_older_releases_are_read(root: Root) -> None:
    stored = register(root, entry())
    old = stored.model_dump(mode="json")
    for field in (
        *("head", "tf32", "deterministic", "compiled", "normaliser"),
        *("revision", "prompts", "parameters", "origin"),
    ):
        del old[field]
    root.write_json(paths.model("net"), old)
    assert read_model(root, "net") == stored.model_copy(update={"parameters": None})


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "onnx", "reference": "a.onnx", "compiled": True},
        {"kind": "onnx", "reference": "folder/a.onnx"},
        {"kind": "hugging_face", "reference": "lab/net"},
        {"kind": "hugging_face", "reference": "lab/net", "revision": "main"},
        {"kind": "torchvision", "reference": "resnet50"},
        {"kind": "timm", "reference": "resnet50", "prompts": "0" * 64},
        {"kind": "open_clip", "reference": "ViT-B-32/openai", "label_space": "cifar100"},
        {"head": "linear"},
        {"kind": "jax"},
    ],
)
def test_fields_that_contradict_each_other_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        entry(**fields)
