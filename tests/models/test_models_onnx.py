"""ONNX graphs give the network's own logits through onnxruntime, whatever form they have."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from program_parts import CLASSES, SIDE, Small, expected, pictures

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, list_models, load, register
from ops.models.onnx_graph import OnnxGraph
from ops.storage import Root, paths

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def entry(**fields: Any) -> ModelEntry:
    given = {
        "name": "small",
        "kind": "onnx",
        "reference": "small.onnx",
        "transform": Transform(resize=SIDE, crop=SIDE),
        "class_map": tuple(range(CLASSES)),
        **fields,
    }
    return ModelEntry(**given)


def graph(batch: int | str = "batch", kind: str = "float32", *, channels_last: bool = False) -> Any:
    """The network of `program_parts`, written with ONNX's own operators."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    network = Small().eval()
    values = {**network.state_dict(), "scale": network.scale}
    state = {name: value.numpy().astype(kind) for name, value in values.items()}
    elem = helper.np_dtype_to_tensor_dtype(state["scale"].dtype)
    norm = [f"norm.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    first = "moved" if channels_last else "images"
    nodes = [
        helper.make_node("Conv", [first, "conv.weight", "conv.bias"], ["a"], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["a", *norm], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Flatten", ["c"], ["d"]),
        helper.make_node("Gemm", ["d", "hidden.weight", "hidden.bias"], ["e"], transB=1),
        helper.make_node("Relu", ["e"], ["f"]),
        helper.make_node("Gemm", ["f", "head.weight", "head.bias"], ["g"], transB=1),
        helper.make_node("Mul", ["g", "scale"], ["logits"]),
    ]
    shape = [batch, SIDE, SIDE, 3] if channels_last else [batch, 3, SIDE, SIDE]
    if channels_last:
        nodes.insert(0, helper.make_node("Transpose", ["images"], ["moved"], perm=[0, 3, 1, 2]))
    made = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("images", elem, shape)],
        [helper.make_tensor_value_info("logits", elem, [batch, CLASSES])],
        [
            numpy_helper.from_array(value, name)
            for name, value in state.items()
            if name != "norm.num_batches_tracked"
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(made, opset_imports=opset, ir_version=8)


def saved(path: Path, model: Any, **more: Any) -> Path:
    onnx.save(model, str(path), **more)
    return path


@pytest.mark.parametrize(
    "form",
    [{}, {"batch": 3}, {"channels_last": True}, {"batch": 1, "channels_last": True}],
)
def test_a_graph_gives_the_networks_logits_at_any_batch_size(
    root: Root, tmp_path: Path, form: dict[str, Any]
) -> None:
    path = saved(tmp_path / "small.onnx", graph(**form))
    stored = register(root, entry(), path)
    assert stored.weights is not None
    assert (stored.weights.suffix, stored.precision) == ("onnx", "fp32")
    assert root.read_bytes(paths.weights(stored.weights.sha256, "onnx")) == path.read_bytes()
    network = load(root, stored).to(memory_format=torch.channels_last)
    for count in (1, 2, 7):
        images = pictures(count).contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            found = network(images)
        torch.testing.assert_close(found, expected(pictures(count)), rtol=1e-4, atol=1e-4)


def test_the_number_of_parameters_is_recorded(root: Root, tmp_path: Path) -> None:
    stored = register(root, entry(), saved(tmp_path / "small.onnx", graph()))
    network = Small()
    buffers = network.norm.running_mean.numel() * 2 + 1
    assert stored.parameters == sum(one.numel() for one in network.parameters()) + buffers


def test_a_graph_in_half_precision_says_so(root: Root, tmp_path: Path) -> None:
    stored = register(root, entry(), saved(tmp_path / "half.onnx", graph(kind="float16")))
    assert stored.precision == "fp16"
    with torch.inference_mode():
        logits = load(root, stored)(pictures(3))
    torch.testing.assert_close(logits.float(), expected(pictures(3)), rtol=0.05, atol=0.1)


def test_weights_in_a_file_beside_the_graph_are_bundled(root: Root, tmp_path: Path) -> None:
    path = saved(
        tmp_path / "small.onnx",
        graph(),
        save_as_external_data=True,
        location="small.data",
        size_threshold=0,
    )
    first = register(root, entry(), path)
    again = register(root, entry(name="other"), path)
    assert first.weights == again.weights
    assert first.weights is not None
    assert first.weights.bytes > path.stat().st_size
    (tmp_path / "small.data").unlink()
    with torch.inference_mode():
        found = load(root, first)(pictures(2))
    torch.testing.assert_close(found, expected(pictures(2)), rtol=1e-4, atol=1e-4)
    with pytest.raises(ShiftlakeError, match="cannot be read"):
        register(root, entry(name="later"), path)


@pytest.mark.parametrize("location", ["../outside.data", "/etc/hostname"])
def test_weights_outside_of_the_graphs_folder_are_refused(
    root: Root, tmp_path: Path, location: str
) -> None:
    (tmp_path / "outside.data").write_bytes(bytes(10_000))
    (folder := tmp_path / "folder").mkdir()
    model = graph()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (path := folder / "small.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ShiftlakeError, match="cannot be read"):
        register(root, entry(), path)
    assert list_models(root) == []


def test_which_of_several_outputs_holds_the_logits_is_asked(root: Root, tmp_path: Path) -> None:
    model = graph()
    value = onnx.helper.make_tensor_value_info("e", onnx.TensorProto.FLOAT, ["batch", 8])
    model.graph.output.insert(0, value)
    path = saved(tmp_path / "small.onnx", model)
    with pytest.raises(ShiftlakeError, match="several outputs") as caught:
        register(root, entry(), path)
    assert "e, logits" in str(caught.value.found)
    with pytest.raises(ShiftlakeError, match="no such output"):
        register(root, entry(kwargs={"output": "nothing"}), path)
    stored = register(root, entry(kwargs={"output": "logits"}), path)
    with torch.inference_mode():
        found = load(root, stored)(pictures(2))
    torch.testing.assert_close(found, expected(pictures(2)), rtol=1e-4, atol=1e-4)


def test_probabilities_in_place_of_logits_are_noticed(root: Root, tmp_path: Path) -> None:
    model = graph()
    model.graph.node.append(onnx.helper.make_node("Softmax", ["logits"], ["p"], axis=1))
    model.graph.output[0].name = "p"
    path = saved(tmp_path / "small.onnx", model)
    with pytest.raises(ShiftlakeError, match="probabilities, not logits"):
        register(root, entry(), path)


def test_foreign_operators_and_files_are_told(root: Root, tmp_path: Path) -> None:
    model = graph()
    model.graph.node[2].domain = "somebody"
    model.opset_import.append(onnx.helper.make_opsetid("somebody", 1))
    with pytest.raises(ShiftlakeError, match="cannot open the graph"):
        register(root, entry(), saved(tmp_path / "odd.onnx", model))
    (cut := tmp_path / "cut.onnx").write_bytes(b"nonsense")
    with pytest.raises(ShiftlakeError, match="cannot be read"):
        register(root, entry(), cut)


def test_a_graph_that_takes_no_images_is_told(root: Root, tmp_path: Path) -> None:
    model = graph()
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    cast = onnx.helper.make_node("Cast", ["images"], ["floats"], to=onnx.TensorProto.FLOAT)
    model.graph.node[0].input[0] = "floats"
    model.graph.node.insert(0, cast)
    with pytest.raises(ShiftlakeError, match="normalised images") as caught:
        register(root, entry(), saved(tmp_path / "small.onnx", model))
    assert "uint8" in str(caught.value.found)


def test_failures_of_onnxruntime_are_told_in_torchs_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = OnnxGraph(saved(tmp_path / "small.onnx", graph()))
    with pytest.raises(RuntimeError, match="onnxruntime: ") as caught:
        network(torch.zeros(2, 3, SIDE + 1, SIDE))
    assert not isinstance(caught.value, torch.OutOfMemoryError)
    # What onnxruntime says where memory ends; torch has a class for it, which callers wait for.
    failure = type(caught.value.__cause__)
    for told in (
        "Failed to allocate memory for requested buffer of size 21474836480",
        "bfc_arena.cc:376 onnxruntime::BFCArena::AllocateRawInternal Available memory of 0",
    ):

        class Full:
            def run(self, *words: object, told: str = told) -> None:
                raise failure(f"[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : {told}")

        monkeypatch.setitem(network._sessions, "cpu", Full())
        with pytest.raises(torch.OutOfMemoryError, match="onnxruntime: "):
            network(pictures(2))


def test_rows_do_not_depend_on_the_number_of_cores(tmp_path: Path) -> None:
    path = saved(tmp_path / "small.onnx", graph())
    before = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            network = OnnxGraph(path)
            options = network._session(torch.device("cpu")).get_session_options()
            assert options.intra_op_num_threads == 1
            assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
            found.append(network(pictures(5)))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*found)


def test_a_graph_goes_to_another_process_without_its_session(tmp_path: Path) -> None:
    network = OnnxGraph(saved(tmp_path / "small.onnx", graph()))
    for twin in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert torch.equal(twin(pictures(2)), network(pictures(2)))


def test_without_onnx_the_remedy_is_said(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "small.onnx", graph())
    for library in ("onnx", "onnxruntime"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, library, None)
            with pytest.raises(ShiftlakeError, match=f"needs {library}") as caught:
                register(root, entry(), path)
            assert caught.value.remedy == "pip install 'shiftlake[onnx]'"
