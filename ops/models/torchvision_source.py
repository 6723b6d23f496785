"""Models of torchvision, the optional extra: a builder's name and one of its weights."""

from __future__ import annotations

import difflib
import re
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Precision, checked_name
from ops.models.extras import extra
from ops.models.transform import Transform
from ops.models.weights import load_strictly

# What these builders set by themselves once they are given weights, and only then.
_SET_WITH_WEIGHTS: dict[str, dict[str, Any]] = {
    "googlenet": {"transform_input": True, "aux_logits": False, "init_weights": False},
    "inception_v3": {"transform_input": True, "init_weights": False},
}
# ``denselayer1.norm.1.weight``, which today is ``denselayer1.norm1.weight``.
_DOTTED = re.compile(r"(\.denselayer\d+\.(?:norm|conv))\.(?=[12]\.)")


def from_torchvision(
    reference: str,
    *,
    name: str | None = None,
    precision: Precision = "fp32",
    kwargs: dict[str, Any] | None = None,
) -> ModelEntry:
    """The entry of a torchvision model, with the transform of its weights.

    Parameters
    ----------
    reference : str
        ``NAME`` or ``NAME@WEIGHTS``, for example ``resnet50@IMAGENET1K_V1``; without it
        torchvision's present default, which is then recorded by its name.
    name : str or None
        Name in the registry; torchvision's name by default.
    precision : {"fp32", "bf16", "fp16"}
        Autocast type of the forward pass.
    kwargs : dict or None
        More arguments of the builder.

    Returns
    -------
    ModelEntry
        Not yet registered. AlexNet is marked as a normaliser.

    Raises
    ------
    ShiftlakeError
        If a model cannot have the name, torchvision is missing, has no such classifier or
        weights, or the transform is not a resize and crop.
    """
    builder, _, wanted = reference.partition("@")
    name = checked_name(builder if name is None else name, reference)
    models = extra("torchvision.models", "torchvision", reference)
    known = models.list_models(module=models)
    if builder not in known:
        near = difflib.get_close_matches(builder, known, 3) or known
        raise _unknown("classifier", builder, near, reference)
    weights = models.get_model_weights(builder)
    there = [member.name for member in weights]
    if wanted and wanted not in weights.__members__:
        raise _unknown(f"weights for {builder}", wanted, there, reference)
    chosen = weights[wanted] if wanted else weights.DEFAULT
    return ModelEntry(
        name=name,
        kind="torchvision",
        reference=f"{builder}@{chosen.name}",
        kwargs={**_SET_WITH_WEIGHTS.get(builder, {}), **(kwargs or {})},
        transform=transform_of(chosen.transforms(), reference),
        precision=precision,
        normaliser=builder == "alexnet",
        note=f"torchvision {extra('torchvision', 'torchvision', reference).__version__}",
    )


def create(entry: ModelEntry, *, pretrained: bool) -> torch.nn.Module:
    """Build the network of an entry; `pretrained` fetches its weights, or takes torch hub's copy.

    Raises
    ------
    ShiftlakeError
        If torchvision is missing or cannot build it, or the weights cannot be had.
    """
    builder, _, wanted = entry.reference.partition("@")
    models = extra("torchvision.models", "torchvision", entry.reference)
    try:
        network: torch.nn.Module = models.get_model(builder, weights=None, **entry.kwargs)
    except (TypeError, ValueError) as error:
        raise ShiftlakeError(
            "torchvision could not make the model.",
            expected="a builder that torchvision has, and arguments it takes",
            found=f"{type(error).__name__}: {error}",
            where=entry.reference,
            remedy="correct the name or kwargs",
        ) from error
    if not pretrained:
        return network
    try:
        # torch hub compares the hash in the file's name; nothing in it may run.
        state = models.get_model_weights(builder)[wanted].get_state_dict(
            progress=False, check_hash=True, weights_only=True
        )
    except Exception as error:  # urllib, torch and the unpickler raise what they like
        raise ShiftlakeError(
            "The weights of a torchvision model cannot be had.",
            expected="the published file, from the network or in torch hub's folder",
            found=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
            where=f"{entry.reference}, {torch.hub.get_dir()}/checkpoints",
            remedy="check the network; a damaged copy in that folder must be removed by hand",
        ) from error
    if builder == "googlenet" and not entry.kwargs.get("aux_logits", True):
        state = {key: value for key, value in state.items() if not key.startswith("aux")}
    if builder.startswith("densenet"):
        # Published when a module's name could still have a dot in it.
        state = {_DOTTED.sub(r"\1", key): value for key, value in state.items()}
    load_strictly(network, dict(state), where=entry.reference)
    return network


def transform_of(preset: Any, reference: str) -> Transform:
    """Translate the transform of torchvision's weights.

    Parameters
    ----------
    preset : torchvision.transforms._presets.ImageClassification
        With ``resize_size``, ``crop_size``, ``interpolation``, ``mean``, ``std``, ``antialias``.
    reference : str
        The model's name, for an error.

    Raises
    ------
    ShiftlakeError
        If it is another kind of transform, or one that does not smooth what it shrinks.
    """
    try:
        resize, crop = list(preset.resize_size), list(preset.crop_size)
        squares = len(crop) == 1 or crop[0] == crop[1]
        if not squares or len(resize) > 2 or preset.antialias is False:
            raise ValueError(f"resize {resize}, crop {crop}, antialias {preset.antialias}")
        return Transform(
            resize=resize[0] if len(resize) == 1 else (resize[0], resize[1]),
            crop=crop[0],
            interpolation=preset.interpolation.value,
            mean=tuple(preset.mean),
            std=tuple(preset.std),
        )
    except (AttributeError, ValueError) as error:
        raise ShiftlakeError(
            "The model's transform has no equal here.",
            expected="a resize with antialias, and a square crop",
            found=f"{type(preset).__name__}: {error}",
            where=reference,
            remedy="register it as a callable that does the last step inside the model",
        ) from error


def _unknown(what: str, found: str, known: list[str], reference: str) -> ShiftlakeError:
    return ShiftlakeError(
        f"torchvision has no such {what}.",
        expected=f"one of {', '.join(known[:8])}",
        found=found,
        where=reference,
        remedy="correct the name; torchvision.models.list_models() has them all",
    )
