"""ONNX graphs through onnxruntime: checked and bundled when registered, then run as a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import Precision
from ops.models.extras import extra
from ops.models.fixed_batches import in_batches

_TYPES = {
    "tensor(float)": torch.float32,
    "tensor(float16)": torch.float16,
    "tensor(bfloat16)": torch.bfloat16,
}
# Protobuf's own limit of a message.
_LARGEST = (1 << 31) - 1


class OnnxGraph(torch.nn.Module):
    """An ONNX graph that takes batches of any size, on the CPU or on an NVIDIA GPU.

    Parameters
    ----------
    path : Path
        A single file, its weights inside.
    where : object
        What to call it in an error.
    output : str or None
        Which output the logits are; it may be None where there is only one.
    tf32 : bool
        Whether a GPU may shorten float32 factors.
    deterministic : bool
        Whether only kernels with one result are used.

    Raises
    ------
    ShiftlakeError
        If onnxruntime is missing or refuses the file, or the graph does not take one batch of
        images.

    Notes
    -----
    The session is made by the first batch on each device. It has no parameters that torch knows,
    so that moving the network does nothing: the device of the images decides.
    """

    def __init__(
        self,
        path: Path,
        where: object = None,
        *,
        output: str | None = None,
        tf32: bool = False,
        deterministic: bool = True,
    ) -> None:
        super().__init__()
        self._path = path
        self._where = where or path
        self._tf32 = tf32
        self._deterministic = deterministic
        self._sessions: dict[str, Any] = {}
        session = self._session(torch.device("cpu"))
        given, found = _ends(session, output, self._where)
        self._input, self._output = str(given.name), str(found.name)
        self.dtype = _TYPES[given.type]
        shape = given.shape
        self._channels_last = shape[1] != 3 and shape[3] == 3
        self._fixed = shape[0] if isinstance(shape[0], int) and shape[0] > 0 else None

    def __getstate__(self) -> dict[str, Any]:
        # A session stays in the process that made it.
        return {**self.__dict__, "_sessions": {}}

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of a batch: float32 images of shape (images, 3, height, width)."""
        given = images.permute(0, 2, 3, 1) if self._channels_last else images
        given = given.to(self.dtype).contiguous()
        return in_batches(self._run, given, least=self._fixed or 1, most=self._fixed)

    def _run(self, images: torch.Tensor) -> torch.Tensor:
        session = self._session(images.device)
        if images.device.type == "cpu":
            if images.dtype == torch.bfloat16:
                raise self._bf16()
            try:
                found = session.run([self._output], {self._input: images.numpy()})[0]
            except Exception as error:  # onnxruntime's classes have no base but Exception
                raise _as_torch(error) from error
            return torch.from_numpy(found)
        try:
            return self._run_on_gpu(session, images)
        except ShiftlakeError:
            raise
        except Exception as error:
            raise _as_torch(error) from error

    def _run_on_gpu(self, session: Any, images: torch.Tensor) -> torch.Tensor:
        if images.dtype == torch.bfloat16:
            raise self._bf16()
        kind = "float16" if images.dtype == torch.float16 else "float32"
        index = images.device.index or 0
        binding = session.io_binding()
        torch.cuda.current_stream(images.device).synchronize()
        binding.bind_input(self._input, "cuda", index, kind, tuple(images.shape), images.data_ptr())
        binding.bind_output(self._output, "cuda", index)
        session.run_with_iobinding(binding)
        # Through the host: a thousand values an image are not worth a shared allocation.
        found = torch.from_numpy(binding.copy_outputs_to_cpu()[0])
        return found.to(images.device)

    def _session(self, device: torch.device) -> Any:
        key = str(device)
        if key not in self._sessions:
            self._sessions[key] = self._opened(device)
        return self._sessions[key]

    def _opened(self, device: torch.device) -> Any:
        runtime = extra("onnxruntime", "onnx", str(self._where))
        providers: list[Any] = ["CPUExecutionProvider"]
        if device.type == "cuda":
            if "CUDAExecutionProvider" not in runtime.get_available_providers():
                raise ShiftlakeError(
                    "This onnxruntime cannot use the GPU.",
                    expected="its CUDA provider",
                    found=", ".join(runtime.get_available_providers()),
                    where=self._where,
                    remedy="pip install onnxruntime-gpu in place of onnxruntime, or evaluate "
                    "with --device cpu",
                )
            options = {
                "device_id": device.index or 0,
                "use_tf32": int(self._tf32),
                # The search for the fastest algorithm may end otherwise in another run.
                "cudnn_conv_algo_search": "DEFAULT" if self._deterministic else "EXHAUSTIVE",
            }
            providers.insert(0, ("CUDAExecutionProvider", options))
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        # Batches run side by side already; and how many threads add up a row would change it.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        for pool in ("intra_op", "inter_op"):
            options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")
        options.use_deterministic_compute = self._deterministic
        try:
            return runtime.InferenceSession(str(self._path), options, providers=providers)
        except Exception as error:  # onnxruntime has a class for every failure, all unrelated
            raise ShiftlakeError(
                "onnxruntime cannot open the graph.",
                expected=f"operators that onnxruntime {runtime.__version__} has",
                found=str(error).splitlines()[0],
                where=self._where,
                remedy="install a later onnxruntime, or export with an earlier opset",
            ) from error

    def _bf16(self) -> ShiftlakeError:
        return ShiftlakeError(
            "The graph takes bfloat16 images, which onnxruntime does not accept from outside.",
            expected="an input of float32 or float16",
            found="tensor(bfloat16)",
            where=self._where,
            remedy="export the model with a float32 input, cast inside",
        )


def _as_torch(error: Exception) -> RuntimeError:
    """The same failure in the classes that torch has for it, so that callers can tell memory."""
    lines = str(error).splitlines() or [type(error).__name__]
    short_of_memory = isinstance(error, MemoryError) or any(
        told in str(error) for told in ("Failed to allocate", "BFCArena", "out of memory")
    )
    kind = torch.OutOfMemoryError if short_of_memory else RuntimeError
    return kind(f"onnxruntime: {lines[0]}")


def bundled(path: Path) -> tuple[bytes | None, Precision, int]:
    """Check an ONNX file before it is stored.

    Parameters
    ----------
    path : Path
        A graph, whose weights may lie in files beside it.

    Returns
    -------
    bytes or None
        The graph as one file, where it was not one already.
    {"fp32", "bf16", "fp16"}
        The type most of its weights have.
    int
        Number of values in its weights.

    Raises
    ------
    ShiftlakeError
        If onnx is missing, the file is damaged, its outer files are missing or lie elsewhere, or
        it is too large for one file.
    """
    onnx = extra("onnx", "onnx", path.name)
    external = extra("onnx.external_data_helper", "onnx", path.name)
    kinds = onnx.TensorProto
    data = None
    try:
        model = onnx.load(str(path), load_external_data=False)
        if not model.graph.node:
            raise ValueError("a graph without nodes")
        if any(external.uses_external_data(tensor) for tensor in _tensors(model)):
            # onnx refuses a location outside of the file's folder.
            external.load_external_data_for_model(model, str(path.parent))
            for tensor in _tensors(model):
                tensor.ClearField("external_data")
                tensor.data_location = kinds.DEFAULT
            data = model.SerializeToString(deterministic=True)
            if len(data) > _LARGEST:
                raise ValueError(f"{len(data):,} bytes in one file, more than protobuf allows")
    except Exception as error:  # protobuf and onnx raise what they like
        raise ShiftlakeError(
            "The ONNX file cannot be read.",
            expected="a complete graph, with all its weights inside or beside it",
            found=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
            where=path,
            remedy="get the file again, with its .data files; a model above 2 GB fits as "
            "safetensors or .pt2",
        ) from error
    sizes: dict[int, int] = {}
    for tensor in model.graph.initializer:
        count = 1
        for length in tensor.dims:
            count *= length
        sizes[tensor.data_type] = sizes.get(tensor.data_type, 0) + count
    floats = {kinds.FLOAT: "fp32", kinds.FLOAT16: "fp16", kinds.BFLOAT16: "bf16"}
    most = max((kind for kind in sizes if kind in floats), key=sizes.__getitem__, default=None)
    precision: Any = "fp32" if most is None else floats[most]
    return data, precision, sum(sizes.values())


def _tensors(model: Any) -> Iterator[Any]:
    """All stored tensors of a graph and of the graphs inside its nodes."""
    waiting = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield from getattr(graph, "initializer", ())
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield sparse.values
            yield sparse.indices
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                if attribute.HasField("g"):
                    waiting.append(attribute.g)
                waiting.extend(attribute.graphs)


def _ends(session: Any, output: str | None, where: object) -> tuple[Any, Any]:
    inputs, outputs = session.get_inputs(), session.get_outputs()
    shape = inputs[0].shape if inputs else []
    square = len(inputs) == 1 and len(shape) == 4 and 3 in (shape[1], shape[3])
    if not square and len(inputs) == 1 and len(shape) == 4:
        # Nothing but names: the order torch exports in.
        square = isinstance(shape[1], str)
    if not square or inputs[0].type not in _TYPES:
        raise ShiftlakeError(
            "The ONNX graph does not take a batch of normalised images.",
            expected="one input of floats, (images, 3, height, width) or channels last",
            found=", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs) or "no input",
            where=where,
            remedy="export the network alone, with one batch of images as its input",
        )
    names = [one.name for one in outputs]
    if output is None and len(outputs) != 1:
        raise ShiftlakeError(
            "The ONNX graph has several outputs.",
            expected="one, or the name of the logits",
            found=", ".join(names),
            where=where,
            remedy="""name it: --kwargs '{"output": "logits"}'""",
        )
    if output is not None and output not in names:
        raise ShiftlakeError(
            "The ONNX graph has no such output.",
            expected=", ".join(names),
            found=output,
            where=where,
            remedy="correct the name in kwargs",
        )
    return inputs[0], outputs[names.index(output) if output is not None else 0]
