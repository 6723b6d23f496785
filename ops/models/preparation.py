"""A model before it is stored: its network with the weights in it, and what is to be stored."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ops.models import weights as weights_file
from ops.models.caffe_weights import read_caffe_weights
from ops.models.entry import ModelEntry, Suffix
from ops.models.loading import architecture, program
from ops.storage import Root

_PRECISIONS: dict[torch.dtype, Any] = {torch.float16: "fp16", torch.bfloat16: "bf16"}


@dataclass(frozen=True)
class Prepared:
    """A network that can be tried, and the content that is stored for it.

    Parameters
    ----------
    entry : ModelEntry
        As it is to be registered, but for its `weights`.
    model : torch.nn.Module
        On the CPU, in evaluation mode.
    content : bytes or Path
        The weights file, or where it lies.
    suffix : str
        Its kind.
    """

    entry: ModelEntry
    model: torch.nn.Module
    content: bytes | Path
    suffix: Suffix


def prepared(root: Root, entry: ModelEntry, weights: Path | None) -> Prepared:
    """Build the network of an entry and put its weights in.

    Parameters
    ----------
    root : Root
        For its scratch folder.
    entry : ModelEntry
    weights : Path or None
        As :func:`ops.models.register` takes it.

    Returns
    -------
    Prepared

    Raises
    ------
    ShiftlakeError
        If the network or the weights cannot be had, would run code, or do not fit each other.
    """
    if entry.kind == "exported" and weights is not None:
        model = program(entry, weights)
        precision = _PRECISIONS.get(getattr(model, "dtype", torch.float32), entry.precision)
        fields = {"parameters": _count(model), "precision": precision}
        return Prepared(entry.model_copy(update=fields), model, weights, "pt2")
    if entry.kind == "onnx" and weights is not None:
        return _graph(root, entry, weights)
    model = architecture(entry, pretrained=weights is None).eval()
    content: bytes | Path
    suffix: Suffix
    if weights is None:
        content, suffix = weights_file.canonical_bytes(model), "safetensors"
    elif weights.suffix == ".caffemodel":
        state = read_caffe_weights(weights)
        weights_file.load_strictly(model, state, where=weights)
        content, suffix = weights_file.canonical_bytes(model), "safetensors"
    else:
        content, suffix = weights, weights_file.suffix_of(weights)
        state = weights_file.read_state_dict(weights, suffix)
        weights_file.load_strictly(model, state, where=weights)
    entry = entry.model_copy(update={"parameters": _count(model)})
    return Prepared(entry, model, content, suffix)


def _graph(root: Root, entry: ModelEntry, weights: Path) -> Prepared:
    from ops.models.onnx_graph import bundled

    data, precision, count = bundled(weights)
    fields = {"parameters": count, "precision": precision}
    entry = entry.model_copy(update=fields)
    if data is None:
        return Prepared(entry, program(entry, weights), weights, "onnx")
    with tempfile.TemporaryDirectory(dir=root.scratch()) as folder:
        path = Path(folder) / "graph.onnx"
        path.write_bytes(data)
        return Prepared(entry, program(entry, path, weights), data, "onnx")


def _count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
