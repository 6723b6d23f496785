"""``shiftlake model``: add, list, show and remove, in the words a person uses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from program_parts import CLASSES, SIDE, export
from safetensors.torch import save_file
from typer.testing import CliRunner
from weight_parts import two_layers

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, list_models, load, read_model
from ops.models.hub_source import from_hub
from ops.models.statement import entry_of, stated
from ops.models.timm_source import from_timm
from ops.models.torchvision_source import from_torchvision
from ops.models.zero_shot import from_open_clip
from ops.storage import Root, open_root
from pipelines.cli import models as commands

SMALL = ("--resize", "2", "--crop", "2")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "lake"))
    # The command sets these too; so they are put back afterwards.
    monkeypatch.setenv("SHIFTLAKE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    commands.add_commands(app)
    monkeypatch.setattr(commands.out, "_width", 200)

    def invoke(*words: str) -> str:
        answer = CliRunner().invoke(app, ["model", *words])
        if answer.exception is not None and not isinstance(answer.exception, SystemExit):
            raise answer.exception
        assert answer.exit_code == 0, answer.output
        return answer.output

    return invoke


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    (tmp_path / "classes.json").write_text("[10, 20, 30]")
    save_file(two_layers(seed=0).state_dict(), path := tmp_path / "net.safetensors")
    return path


def add(run: Any, weights: Path, *more: str, name: str = "net") -> str:
    reference = ("add", name, "weight_parts:two_layers", "--weights", str(weights))
    return run(*reference, *SMALL, "--class-map", "classes.json", *more)


def test_every_field_can_be_stated(run: Any, root: Root, weights: Path) -> None:
    told = add(
        run,
        weights,
        *("--head", "sigmoid", "--precision", "bf16", "--tf32", "--no-deterministic"),
        *("--compile", "--normaliser", "--synthetic", "--note", "a remark"),
        *("--mean", "0.1,0.2,0.3", "--std", "0.4,0.5,0.6", "--interpolation", "bicubic"),
        *("--resize", "4x3", "--label-space", "cifar100"),
    )
    entry = read_model(root, "net")
    assert entry.weights is not None
    assert entry.weights.sha256 in told
    assert entry.transform.model_dump(mode="json") == {
        "resize": [4, 3],
        "crop": 2,
        "interpolation": "bicubic",
        "antialias": True,
        "mean": [0.1, 0.2, 0.3],
        "std": [0.4, 0.5, 0.6],
    }
    found = entry.model_dump(exclude={"transform", "weights", "kwargs", "training"})
    assert found == {
        "name": "net",
        "kind": "checkpoint",
        "reference": "weight_parts:two_layers",
        "revision": None,
        "origin": None,
        "imported": False,
        "parameters": 12 * 5 + 5 + 5 * 3 + 3,
        "label_space": "cifar100",
        "class_map": (10, 20, 30),
        "head": "sigmoid",
        "prompts": None,
        "precision": "bf16",
        "tf32": True,
        "deterministic": False,
        "compiled": True,
        "normaliser": True,
        "synthetic": True,
        "fine_tuned_on": (),
        "note": "a remark",
    }
    shown = run("show", "net")
    for text in ("sigmoid", entry.weights.sha256, "83", "4 x 3", "cifar100", "3 classes of it"):
        assert text in shown
    assert entry.transform.hash in shown
    listed = run("list")
    assert "sigmoid head" in listed
    assert "normaliser" in listed


def test_what_is_not_stated_is_the_default(run: Any, root: Root, weights: Path) -> None:
    add(run, weights)
    entry = read_model(root, "net")
    plain = ModelEntry(
        name="net",
        kind="checkpoint",
        reference="weight_parts:two_layers",
        transform={"resize": 2, "crop": 2},
        class_map=(10, 20, 30),
        weights=entry.weights,
        parameters=entry.parameters,
    )
    assert entry == plain


def test_a_name_that_exists_is_another_models(run: Any, root: Root, weights: Path) -> None:
    first = add(run, weights)
    assert add(run, weights) == first
    former = read_model(root, "net").weights
    assert former is not None
    save_file(two_layers(seed=1).state_dict(), weights)
    with pytest.raises(ShiftlakeError, match="another model's"):
        add(run, weights)
    assert read_model(root, "net").weights == former
    told = add(run, weights, "--force")
    assert f"had the weights {former.sha256} before: results of those are stale" in told
    assert read_model(root, "net").weights != former


def test_a_model_is_removed_and_the_others_stay(run: Any, root: Root, weights: Path) -> None:
    add(run, weights)
    add(run, weights, name="other")
    assert "stale" in run("remove", "net")
    assert list_models(root) == ["other"]
    assert "net" not in run("list").replace("net.", "").replace("weight_parts", "").split()
    with pytest.raises(ShiftlakeError, match="no such model"):
        run("show", "net")


def test_a_damaged_entry_is_listed_and_can_be_replaced(run: Any, root: Root, weights: Path) -> None:
    add(run, weights, name="good")
    root.write_json("models/net.json", {"name": "net"})
    listed = run("list")
    assert "damaged" in listed
    assert "good" in listed
    with pytest.raises(ShiftlakeError, match="cannot be registered"):
        add(run, weights)
    add(run, weights, "--force")
    assert read_model(root, "net").class_map == (10, 20, 30)


def test_a_program_is_its_own_reference(run: Any, root: Root, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path = export(tmp_path / "folder" / "small.pt2")
    (tmp_path / "classes.json").write_text(json.dumps(list(range(CLASSES))))
    sizes = ("--resize", str(SIDE), "--crop", str(SIDE), "--class-map", "classes.json")
    run("add", "small", str(path), *sizes)
    entry = read_model(root, "small")
    assert (entry.kind, entry.reference) == ("exported", "small.pt2")
    assert str(tmp_path) not in entry.model_dump_json()
    with torch.inference_mode():
        assert load(root, entry)(torch.zeros(1, 3, SIDE, SIDE)).shape == (1, CLASSES)
    with pytest.raises(ShiftlakeError, match="whole program"):
        run("add", "odd", "weight_parts:two_layers", "--weights", str(path), *sizes)


def test_the_blank_image_can_be_left_out(run: Any, root: Root) -> None:
    words = ("add", "net", "weight_parts:two_layers", *SMALL)
    with pytest.raises(ShiftlakeError, match="another number of outputs"):
        run(*words)
    run(*words, "--no-check")
    assert list_models(root) == ["net"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("weight_parts:two_layers", "--kwargs", "{n:3}"), "JSON object"),
        (("weight_parts:two_layers", "--kwargs", "[3]"), "kwargs"),
        (("weight_parts:two_layers", "--resize", "wide"), "256x256"),
        (("weight_parts:two_layers", "--resize", "2x2x2"), "256x256"),
        (("weight_parts:two_layers", "--mean", "a,b,c"), "three numbers"),
        (("weight_parts:two_layers", "--mean", "0.5,0.5"), "mean"),
        (("weight_parts:two_layers", "--mean", "123.7,116.3,103.5"), "mean: must be on the scale"),
        (("weight_parts:two_layers", "--std", "0,0,0"), "std"),
        (("weight_parts:two_layers", "--std", "58.4,57.1,57.4"), "58.395 of 255 is 0.229"),
        (("weight_parts:two_layers", "--class-map", "nowhere.json"), "JSON file"),
        (("weight_parts:two_layers", "--head", "linear"), "head"),
        (("weight_parts:two_layers", "--precision", "fp8"), "precision"),
        (("weight_parts:two_layers", "--interpolation", "cubic"), "interpolation"),
        (("weight_parts:two_layers", "--label-space", "ilsvrc100"), "ilsvrc1000"),
        (("resnet50",), "module:callable"),
        (("small.pt2",), "a file"),
        (("small.onnx", "--compile"), "compiled"),
    ],
)
def test_mistakes_name_the_option(run: Any, root: Root, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(ShiftlakeError) as caught:
        run("add", "net", *words)
    assert told in f"{caught.value.expected} {caught.value.remedy}"
    assert list_models(root) == []


def test_a_mistake_is_told_alone_and_in_a_line(run: Any, tmp_path: Path) -> None:
    (tmp_path / "same.json").write_text(json.dumps([7] * 1000))
    with pytest.raises(ShiftlakeError) as caught:
        run("add", "net", "weight_parts:two_layers", "--class-map", "same.json")
    assert caught.value.expected == "class_map: two outputs have the same class in class_map"
    assert len(str(caught.value.found)) <= 100
    assert caught.value.remedy == "correct class_map"
    with pytest.raises(ShiftlakeError) as caught:
        run("add", "net", "timm/resnet50")
    assert caught.value.found == "timm/resnet50"
    assert "timm:NAME" in caught.value.remedy


def test_who_gives_no_weights_hears_that_they_may_be_random(run: Any, weights: Path) -> None:
    words = ("add", "net", "weight_parts:two_layers", *SMALL, "--no-check")
    assert "random" in run(*words)
    assert "random" not in run(*words, "--weights", str(weights), "--force")


def test_a_sources_transform_gives_way_to_what_is_stated() -> None:
    pytest.importorskip("timm")
    fields = {"reference": "timm:resnet10t", "kwargs": {"pretrained": False}}
    own, _ = entry_of("net", stated(fields, "test"))
    assert own.transform.crop == 224
    larger = {**fields, "transform": {"resize": 320, "crop": 288}}
    other, _ = entry_of("net", stated(larger, "test"))
    assert (other.transform.resize, other.transform.crop) == (320, 288)
    assert other.transform.interpolation == own.transform.interpolation
    assert other.transform.mean == own.transform.mean


@pytest.mark.parametrize(
    "reference",
    [
        *("timm:resnet50.a1_in1k", "torchvision:resnet50", "hf:lab/net", "open_clip:ViT-B-32/x"),
        *("alexnet:grouped", "weight_parts:two_layers", "small.onnx"),
    ],
)
def test_a_name_that_no_model_can_have_is_told_before_any_source_is_asked(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("timm", "torchvision", "huggingface_hub", "open_clip"):
        monkeypatch.setitem(sys.modules, library, None)
    for name in ("my net.yaml", "../net", "", "net\n"):
        with pytest.raises(ShiftlakeError, match="cannot have this name") as caught:
            entry_of(name, stated({"reference": reference}, "test"))
        assert caught.value.found == repr(name)


@pytest.mark.parametrize(
    ("made", "reference"),
    [
        (from_timm, "resnet50.a1_in1k"),
        (from_torchvision, "resnet50"),
        (from_hub, "lab/net"),
        (from_hub, "lab/_net"),
        (from_open_clip, "ViT-B-32/openai"),
    ],
)
def test_the_sources_themselves_tell_it_too(
    made: Any, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("torchvision", "open_clip"):
        monkeypatch.setitem(sys.modules, library, None)
    own = {} if "_net" in reference else {"name": "my net"}
    with pytest.raises(ShiftlakeError, match="cannot have this name"):
        made(reference, **own)
