"""The registry: one JSON file a model, and its weights under their own hash."""

from __future__ import annotations

import difflib
import hashlib
import shutil
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import ValidationError

from ops import catalog
from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, WeightsFile
from ops.models.label_space import check_class_map
from ops.storage import Root, open_root, paths


def register(root: Root | str, entry: ModelEntry, weights: Path | None = None) -> ModelEntry:
    """Store a model: its weights by content, then its entry.

    The model is built and its weights are tried before anything is written. A name that exists
    is replaced; results of its former weights then are stale.

    Parameters
    ----------
    root : Root or str
        The storage root.
    entry : ModelEntry
        What to register; its `weights` field is ignored.
    weights : Path or None
        A ``.safetensors`` file or a checkpoint of tensors; it must be given for the kind
        ``checkpoint``. Without it the weights the network comes with are stored, as
        safetensors, so that they can never change under the name.

    Returns
    -------
    ModelEntry
        With `weights` filled in.

    Raises
    ------
    ShiftlakeError
        If the weights are missing, would run code, or do not fit the architecture; if the
        catalog has no such label space, or the class map leaves it.
    """
    root = open_root(root)
    # These bring torch, which a look into the registry does not need.
    from ops.models import weights as weights_file
    from ops.models.loading import architecture

    check_class_map(entry, catalog.load().label_spaces)
    if weights is None and entry.kind == "checkpoint":
        raise ShiftlakeError(
            "A checkpoint model needs its weights file.",
            expected="a .safetensors file or a checkpoint",
            found="none",
            where=entry.name,
            remedy="give the path of the weights",
        )
    if weights is not None and not weights.is_file():
        raise ShiftlakeError(
            "The weights file does not exist.",
            expected="a file",
            found="nothing" if not weights.exists() else "a folder",
            where=weights,
            remedy="check the path",
        )
    model = architecture(entry, pretrained=weights is None)
    if weights is None:
        data = weights_file.canonical_bytes(model)
        stored = _described(hashlib.sha256(data).hexdigest(), len(data), "safetensors")
        if not root.exists(rel := paths.weights(stored.sha256, stored.suffix)):
            root.write_bytes(rel, data)
    else:
        suffix = weights_file.suffix_of(weights)
        state = weights_file.read_state_dict(weights, suffix)
        weights_file.load_strictly(model, state, where=weights)
        digest = weights_file.file_sha256(weights)
        stored = _described(digest, weights.stat().st_size, suffix)
        if not root.exists(rel := paths.weights(stored.sha256, stored.suffix)):
            with weights.open("rb") as source, root.writer(rel) as target:
                shutil.copyfileobj(source, target, 8 << 20)
    registered = entry.model_copy(update={"weights": stored})
    root.write_json(paths.model(entry.name), registered.model_dump(mode="json"))
    return registered


def read_model(root: Root | str, name: str) -> ModelEntry:
    """The entry of a registered model.

    Raises
    ------
    ShiftlakeError
        If there is none of this name (near ones are named), or its file is damaged.
    """
    root = open_root(root)
    rel = paths.model(name)
    if not root.exists(rel):
        known = list_models(root)
        near = difflib.get_close_matches(name, known, n=3) or known[:5]
        raise ShiftlakeError(
            "There is no such model.",
            expected=", ".join(near) if near else "a registered model",
            found=name,
            where=root.at("models"),
            remedy="register it first" + (", or take one of those named" if near else ""),
        )
    try:
        return ModelEntry.model_validate(root.read_json(rel))
    except ValidationError as error:
        raise ShiftlakeError(
            "A model's entry cannot be read.",
            expected="the fields of a model entry",
            found="; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()
            ),
            where=root.at(rel),
            remedy="register the model again",
        ) from error


def list_models(root: Root | str) -> list[str]:
    """Names of all registered models, sorted."""
    root = open_root(root)
    found = (PurePosixPath(rel) for rel in root.list("models"))
    return sorted(p.stem for p in found if p.suffix == ".json" and len(p.parts) == 2)


def _described(sha256: str, size: int, suffix: Literal["safetensors", "pt"]) -> WeightsFile:
    return WeightsFile(sha256=sha256, bytes=size, suffix=suffix)
