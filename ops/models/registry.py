"""The registry: one JSON file a model, and its weights under their own hash."""

from __future__ import annotations

import difflib
import hashlib
import shutil
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from ops import catalog
from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Suffix, WeightsFile
from ops.models.label_space import check_class_map
from ops.storage import Root, open_root, paths

# Kinds whose weights are never fetched: a file has to be given.
_BY_FILE = {
    "checkpoint": "a .safetensors file or a checkpoint",
    "exported": "a .pt2 file that torch.export.save wrote",
    "onnx": "an .onnx file",
}
# What results depend on: with another of these a name is another model's.
_DECISIVE = (
    "reference",
    "revision",
    "kwargs",
    "weights",
    "transform",
    "label_space",
    "class_map",
    "head",
    "precision",
    "tf32",
    "deterministic",
    "compiled",
)


def register(
    root: Root | str,
    entry: ModelEntry,
    weights: Path | None = None,
    *,
    check: bool = True,
    replace: bool = True,
) -> ModelEntry:
    """Store a model: its weights by content, then its entry.

    The model is built and its weights are tried before anything is written.

    Parameters
    ----------
    root : Root or str
        The storage root.
    entry : ModelEntry
        What to register; its `weights` and `parameters` are ignored. Of an ONNX graph `precision`
        is ignored too: the file says it.
    weights : Path or None
        A ``.safetensors`` file or a checkpoint of tensors, a ``.caffemodel``, or the program
        itself; it must be given for the kinds ``checkpoint``, ``exported`` and ``onnx``. Without
        it the weights the network comes with are stored, as safetensors, so that they can never
        change under the name.
    check : bool
        Send one blank image through the model, which shows a wrong number of outputs, values that
        are not finite and networks that fail at all. It costs one forward pass on the CPU.
    replace : bool
        Whether a name that exists may be given to another model; results of the former one then
        are stale.

    Returns
    -------
    ModelEntry
        With `weights` and `parameters` filled in.

    Raises
    ------
    ShiftlakeError
        If the weights are missing, would run code, or do not fit the architecture; if the
        catalog has no such label space, or the class map leaves it; if the blank image shows that
        the outputs cannot be used; or if the name is another model's and `replace` is False, or
        the entry has an origin and the name's present one has another or none.
    """
    root = open_root(root)
    _refuse_another_origin(root, entry)
    # Who registers it here answers for it.
    entry = entry.model_copy(update={"imported": False})
    classes = check_class_map(entry, catalog.load().label_spaces)
    if weights is None and entry.kind in _BY_FILE:
        raise ShiftlakeError(
            "This model needs its weights file.",
            expected=_BY_FILE[entry.kind],
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
    # These bring torch, which a look into the registry does not need.
    from ops.models.preparation import prepared
    from ops.models.trial import check_outputs

    ready = prepared(root, entry, weights)
    if check:
        check_outputs(ready.model, ready.entry, classes)
    stored = _described(ready.content, ready.suffix)
    registered = ready.entry.model_copy(update={"weights": stored})
    # Again: to build it and to try it can take minutes.
    _refuse_another_origin(root, registered)
    if not replace:
        _refuse_another(root, registered)
    if not root.exists(rel := paths.weights(stored.sha256, stored.suffix)):
        if isinstance(ready.content, bytes):
            root.write_bytes(rel, ready.content)
        else:
            with ready.content.open("rb") as source, root.writer(rel) as target:
                shutil.copyfileobj(source, target, 8 << 20)
    root.write_json(paths.model(entry.name), registered.model_dump(mode="json"))
    return registered


def remove(root: Root | str, name: str) -> None:
    """Take a model out of the registry.

    Its weights stay, since another name may have the same, and so do its results, which are stale
    from now on. Registered again with the same weights it has them back.

    Raises
    ------
    ShiftlakeError
        If there is none of this name.
    """
    root = open_root(root)
    if not root.exists(paths.model(name)):
        raise _unknown(root, name)
    root.remove(paths.model(name))


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
        raise _unknown(root, name)
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


def _unknown(root: Root, name: str) -> ShiftlakeError:
    known = list_models(root)
    near = difflib.get_close_matches(name, known, n=3) or known[:5]
    return ShiftlakeError(
        "There is no such model.",
        expected=", ".join(near) if near else "a registered model",
        found=name,
        where=root.at("models"),
        remedy="register it first" + (", or take one of those named" if near else ""),
    )


def _refuse_another_origin(root: Root, entry: ModelEntry) -> None:
    """What a watched folder brings takes no name from a person, nor from another folder."""
    if entry.origin is None or not root.exists(paths.model(entry.name)):
        return
    former = read_model(root, entry.name)
    if former.origin != entry.origin:
        by_hand = "imported with its results" if former.imported else "registered by hand"
        raise ShiftlakeError(
            "The name of a watched model is another model's.",
            expected=f"no model {entry.name}, or one that came from {entry.origin}",
            found=f"{former.reference}, " + (f"from {former.origin}" if former.origin else by_hand),
            where=root.at(paths.model(entry.name)),
            remedy=f"give the file in the watched folder another name, or let it have this one: "
            f"shiftlake model remove {entry.name}",
        )


def _refuse_another(root: Root, registered: ModelEntry) -> None:
    if not root.exists(paths.model(registered.name)):
        return
    try:
        former = read_model(root, registered.name)
    except ShiftlakeError:
        # A damaged entry cannot be anybody's.
        return
    changed = sorted(
        field for field in _DECISIVE if getattr(former, field) != getattr(registered, field)
    )
    if changed:
        before = former.weights.sha256[:12] if former.weights else "none"
        now = registered.weights.sha256[:12] if registered.weights else "none"
        raise ShiftlakeError(
            "The name is another model's.",
            expected=f"the model {former.reference} with weights {before}",
            found=f"{registered.reference} with weights {now}; other: {', '.join(changed)}",
            where=root.at(paths.model(registered.name)),
            remedy="choose another name; or replace it with --force, and its results become stale",
        )


def _described(content: bytes | Path, suffix: Suffix) -> WeightsFile:
    if isinstance(content, bytes):
        return WeightsFile(
            sha256=hashlib.sha256(content).hexdigest(), bytes=len(content), suffix=suffix
        )
    with content.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return WeightsFile(sha256=digest, bytes=content.stat().st_size, suffix=suffix)
