"""What is registered comes back as it was, and a file that is not what it claims is refused."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import save_file
from weight_parts import OldNames, Trap, images, tied, two_layers

from ops.errors import ShiftlakeError
from ops.models import (
    ModelEntry,
    Transform,
    from_timm,
    list_models,
    load,
    read_model,
    register,
)
from ops.models.timm_source import transform_of
from ops.storage import Root, open_root, paths


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


def entry(name: str = "net", **fields: Any) -> ModelEntry:
    given = {
        "name": name,
        "kind": "checkpoint",
        "reference": "weight_parts:two_layers",
        "transform": Transform(resize=2, crop=2),
        "class_map": (0, 1, 2),
        **fields,
    }
    return ModelEntry(**given)


def state(seed: int = 0) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    return two_layers().state_dict()


def outputs(weights: dict[str, torch.Tensor]) -> torch.Tensor:
    model = two_layers()
    model.load_state_dict(weights)
    with torch.inference_mode():
        return model.eval()(images())


WRAPPERS: dict[str, Callable[[dict[str, torch.Tensor]], Any]] = {
    "bare": lambda tensors: tensors,
    "ordered": OrderedDict,
    "state_dict": lambda tensors: {"epoch": 3, "state_dict": tensors, "best": 0.5},
    "model": lambda tensors: {"model": tensors, "args": {"lr": 0.1}},
    "parallel": lambda tensors: {
        "state_dict": {f"module.{name}": value for name, value in tensors.items()}
    },
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_checkpoints_of_every_shape_load_alike(root: Root, tmp_path: Path, wrapper: str) -> None:
    torch.save(WRAPPERS[wrapper](state()), path := tmp_path / "net.pth")
    registered = register(root, entry(), path)
    model = load(root, read_model(root, "net"))
    assert registered == read_model(root, "net")
    assert not model.training
    with torch.inference_mode():
        assert torch.equal(model(images()), outputs(state()))


def test_safetensors_are_stored_byte_for_byte_under_their_hash(root: Root, tmp_path: Path) -> None:
    save_file(state(), path := tmp_path / "net.safetensors")
    weights = register(root, entry(), path).weights
    assert weights is not None
    assert weights.suffix == "safetensors"
    assert root.read_bytes(paths.weights(weights.sha256, "safetensors")) == path.read_bytes()
    with torch.inference_mode():
        assert torch.equal(load(root, read_model(root, "net"))(images()), outputs(state()))


def test_a_callable_keeps_the_weights_it_had_when_registered(root: Root) -> None:
    torch.manual_seed(0)
    first = register(root, entry(kind="callable"))
    torch.manual_seed(1)
    model = load(root, first)
    with torch.inference_mode():
        assert torch.equal(model(images()), outputs(state(0)))


def test_equal_weights_have_one_hash_and_other_weights_another(root: Root) -> None:
    found = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        found.append(register(root, entry(kind="callable")).weights)
    assert found[0] == found[1] != found[2]
    assert read_model(root, "net").weights == found[2]
    kept = [path for path in root.list("models/weights") if path.endswith("safetensors")]
    assert len(kept) == 2


def test_tied_weights_can_be_registered(root: Root) -> None:
    registered = register(root, entry(kind="callable", reference="weight_parts:tied"), check=False)
    model = load(root, registered)
    assert torch.equal(model.state_dict()["0.weight"], model.state_dict()["1.weight"])
    assert set(model.state_dict()) == set(tied().state_dict())


def test_a_checkpoint_that_would_run_code_is_refused_and_does_not_run(
    root: Root, tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    torch.save({"state_dict": state(), "extra": Trap(sprung)}, path := tmp_path / "net.pt")
    with pytest.raises(ShiftlakeError, match="would run code") as caught:
        register(root, entry(), path)
    assert "system" in str(caught.value.found)
    assert "safetensors" in caught.value.remedy
    assert not sprung.exists()
    assert root.list("models") == []


def test_a_whole_pickled_model_is_refused(root: Root, tmp_path: Path) -> None:
    torch.save(two_layers(), path := tmp_path / "net.pt")
    with pytest.raises(ShiftlakeError, match="would run code"):
        register(root, entry(), path)


def test_missing_unexpected_and_misshapen_parameters_are_named(root: Root, tmp_path: Path) -> None:
    weights = state()
    del weights["1.bias"]
    weights["head.weight"] = torch.zeros(3)
    weights["3.weight"] = torch.zeros(7, 5)
    save_file(weights, path := tmp_path / "net.safetensors")
    with pytest.raises(ShiftlakeError) as caught:
        register(root, entry(), path)
    for told in ("missing: 1.bias", "unexpected: head.weight", "3.weight (7, 5) for (3, 5)"):
        assert told in str(caught.value.found)
    assert list_models(root) == []


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("net.safetensors", b"nonsense", "cannot be read"),
        ("net.pt", b"nonsense", "cannot be read"),
        ("net.pt", b"", "cannot be read"),
    ],
)
def test_files_that_are_no_weights_are_refused(
    root: Root, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (path := tmp_path / name).write_bytes(content)
    with pytest.raises(ShiftlakeError, match=told) as caught:
        register(root, entry(), path)
    assert str(path) in str(caught.value.where)


def test_a_checkpoint_without_a_state_dict_is_refused(root: Root, tmp_path: Path) -> None:
    torch.save({"epoch": 3, "loss": 0.5}, path := tmp_path / "net.pt")
    with pytest.raises(ShiftlakeError, match="no state dict") as caught:
        register(root, entry(), path)
    assert "epoch, loss" in str(caught.value.found)


@pytest.mark.parametrize("weights", [None, Path("nowhere.safetensors")])
def test_a_checkpoint_needs_its_file(root: Root, weights: Path | None) -> None:
    with pytest.raises(ShiftlakeError, match="weights file"):
        register(root, entry(), weights)


def test_altered_or_lost_weights_are_noticed_before_they_are_used(root: Root) -> None:
    registered = register(root, entry(kind="callable"))
    assert registered.weights is not None
    path = root.local_path(paths.weights(registered.weights.sha256, "safetensors"))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ShiftlakeError, match="not the one that was registered"):
        load(root, registered)
    path.unlink()
    with pytest.raises(ShiftlakeError, match="is gone"):
        load(root, registered)


@pytest.mark.parametrize(
    ("reference", "kwargs", "told"),
    [
        ("no_such_module:build", {}, "cannot be imported"),
        ("weight_parts:no_such_name", {}, "cannot be imported"),
        ("weight_parts:no_network", {}, "not a network"),
        ("weight_parts:two_layers", {"depth": 9}, "does not take these arguments"),
        ("weight_parts:two_layers", {"outputs": -1}, "fails while it is made"),
    ],
)
def test_wrong_architectures_are_told(
    root: Root, reference: str, kwargs: dict[str, Any], told: str
) -> None:
    with pytest.raises(ShiftlakeError, match=told):
        register(root, entry(kind="callable", reference=reference, kwargs=kwargs))


@pytest.mark.parametrize(
    "reference",
    [
        "os:system",
        "builtins:exec",
        "subprocess:run",
        "posix:system",
        "__main__:anything",
        "torch.hub:load",
        "weight_parts:os",
        "weight_parts:Trap",
        "weight_parts:run",
        "weight_parts:ready",
    ],
)
def test_a_reference_names_nothing_but_a_network(
    root: Root, tmp_path: Path, reference: str
) -> None:
    trace = tmp_path / "trace"
    kwargs = {"command": f"touch '{trace}'"}
    wanted = entry(kind="callable", reference=reference, kwargs=kwargs)
    with pytest.raises(ShiftlakeError, match="architecture is refused"):
        register(root, wanted)
    assert not trace.exists()
    assert list_models(root) == []


def test_a_network_class_and_one_that_torch_defines_are_architectures(root: Root) -> None:
    own = {"num_classes": 3, "width": 2}
    register(
        root, entry("own", kind="callable", reference="ops.models.smallcnn:SmallCNN", kwargs=own)
    )
    sizes = {"in_features": 3, "out_features": 2}
    linear = entry("linear", kind="callable", reference="torch.nn:Linear", kwargs=sizes)
    register(root, linear, check=False)
    assert list_models(root) == ["linear", "own"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"label_space": "ilsvrc100"}, "no such label space"),
        ({"label_space": "cifar100", "class_map": (0, 1, 100)}, "leaves its label space"),
        ({"class_map": ()}, "leaves its label space"),
    ],
)
def test_outputs_outside_the_catalogs_label_spaces_are_refused(
    root: Root, fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(ShiftlakeError, match=told) as caught:
        register(root, entry(kind="callable", **fields))
    assert list_models(root) == []
    if told.startswith("no such"):
        assert {"ilsvrc1000", "cifar100"} <= set(str(caught.value.expected)[7:].split(", "))


def test_an_unknown_name_names_near_ones(root: Root) -> None:
    register(root, entry("resnet50", kind="callable"))
    assert list_models(root) == ["resnet50"]
    with pytest.raises(ShiftlakeError) as caught:
        read_model(root, "resnet5O")
    assert "resnet50" in str(caught.value.expected)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "../escape"},
        {"name": "a/b"},
        {"reference": "no_colon"},
        {"class_map": (1, 2, 1)},
        {"precision": "fp8"},
        {"colour": "red"},
    ],
)
def test_entries_that_make_no_sense_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        entry(**fields)


def test_a_damaged_entry_is_told(root: Root) -> None:
    root.write_json(paths.model("net"), {"name": "net", "kind": "magic"})
    with pytest.raises(ShiftlakeError, match="entry cannot be read") as caught:
        read_model(root, "net")
    assert "kind" in str(caught.value.found)


def test_a_transform_is_known_by_its_content() -> None:
    one = Transform(resize=256, crop=224)
    assert one.hash == Transform.model_validate_json(one.canonical).hash
    assert one.hash == Transform(crop=224, resize=256, std=one.std).hash
    others = [
        Transform(resize=257),
        Transform(crop=225),
        Transform(interpolation="bicubic"),
        Transform(mean=(0.5, 0.5, 0.5)),
        Transform(resize=(256, 256)),
    ]
    assert len({one.hash, *(other.hash for other in others)}) == 6


@pytest.mark.parametrize("fields", [{"crop": None}, {"resize": 0}, {"std": (0.0, 1.0, 1.0)}])
def test_transforms_that_make_no_batch_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Transform(**fields)


def config(**fields: Any) -> dict[str, Any]:
    given = {
        "input_size": (3, 224, 224),
        "crop_pct": 0.875,
        "interpolation": "bicubic",
        "mean": (0.485, 0.456, 0.406),
        "std": (0.229, 0.224, 0.225),
        "crop_mode": "center",
    }
    return {**given, **fields}


@pytest.mark.parametrize(
    ("fields", "resize", "crop"),
    [
        ({}, 256, 224),
        ({"crop_pct": 0.95}, 235, 224),
        ({"input_size": (3, 288, 288), "crop_pct": 1.0}, 288, 288),
        ({"crop_pct": 0.9}, 248, 224),
        ({"crop_mode": "squash", "crop_pct": 1.0}, (224, 224), 224),
    ],
)
def test_timms_configuration_becomes_the_transform_timm_would_make(
    fields: dict[str, Any], resize: object, crop: int
) -> None:
    found = transform_of(config(**fields), "net")
    assert (found.resize, found.crop, found.interpolation) == (resize, crop, "bicubic")


@pytest.mark.parametrize("fields", [{"crop_mode": "border"}, {"input_size": (1, 28, 28)}])
def test_timm_transforms_without_an_equal_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ShiftlakeError, match="no equal"):
        transform_of(config(**fields), "net")


def test_without_timm_the_remedy_is_said(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ShiftlakeError) as caught:
        from_timm("resnet50.a1_in1k")
    assert caught.value.remedy == "pip install 'shiftlake[timm]'"
    with pytest.raises(ShiftlakeError, match="needs timm"):
        register(root, entry(kind="timm", reference="resnet50.a1_in1k"))


def test_a_timm_model_loads_later_from_the_stored_weights(root: Root) -> None:
    pytest.importorskip("timm")
    made = from_timm("resnet10t", name="tiny", kwargs={"pretrained": False})
    registered = register(root, made)
    one, other = load(root, registered), load(root, registered)
    pixels = torch.linspace(-1, 1, 3 * 64 * 64).view(1, 3, 64, 64)
    with torch.inference_mode():
        assert torch.equal(one(pixels), other(pixels))
    assert registered.transform.crop == 224
    with pytest.raises(ShiftlakeError, match="could not make"):
        from_timm("resnet_of_no_size")


def test_a_networks_own_upgrades_of_older_state_dicts_are_honoured(
    root: Root, tmp_path: Path
) -> None:
    older = OldNames().eval()
    tensors = dict(older.state_dict())
    del tensors["norm.num_batches_tracked"]
    for part in ("weight", "bias"):
        tensors[f"fc.{part}"] = tensors.pop(f"head.{part}")
    save_file(tensors, path := tmp_path / "net.safetensors")
    stored = register(root, entry(reference="weight_parts:OldNames"), path)
    with torch.inference_mode():
        assert torch.equal(load(root, stored)(images()), older(images()))
    del tensors["norm.running_mean"]
    save_file(tensors, path)
    with pytest.raises(ShiftlakeError, match="do not fit") as caught:
        register(root, entry(reference="weight_parts:OldNames"), path)
    assert caught.value.found == "missing: norm.running_mean"


@pytest.mark.parametrize(
    "argument", ["checkpoint_path", "pretrained_cfg", "pretrained_cfg_overlay", "cache_dir"]
)
def test_timm_reads_no_file_that_an_argument_names(
    root: Root, tmp_path: Path, argument: str
) -> None:
    pytest.importorskip("timm")
    torch.save(Trap(tmp_path / "sprung"), path := tmp_path / "net.pt")
    value = {"file": str(path)} if "cfg" in argument else str(path)
    kwargs = {"pretrained": False, argument: value}
    with pytest.raises(ShiftlakeError, match="read files") as caught:
        from_timm("test_vit", kwargs=kwargs)
    assert caught.value.found == argument
    with pytest.raises(ShiftlakeError, match="read files"):
        register(root, entry(kind="timm", reference="test_vit", kwargs=kwargs))
    with pytest.raises(ShiftlakeError, match="folder or a repository"):
        from_timm(f"local-dir:{tmp_path}", name="net")
    assert not (tmp_path / "sprung").exists()
