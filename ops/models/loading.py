"""From a registry entry to a network with its weights, in evaluation mode.

An entry names code that is already installed, and cannot bring any. What it may name is a network
class of any package, or a function of a package that is trusted with it; see
:mod:`ops.models.callables`. Importing a package still runs that package, so a registry is to be
trusted as far as what is installed.
"""

from __future__ import annotations

from pathlib import Path

import torch

from ops.errors import ShiftlakeError
from ops.models import callables, hub_source, timm_source, torchvision_source, weights, zero_shot
from ops.models.entry import ModelEntry
from ops.models.imported import refuse_imported
from ops.storage import Root, paths


def load(root: Root, entry: ModelEntry) -> torch.nn.Module:
    """Build a registered model with its recorded weights.

    The weights are those stored at registration, whatever the hub or the callable would give
    today. No network is needed.

    Parameters
    ----------
    root : Root
        The storage root that holds ``models/weights``.
    entry : ModelEntry
        As :func:`ops.models.read_model` returns it.

    Returns
    -------
    torch.nn.Module
        On the CPU, in evaluation mode. It takes float32 images; a program of another precision
        converts them itself.

    Raises
    ------
    ShiftlakeError
        If the entry was imported, or the weights are missing or altered, or do not fit the
        architecture.
    """
    refuse_imported(entry, root.at(paths.model(entry.name)))
    if entry.weights is None:
        raise ShiftlakeError(
            "The model has no weights.",
            expected="an entry that register() returned",
            found="weights: null",
            where=root.at(paths.model(entry.name)),
            remedy="register the model again",
        )
    rel = paths.weights(entry.weights.sha256, entry.weights.suffix)
    if not root.exists(rel):
        raise ShiftlakeError(
            "The weights file is gone.",
            expected=f"{entry.weights.bytes:,} bytes",
            found="no file",
            where=root.at(rel),
            remedy=f"register {entry.name} again with the same weights",
        )
    path = root.local_copy(rel)
    if (found := weights.file_sha256(path)) != entry.weights.sha256:
        raise ShiftlakeError(
            "The weights file is not the one that was registered.",
            expected=f"sha256 {entry.weights.sha256}",
            found=f"sha256 {found}",
            where=root.at(rel),
            remedy=f"remove the file and register {entry.name} again",
        )
    if entry.kind in ("exported", "onnx"):
        return program(entry, path, where=root.at(rel)).eval()
    model = architecture(entry, pretrained=False)
    state = weights.read_state_dict(path, entry.weights.suffix, where=root.at(rel))
    weights.load_strictly(model, state, where=f"{entry.name}, {root.at(rel)}")
    return model.eval()


def program(entry: ModelEntry, path: Path, where: object = None) -> torch.nn.Module:
    """Open a file that is network and weights in one.

    Raises
    ------
    ShiftlakeError
        If it is refused, damaged, or needs a library that is missing.
    """
    refuse_imported(entry, where or path)
    if entry.kind == "exported":
        from ops.models.exported import open_program

        return open_program(path, where or path)
    from ops.models.onnx_graph import OnnxGraph

    return OnnxGraph(
        path,
        where or path,
        output=entry.kwargs.get("output"),
        tf32=entry.tf32,
        deterministic=entry.deterministic,
    )


def architecture(entry: ModelEntry, *, pretrained: bool) -> torch.nn.Module:
    """Build the network of an entry; `pretrained` lets a library fetch its weights.

    Raises
    ------
    ShiftlakeError
        If it cannot be imported, is no network class and no function of a trusted package, or
        what comes back is no ``torch.nn.Module``.
    """
    refuse_imported(entry, entry.name)
    if entry.kind == "timm":
        wanted = pretrained and bool(entry.kwargs.get("pretrained", True))
        return timm_source.create(entry.reference, {**entry.kwargs, "pretrained": wanted})
    if entry.kind == "torchvision":
        return torchvision_source.create(entry, pretrained=pretrained)
    if entry.kind == "hugging_face":
        return hub_source.create(entry, pretrained=pretrained)
    if entry.kind == "open_clip":
        return zero_shot.create(entry, pretrained=pretrained)
    model = callables.call(entry.reference, entry.kwargs)
    if not isinstance(model, torch.nn.Module):
        raise ShiftlakeError(
            "The architecture is not a network.",
            expected="a callable that returns a torch.nn.Module",
            found=type(model).__name__,
            where=entry.reference,
            remedy="name the class, or a function that returns an instance",
        )
    return model
