"""Exported programs give the network's own logits, and an archive that could run code is refused.

Each hostile archive is shown to be one: given to `torch.export.load` itself, it leaves its trace.
"""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from program_parts import (
    CLASSES,
    SIDE,
    Small,
    Sprung,
    altered,
    expected,
    export,
    in_program,
    pickled,
    pictures,
    with_entry,
)

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, list_models, load, register
from ops.models.exported import open_program
from ops.models.exported_archive import clean_archive
from ops.storage import Root


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("program") / "small.pt2")


def entry(**fields: Any) -> ModelEntry:
    given = {
        "name": "small",
        "kind": "exported",
        "reference": "small.pt2",
        "transform": Transform(resize=SIDE, crop=SIDE),
        "class_map": tuple(range(CLASSES)),
        **fields,
    }
    return ModelEntry(**given)


def test_a_program_gives_the_networks_logits_at_any_batch_size(root: Root, program: Path) -> None:
    stored = register(root, entry(), program)
    assert stored.weights is not None
    assert (stored.weights.suffix, stored.weights.bytes) == ("pt2", program.stat().st_size)
    assert stored.parameters == sum(one.numel() for one in Small().parameters())
    network = load(root, stored).to(memory_format=torch.channels_last)
    assert not network.training
    for count in (1, 2, 7):
        images = pictures(count).contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            assert torch.equal(network(images), expected(pictures(count)))


@pytest.mark.parametrize(
    ("more", "bounds"),
    [
        ({"dynamic": False, "batch": 3}, (3, 3)),
        ({"min": 2, "max": 4}, (2, 4)),
    ],
)
def test_a_program_for_some_batch_sizes_gets_batches_of_them(
    tmp_path: Path, more: dict[str, Any], bounds: tuple[int, int]
) -> None:
    network = open_program(export(tmp_path / "fixed.pt2", **more))
    assert (network.least, network.most) == bounds
    for count in (1, 3, 4, 7):
        with torch.inference_mode():
            torch.testing.assert_close(network(pictures(count)), expected(pictures(count)))


def test_a_program_in_half_precision_says_so(root: Root, tmp_path: Path) -> None:
    path = export(tmp_path / "half.pt2", dtype=torch.bfloat16)
    stored = register(root, entry(), path)
    assert stored.precision == "bf16"
    with torch.inference_mode():
        logits = load(root, stored)(pictures(3))
    torch.testing.assert_close(logits.float(), expected(pictures(3)), rtol=0.1, atol=0.5)


def test_nothing_of_the_machine_it_was_exported_on_is_kept(program: Path) -> None:
    assert str(Path(__file__).parent).encode() in program.read_bytes()
    assert str(Path(__file__).parent).encode() not in clean_archive(program).getvalue()


def hostile_size(trace: Path) -> Callable[[dict], None]:
    code = f"__import__('os').system(\"touch '{trace}'\")"

    def change(program: dict) -> None:
        values = program["graph_module"]["graph"]["tensor_values"]
        values["images"]["sizes"][0] = {"as_expr": {"expr_str": code, "hint": None}}

    return change


def hostile_guard(trace: Path) -> Callable[[dict], None]:
    code = f"__import__('os').system('touch {trace}') == 0"
    return lambda program: program.update(guards_code=[code])


HOSTILE: dict[str, Callable[[Path, Path, Path], Path]] = {
    "example inputs": lambda program, target, trace: altered(
        program,
        target,
        lambda name, data: pickled((Sprung(trace),)) if "sample_inputs" in name else data,
    ),
    "a size": lambda program, target, trace: altered(
        program, target, in_program(hostile_size(trace))
    ),
    "an opaque constant": lambda program, target, trace: with_entry(
        altered(program, target.with_name("half.pt2"), _config_of_an_object),
        target,
        "data/constants/opaque_obj_0",
        pickle.dumps(Sprung(trace)),
    ),
    "pickled weights": lambda program, target, trace: altered(
        program, target, lambda name, data: _pickled_weight(name, data, trace)
    ),
}


def _config_of_an_object(name: str, data: bytes) -> bytes:
    if not name.endswith("model_constants_config.json"):
        return data
    config = json.loads(data)
    payload = {"path_name": "opaque_obj_0", "is_param": False, "use_pickle": True}
    config["config"]["thing"] = {**payload, "tensor_meta": None}
    return json.dumps(config).encode()


def _pickled_weight(name: str, data: bytes, trace: Path) -> bytes:
    if name == "data/weights/weight_0":
        return pickled(Sprung(trace))
    if name.endswith("model_weights_config.json"):
        config = json.loads(data)
        for payload in config["config"].values():
            if payload["path_name"] == "weight_0":
                payload["use_pickle"] = True
        return json.dumps(config).encode()
    return data


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_archive_that_runs_code_is_refused_and_does_not_run(
    root: Root, tmp_path: Path, program: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    trace = tmp_path / "sprung"
    path = HOSTILE[kind](program, tmp_path / "small.pt2", trace)
    with pytest.raises(ShiftlakeError, match="could run code") as caught:
        register(root, entry(), path)
    assert not trace.exists()
    assert list_models(root) == []
    assert str(path) in str(caught.value.where)
    caplog.set_level(logging.CRITICAL)
    with contextlib.suppress(Exception):
        torch.export.load(path)
    assert trace.exists(), "the trap is none"


def change_name(program: dict) -> None:
    graph = json.dumps(program["graph_module"]).replace('"images"', '"images=print(1)"')
    program["graph_module"] = json.loads(graph)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: _node(p).update(target="torch.hub.load"), "torch.hub.load"),
        (lambda p: _node(p).update(target="torch.ops.aten.from_file.default"), "from_file"),
        (lambda p: _node(p).update(target="torch.ops.mine.op.default"), "torch.ops.mine.op"),
        (lambda p: _node(p).update(target="math.__loader__.load_module"), "__loader__"),
        (change_name, "images=print"),
        (
            lambda p: p["graph_module"]["module_call_graph"][0]["signature"].update(
                in_spec='[1, {"type": "enum.Enum", "context": "[]", "children_spec": []}]'
            ),
            "enum.Enum",
        ),
        (
            lambda p: p["graph_module"].update(
                treespec_namedtuple_fields={"os.Thing": {"field_names": ["a"]}}
            ),
            "named tuples",
        ),
    ],
)
def test_foreign_operators_names_and_types_are_refused(
    tmp_path: Path, program: Path, change: Callable[[dict], None], told: str
) -> None:
    path = altered(program, tmp_path / "small.pt2", in_program(change))
    with pytest.raises(ShiftlakeError, match="could run code") as caught:
        open_program(path)
    assert told in str(caught.value.found)


def _node(program: dict) -> dict:
    return program["graph_module"]["graph"]["nodes"][0]


def test_guards_in_an_archive_are_left_out(tmp_path: Path, program: Path) -> None:
    trace = tmp_path / "sprung"
    path = altered(program, tmp_path / "small.pt2", in_program(hostile_guard(trace)))
    with torch.inference_mode():
        assert torch.equal(open_program(path)(pictures(2)), expected(pictures(2)))
        assert not trace.exists()
        torch.export.load(path).module()(pictures(2))
    assert trace.exists(), "the trap is none"


@pytest.mark.parametrize("name", ["data/aotinductor/model/x.so", "data/weights/model.pt", "odd"])
def test_an_archive_with_anything_else_inside_is_refused(
    tmp_path: Path, program: Path, name: str
) -> None:
    path = with_entry(program, tmp_path / "small.pt2", name, b"\0")
    with pytest.raises(ShiftlakeError, match="could run code") as caught:
        open_program(path)
    assert name in str(caught.value.found)


def test_cut_and_foreign_files_are_told(root: Root, tmp_path: Path, program: Path) -> None:
    (cut := tmp_path / "cut.pt2").write_bytes(program.read_bytes()[:-2000])
    torch.save(Small(), whole := tmp_path / "whole.pt2")
    for path in (cut, whole):
        with pytest.raises(ShiftlakeError, match="cannot be read"):
            register(root, entry(), path)


@pytest.mark.parametrize("file", ["models/model.json", "data/weights/model_weights_config.json"])
def test_json_that_is_nested_too_deeply_is_damage(tmp_path: Path, program: Path, file: str) -> None:
    deep = b'{"a":' * 100_000
    path = altered(
        program, tmp_path / "deep.pt2", lambda name, data: deep if name == file else data
    )
    with pytest.raises(ShiftlakeError, match="cannot be read") as caught:
        open_program(path)
    assert "RecursionError" in str(caught.value.found)


def test_a_program_in_training_mode_is_refused(tmp_path: Path) -> None:
    program = torch.export.export(Small().train(), (pictures(2),))
    torch.export.save(program, path := tmp_path / "training.pt2")
    with pytest.raises(ShiftlakeError) as caught:
        open_program(path)
    assert "eval()" in str(caught.value.found)


def test_an_input_that_is_no_batch_of_images_is_told(tmp_path: Path) -> None:
    program = torch.export.export(torch.nn.Linear(4, 2), (torch.zeros(3, 4),))
    torch.export.save(program, path := tmp_path / "linear.pt2")
    with pytest.raises(ShiftlakeError, match="batch of images") as caught:
        open_program(path)
    assert "(3, 4)" in str(caught.value.found)


def test_another_input_size_is_noticed_when_registered(root: Root, program: Path) -> None:
    wrong = entry(transform=Transform(resize=32, crop=32))
    with pytest.raises(ShiftlakeError, match="blank image"):
        register(root, wrong, program)


def test_a_program_and_its_constants_go_to_another_device(program: Path) -> None:
    network = open_program(program).to("meta")
    assert {one.device.type for one in network.state_dict().values()} == {"meta"}
    assert network(pictures(3).to("meta")).shape == (3, CLASSES)
