"""A watched folder: what is ready is registered, what is not is named, and the rest goes on."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from moto.server import ThreadedMotoServer
from program_parts import CLASSES, SIDE, expected, export, pictures
from safetensors.torch import save
from weight_parts import images, two_layers

from ops.errors import ShiftlakeError
from ops.models import list_models, load, read_model, register, remove
from ops.models.statement import entry_of, stated
from ops.models.watched import WatchedModel, register_watched, watched_models
from ops.storage import Root, open_root

STATED = {
    "reference": "weight_parts:two_layers",
    "transform": {"resize": 2, "crop": 2, "mean": [0.5, 0.5, 0.5]},
    "class_map": [4, 5, 6],
    "head": "sigmoid",
    "normaliser": True,
    "note": "from the night",
}


def weights(seed: int = 0) -> bytes:
    return save(two_layers(seed=seed).state_dict())


class Place:
    """A local folder or an S3 prefix that files are put into."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.root = open_root(url)

    def put(self, name: str, content: Any, *, age: float = 3600.0) -> None:
        if not isinstance(content, bytes):
            content = yaml.safe_dump(content).encode()
        self.root.write_bytes(name, content)
        if self.root.is_local:
            then = time.time() - age
            os.utime(self.root.local_path(name), (then, then))

    def models(self) -> dict[str, WatchedModel]:
        return {model.name: model for model in watched_models(self.url)}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        (folder := tmp_path / "drop").mkdir()
        return Place(str(folder))
    monkeypatch = request.getfixturevalue("monkeypatch")
    for name, value in {
        "AWS_ENDPOINT_URL": request.getfixturevalue("endpoint"),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "SHIFTLAKE_SCRATCH": str(tmp_path / "scratch"),
    }.items():
        monkeypatch.setenv(name, value)
    place = Place(f"s3://drop-{hashlib.sha1(str(tmp_path).encode()).hexdigest()[:8]}/team")
    place.root.fs.mkdir(place.url.split("/")[2])
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    (folder := tmp_path / "drop").mkdir()
    return Place(str(folder))


def test_a_model_beside_its_weights_is_registered_as_stated(root: Root, place: Place) -> None:
    place.put("night/small.yaml", STATED)
    place.put("night/small.safetensors", weights())
    [model] = watched_models(place.url)
    assert model.ready
    assert (model.name, model.file) == ("small", "night/small.yaml")
    assert model.weights == "night/small.safetensors"
    stored = register_watched(root, model)
    assert (stored.head, stored.normaliser, stored.class_map) == ("sigmoid", True, (4, 5, 6))
    assert stored.transform.mean == (0.5, 0.5, 0.5)
    assert stored.transform.interpolation == "bilinear"
    with torch.inference_mode():
        assert torch.equal(load(root, stored)(images()), two_layers(seed=0)(images()))
    assert stored.origin == place.url
    assert str(place.url) not in stored.model_copy(update={"origin": None}).model_dump_json()


def test_the_stamp_is_stable_and_changes_with_yaml_and_weights(place: Place) -> None:
    place.put("small.yaml", STATED)
    place.put("small.safetensors", weights())
    first = place.models()["small"].stamp
    assert place.models()["small"].stamp == first
    place.put("other.yaml", {"reference": "timm:resnet10t"})
    assert place.models()["small"].stamp == first
    place.put("small.safetensors", weights(1), age=1800)
    second = place.models()["small"].stamp
    place.put("small.yaml", {**STATED, "head": "softmax"}, age=1700)
    third = place.models()["small"].stamp
    assert len({first, second, third}) == 3


def test_a_broken_file_is_named_and_the_others_go_on(root: Root, place: Place) -> None:
    place.put("good.yaml", STATED)
    place.put("good.safetensors", weights())
    place.put("tabs.yaml", b"reference: a\n\tb: [")
    place.put("binary.yaml", b"\xff\xfe\x00")
    place.put("list.yaml", ["reference"])
    place.put("field.yaml", {**STATED, "colour": "red"})
    place.put("head.yaml", {**STATED, "head": "linear"})
    place.put("escape.yaml", {**STATED, "weights": "../good.safetensors"})
    place.put("code.yaml", b"!!python/object/apply:os.system ['true']")
    place.put("my net.yaml", STATED)
    place.put("my net.safetensors", weights())
    place.put("nested.yaml", b"kwargs: " + b"[" * 5000 + b"]" * 5000)
    place.put("lists.yaml", {**STATED, "class_map": "lists.json"})
    place.put("lists.json", b"[" * 200_000)
    place.put("twin/good2.yaml", STATED)
    place.put("good2.yaml", STATED)
    found = place.models()
    assert found["good"].ready
    told = {name: model.problem for name, model in found.items() if model.problem}
    assert sorted(told) == sorted(
        [
            *("tabs", "binary", "list", "field", "head", "escape", "code", "good2"),
            *("my net", "nested", "lists"),
        ]
    )
    assert "colour" in str(told["field"])
    assert "head" in str(told["head"])
    assert "cannot have this name" in str(told["my net"])
    assert "good2.yaml has the same name" in str(told["good2"])
    assert register_watched(root, found["good"]).name == "good"
    with pytest.raises(ShiftlakeError, match="not ready") as caught:
        register_watched(root, found["field"])
    assert "colour" in str(caught.value.found)
    assert list_models(root) == ["good"]


def test_a_yaml_without_its_weights_waits(place: Place) -> None:
    place.put("small.yaml", STATED)
    place.put("named.yaml", {**STATED, "weights": "elsewhere.pt"})
    place.put("program.yaml", {"reference": "later.pt2"})
    place.put("hub.yaml", {"reference": "timm:resnet10t"})
    place.put("code.yaml", {**STATED, "weights": None})
    found = place.models()
    assert {name for name, model in found.items() if model.ready} == {"hub", "code"}
    assert "elsewhere.pt is not beside it" in str(found["named"].waiting)
    assert "later.pt2 is not beside it" in str(found["program"].waiting)
    place.put("small.safetensors", weights())
    assert place.models()["small"].ready


def test_weights_that_still_grow_are_passed_over(folder: Place) -> None:
    whole = weights()
    for name in ("fresh", "cut", "head", "empty"):
        folder.put(f"{name}.yaml", STATED)
    folder.put("fresh.safetensors", whole, age=1)
    folder.put("cut.safetensors", whole[:-4])
    folder.put("head.safetensors", whole[:20])
    folder.put("empty.safetensors", b"")
    folder.put("deep.yaml", STATED)
    folder.put("deep.safetensors", struct.pack("<Q", 200_000) + b"[" * 200_000)
    folder.put(".cut.safetensors.Xy7", whole)
    folder.put("ahead.yaml", STATED)
    folder.put("ahead.safetensors", whole, age=-3600)
    told = {name: str(model.waiting) for name, model in folder.models().items()}
    assert "seconds ago" in told["fresh"]
    assert f"{len(whole) - 4:,} of {len(whole):,} bytes" in told["cut"]
    assert "no complete header" in told["head"]
    assert "is empty" in told["empty"]
    assert "no complete header" in told["deep"]
    assert told["ahead"] == "None"
    assert [m.ready for m in watched_models(folder.url, settle=0.0) if m.name == "fresh"] == [True]


def test_a_program_needs_no_reference(root: Root, place: Place, tmp_path: Path) -> None:
    program = export(tmp_path / "small.pt2")
    transform = {"resize": SIDE, "crop": SIDE}
    place.put("small.yaml", {"transform": transform, "class_map": list(range(CLASSES))})
    place.put("small.pt2", program.read_bytes())
    place.put(
        "big.yaml", {"reference": "shared.pt2", "transform": transform, "class_map": "c.json"}
    )
    place.put("shared.pt2", program.read_bytes())
    place.put("c.json", json.dumps(list(range(CLASSES))).encode())
    found = place.models()
    for name, reference in (("small", "small.pt2"), ("big", "shared.pt2")):
        stored = register_watched(root, found[name])
        assert (stored.kind, stored.reference) == ("exported", reference)
        with torch.inference_mode():
            assert torch.equal(load(root, stored)(pictures(3)), expected(pictures(3)))


def test_announced_weights_must_be_those(root: Root, place: Place) -> None:
    right = hashlib.sha256(weights()).hexdigest()
    place.put("right.yaml", {**STATED, "sha256": right})
    place.put("right.safetensors", weights())
    place.put("wrong.yaml", {**STATED, "sha256": right})
    place.put("wrong.safetensors", weights(1))
    found = place.models()
    assert register_watched(root, found["right"]).weights is not None
    with pytest.raises(ShiftlakeError, match="not those that are announced"):
        register_watched(root, found["wrong"])
    assert list_models(root) == ["right"]


def test_no_copy_is_left_and_the_original_stays(root: Root, place: Place, tmp_path: Path) -> None:
    place.put("small.yaml", STATED)
    place.put("small.safetensors", weights())
    register_watched(root, place.models()["small"])
    left = [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert left == []
    assert place.root.read_bytes("small.safetensors") == weights()


def test_only_what_came_from_the_same_folder_is_replaced(
    root: Root, folder: Place, tmp_path: Path
) -> None:
    by_hand, _ = entry_of("small", stated({**STATED, "note": "mine"}, "test"))
    mine = register(root, by_hand)
    assert mine.origin is None
    folder.put("small.yaml", STATED)
    folder.put("small.safetensors", weights())
    with pytest.raises(ShiftlakeError, match="another model's") as caught:
        register_watched(root, folder.models()["small"])
    assert "registered by hand" in str(caught.value.found)
    assert "shiftlake model remove small" in caught.value.remedy
    assert read_model(root, "small") == mine
    remove(root, "small")
    first = register_watched(root, folder.models()["small"])
    folder.put("small.safetensors", weights(1), age=1800)
    second = register_watched(root, watched_models(f"{folder.url}/")[0])
    assert first.weights != second.weights
    (tmp_path / "other").mkdir()
    other = Place(str(tmp_path / "other"))
    other.put("small.yaml", STATED)
    other.put("small.safetensors", weights())
    with pytest.raises(ShiftlakeError, match="another model's") as caught:
        register_watched(root, other.models()["small"])
    assert folder.url in str(caught.value.found)
    assert read_model(root, "small") == second


def test_functions_need_the_same_trust_in_a_watched_folder(
    root: Root, folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIFTLAKE_CODE", "")
    folder.put("small.yaml", STATED)
    folder.put("small.safetensors", weights())
    with pytest.raises(ShiftlakeError, match="not trusted") as caught:
        register_watched(root, folder.models()["small"])
    assert "SHIFTLAKE_CODE=weight_parts" in caught.value.remedy
    assert list_models(root) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="does not exist") as caught:
        watched_models(str(tmp_path / "nowhere"))
    assert "SHIFTLAKE_MODELS" in caught.value.remedy


def test_a_model_that_vanishes_after_it_was_seen_is_an_error_of_its_own(
    root: Root, place: Place
) -> None:
    place.put("small.yaml", STATED)
    place.put("small.safetensors", weights())
    [model] = watched_models(place.url)
    place.root.remove("small.safetensors")
    with pytest.raises(ShiftlakeError, match=r"weights file does not exist|cannot be read"):
        register_watched(root, model)
