"""Weights files: read safely, cleaned of wrappers, written canonically, loaded strictly."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch

from ops.errors import ShiftlakeError

CHECKPOINT_KEYS = ("state_dict", "model", "model_state_dict")
PARALLEL_PREFIX = "module."
_SIZE = r"(torch\.Size\(\[[\d, ]*\]\))"
_MISFIT = re.compile(rf"size mismatch for (\S+): .* {_SIZE} from checkpoint, .* {_SIZE}\.?$")


def suffix_of(path: Path) -> Literal["safetensors", "pt"]:
    """The kind of a weights file: ``safetensors`` by its name, else ``pt``."""
    return "safetensors" if path.suffix == ".safetensors" else "pt"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_state_dict(path: Path, suffix: str, where: object = None) -> dict[str, torch.Tensor]:
    """Read the tensors of a weights file, without running any code it may carry.

    Parameters
    ----------
    path : Path
        A safetensors file, or one that `torch.save` wrote: a state dict, bare or under
        ``state_dict``, ``model`` or ``model_state_dict``. A ``module.`` prefix, left by
        DataParallel, is taken off.
    suffix : {"safetensors", "pt"}
        How to read it.
    where : object
        What to call the file in an error; `path` by default.

    Returns
    -------
    dict of str to torch.Tensor

    Raises
    ------
    ShiftlakeError
        If the file cannot be read, would run code, or holds no state dict.
    """
    where = where or path
    if suffix == "safetensors":
        content: Any = _read_safetensors(path, where)
    else:
        content = _read_checkpoint(path, where)
    if isinstance(content, Mapping):
        for key in CHECKPOINT_KEYS:
            if isinstance(content.get(key), Mapping):
                content = content[key]
                break
    if not isinstance(content, Mapping):
        raise _no_state_dict(type(content).__name__, where)
    tensors = {str(key): value for key, value in content.items() if torch.is_tensor(value)}
    if not tensors or len(tensors) != len(content):
        odd = [str(key) for key, value in content.items() if not torch.is_tensor(value)]
        raise _no_state_dict(f"entries that are no tensors: {_some(odd)}" if odd else "none", where)
    if all(key.startswith(PARALLEL_PREFIX) for key in tensors):
        tensors = {key.removeprefix(PARALLEL_PREFIX): value for key, value in tensors.items()}
    return tensors


def load_strictly(model: torch.nn.Module, state: dict[str, torch.Tensor], where: object) -> None:
    """Load a state dict into a model; every parameter must be there, and nothing else.

    As strict as ``load_state_dict(strict=True)`` and no stricter: what a network's own hooks do
    about state dicts of older releases, such as batch normalisations that did not yet count their
    batches, is done first.

    Raises
    ------
    ShiftlakeError
        Names the missing, unexpected and differently shaped parameters.
    """
    missing: list[str] = []
    unexpected: list[str] = []
    others: list[str] = []

    def note(_: torch.nn.Module, keys: Any) -> None:
        missing.extend(keys.missing_keys)
        unexpected.extend(keys.unexpected_keys)

    # The last of the network's hooks: those before it may have settled some of the keys.
    hook = model.register_load_state_dict_post_hook(note)  # type: ignore[no-untyped-call]
    try:
        model.load_state_dict(state, strict=True)
    except Exception as error:  # the network's hooks raise what they like
        others = [line.strip() for line in str(error).splitlines()[1:]]
        others = [line for line in others if not line.startswith(("Missing key", "Unexpected key"))]
        if not (missing or unexpected or others):
            others = [f"{type(error).__name__}: {error}"]
    finally:
        hook.remove()
    shapes = [f"{name} {given} for {own}" for name, given, own in map(_shapes, others) if name]
    others = [line for line in others if not _shapes(line)[0]]
    parts = {
        "missing": missing,
        "unexpected": unexpected,
        "other shape": shapes,
        "not loaded": others,
    }
    if any(parts.values()):
        raise ShiftlakeError(
            "The weights do not fit the architecture.",
            expected=f"{len(model.state_dict())} tensors named and shaped as in "
            f"{type(model).__name__}",
            found="; ".join(f"{what}: {_some(names)}" for what, names in parts.items() if names),
            where=where,
            remedy="check the architecture and its arguments against those of the weights",
        )


def _shapes(line: str) -> tuple[str, str, str]:
    """Name and both shapes in torch's sentence about one tensor; empty where it is another."""
    found = _MISFIT.match(line)
    if found is None:
        return "", "", ""
    given, own = (
        text.replace("torch.Size([", "(").replace("])", ")") for text in found.group(2, 3)
    )
    return found[1], given, own


def canonical_bytes(model: torch.nn.Module) -> bytes:
    """A model's state dict as safetensors: equal tensors give equal bytes."""
    from safetensors.torch import save

    # Cloned, because safetensors refuses tensors that share memory, as tied weights do.
    tensors = {
        key: value.detach().cpu().contiguous().clone()
        for key, value in sorted(model.state_dict().items())
    }
    return bytes(save(tensors))


def _read_safetensors(path: Path, where: object) -> Any:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise ShiftlakeError(
            "The weights file cannot be read.",
            expected="a complete safetensors file",
            found=str(error),
            where=where,
            remedy="get the file again, or give a checkpoint a .pt name",
        ) from error


def _read_checkpoint(path: Path, where: object) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError) as error:
        reason = _reason(error)
        # An operand that is no pickle at all is damage; every other refusal is about code.
        if isinstance(error, pickle.UnpicklingError) and "Unsupported operand" not in reason:
            raise ShiftlakeError(
                "The checkpoint is refused: to read it would run code that is inside it.",
                expected="tensors and plain containers only",
                found=reason,
                where=where,
                remedy="save its state_dict() as safetensors where you trust the file",
            ) from error
        raise ShiftlakeError(
            "The weights file cannot be read.",
            expected="a checkpoint that torch.save wrote, or a .safetensors file",
            found=reason,
            where=where,
            remedy="get the file again, or save the model's state_dict() as safetensors",
        ) from error


def _reason(error: Exception) -> str:
    # torch follows the cause with a page of advice on how to switch the protection off.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "GLOBAL" in line or "Unsupported" in line]
    return (telling or lines or [type(error).__name__])[0].split(". ")[0]


def _no_state_dict(found: str, where: object) -> ShiftlakeError:
    return ShiftlakeError(
        "The weights file holds no state dict.",
        expected=f"names and tensors, bare or under one of {', '.join(CHECKPOINT_KEYS)}",
        found=found,
        where=where,
        remedy="save model.state_dict(), as safetensors if you can",
    )


def _some(names: list[str], limit: int = 5) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
