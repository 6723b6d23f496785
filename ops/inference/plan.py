"""Which result an evaluation would give: its numerics here, and its key."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from ops.errors import ShiftlakeError
from ops.inference.class_lists import lists_sha256
from ops.inference.protocol import cropped_side
from ops.inference.record import Numerics
from ops.models import ModelEntry

# Part of every result's key: raise it when a change in this room alters a value in a row.
CODE_VERSION = "2"

Device = Literal["auto", "cpu", "cuda"]


class Evaluated(Protocol):
    """What a key needs to know of a dataset; a manifest is one."""

    @property
    def name(self) -> str:
        """``<benchmark>/<condition>``."""

    @property
    def version(self) -> str:
        """16 hex digits that stand for the content."""

    @property
    def label_space(self) -> str:
        """What its labels are indices in."""

    @property
    def mask(self) -> str | None:
        """Its own class mask."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters, of which the protocol depends on ``cropped``."""


def plan_numerics(entry: ModelEntry, device: Device = "auto") -> Numerics:
    """The numerics an evaluation of this model would have on this machine.

    Raises
    ------
    ShiftlakeError
        If a GPU is asked for and there is none.
    """
    import torch

    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ShiftlakeError(
            "There is no GPU here.",
            expected="a CUDA device that torch can use",
            found=f"torch {torch.__version__}, no device",
            where=platform.node(),
            remedy="use device cpu or auto, or install a CUDA build of torch",
        )
    chosen: Literal["cpu", "cuda"] = "cuda" if there and device != "cpu" else "cpu"
    return Numerics(
        dtype=entry.precision,
        device=chosen,
        tf32=entry.tf32,
        deterministic=entry.deterministic,
        compiled=entry.compiled,
    )


def class_map_sha256(entry: ModelEntry) -> str | None:
    """SHA-256 of a model's class map as JSON, or None where it has none."""
    if entry.class_map is None:
        return None
    return hashlib.sha256(json.dumps(entry.class_map).encode()).hexdigest()


def plan_key(entry: ModelEntry, dataset: Evaluated, numerics: Numerics) -> str:
    """The key of a result: if anything that determines a row changes, so does the key.

    Parameters
    ----------
    entry : ModelEntry
        A registered model; its name does not matter, its weights do.
    dataset : Evaluated
        Its manifest, for version, label space, masks and protocol. The class lists these stand for
        are part of the key.
    numerics : Numerics
        Device kind and types. The batch size is not part of it, nor is whether logits are kept.
        On a GPU the libraries choose their algorithms by shape: the last bits of a row can depend
        on the images in its pass, which the batch size and the free memory decide. Rows of one
        key are then the same result, and not the same bytes; the record says both sizes.

    Returns
    -------
    str
        16 hex digits.
    """
    parts: dict[str, Any] = {
        "weights": entry.weights.sha256 if entry.weights else None,
        "reference": entry.reference,
        "kwargs": entry.kwargs,
        "class_map": entry.class_map,
        "label_space": entry.label_space,
        "transform": entry.transform.hash,
        "dataset_version": dataset.version,
        "numerics": numerics.model_dump(mode="json"),
        "code_version": CODE_VERSION,
    }
    if entry.head != "softmax":
        parts["head"] = entry.head
    cropped = cropped_side(dataset.parameters)
    if cropped is not None:
        parts["cropped"] = cropped
    lists = lists_sha256(dataset.name, dataset.mask, entry.label_space, dataset.label_space)
    if lists is not None:
        parts["class_lists"] = lists
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
