"""From a registry entry to a network with its weights, in evaluation mode."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models import timm_source, weights
from ops.models.entry import ModelEntry
from ops.storage import Root, paths


def load(root: Root, entry: ModelEntry) -> torch.nn.Module:
    """Build a registered model with its recorded weights.

    The weights are those stored at registration, whatever the hub or the callable would give
    today.

    Parameters
    ----------
    root : Root
        The storage root that holds ``models/weights``.
    entry : ModelEntry
        As :func:`ops.models.read_model` returns it.

    Returns
    -------
    torch.nn.Module
        On the CPU, float32, in evaluation mode.

    Raises
    ------
    ShiftlakeError
        If the weights are missing or altered, or do not fit the architecture.
    """
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
    model = architecture(entry, pretrained=False)
    state = weights.read_state_dict(path, entry.weights.suffix, where=root.at(rel))
    weights.load_strictly(model, state, where=f"{entry.name}, {root.at(rel)}")
    return model.eval()


def architecture(entry: ModelEntry, *, pretrained: bool) -> torch.nn.Module:
    """Build the network of an entry; `pretrained` lets timm fetch its weights.

    Raises
    ------
    ShiftlakeError
        If it cannot be imported, or what comes back is no ``torch.nn.Module``.
    """
    if entry.kind == "timm":
        wanted = pretrained and bool(entry.kwargs.get("pretrained", True))
        return timm_source.create(entry.reference, {**entry.kwargs, "pretrained": wanted})
    model = _call(entry.reference, entry.kwargs)
    if not isinstance(model, torch.nn.Module):
        raise ShiftlakeError(
            "The architecture is not a network.",
            expected="a callable that returns a torch.nn.Module",
            found=type(model).__name__,
            where=entry.reference,
            remedy="name the class, or a function that returns an instance",
        )
    return model


def _call(reference: str, kwargs: dict[str, Any]) -> Any:
    module, _, name = reference.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ShiftlakeError(
            "The architecture cannot be imported.",
            expected="module:callable on the Python path",
            found=str(error),
            where=reference,
            remedy="check the name, and that the module is installed here and on every worker",
        ) from error
    try:
        return made(**kwargs)
    except TypeError as error:
        raise ShiftlakeError(
            "The architecture does not take these arguments.",
            expected="keyword arguments of the callable",
            found=f"{kwargs}: {error}",
            where=reference,
            remedy="correct kwargs in the entry",
        ) from error
