"""Models of timm, the optional extra: entry, transform and network by timm's name."""

from __future__ import annotations

import math
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Precision
from ops.models.extras import extra
from ops.models.transform import Transform


def from_timm(
    reference: str,
    *,
    name: str | None = None,
    precision: Precision = "fp32",
    kwargs: dict[str, Any] | None = None,
) -> ModelEntry:
    """The entry of a timm model, with the transform of its own data configuration.

    The test size of the configuration is used where it has one, as in timm's published results.

    Parameters
    ----------
    reference : str
        timm's name, for example ``resnet50.a1_in1k``.
    name : str or None
        Name in the registry; the reference by default.
    precision : {"fp32", "bf16", "fp16"}
        Autocast type of the forward pass.
    kwargs : dict or None
        More arguments of ``timm.create_model``; ``pretrained`` is True unless given.

    Returns
    -------
    ModelEntry
        Not yet registered.

    Raises
    ------
    ShiftlakeError
        If timm is not installed, has no such model, or the transform is not a resize and crop.
    """
    timm = _timm(reference)
    network = create(reference, {**(kwargs or {}), "pretrained": False})
    config = timm.data.resolve_data_config({}, model=network, use_test_size=True)
    return ModelEntry(
        name=name or reference.replace("/", "_").replace(":", "_"),
        kind="timm",
        reference=reference,
        kwargs=kwargs or {},
        transform=transform_of(config, reference),
        precision=precision,
        note=f"timm {timm.__version__}",
    )


def create(reference: str, kwargs: dict[str, Any]) -> torch.nn.Module:
    """Build a timm network.

    Raises
    ------
    ShiftlakeError
        If timm is not installed or cannot build or download it.
    """
    timm = _timm(reference)
    try:
        network: torch.nn.Module = timm.create_model(reference, **kwargs)
    except Exception as error:  # timm, the hub and urllib raise what they like
        near = timm.list_models(f"*{reference.split('.')[0].split('/')[-1]}*", pretrained=True)[:3]
        raise ShiftlakeError(
            "timm could not make the model.",
            expected="a model name timm knows, and its weights within reach",
            found=f"{type(error).__name__}: {error}",
            where=reference,
            remedy=f"check the name and the network; near names: {', '.join(near) or 'none'}",
        ) from error
    return network


def transform_of(config: dict[str, Any], reference: str) -> Transform:
    """Translate timm's data configuration.

    Parameters
    ----------
    config : dict
        ``input_size`` (channels, height, width), ``crop_pct``, ``crop_mode``, ``interpolation``,
        ``mean`` and ``std``, as ``timm.data.resolve_data_config`` returns.
    reference : str
        The model's name, for an error.

    Returns
    -------
    Transform
        ``center`` resizes the shorter side to floor(size / crop_pct); ``squash`` both sides.

    Raises
    ------
    ShiftlakeError
        If the crop mode is another one, or the input is not square RGB.
    """
    channels, height, width = config["input_size"]
    mode = config.get("crop_mode") or "center"
    if mode not in ("center", "squash") or channels != 3 or height != width:
        raise ShiftlakeError(
            "The model's transform has no equal here.",
            expected="square RGB input, crop mode center or squash",
            found=f"input {config['input_size']}, crop mode {mode}",
            where=reference,
            remedy="register it as a callable that does the last step inside the model",
        )
    side = math.floor(height / (config.get("crop_pct") or 1.0))
    return Transform(
        resize=(side, side) if mode == "squash" else side,
        crop=height,
        interpolation=config["interpolation"],
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
    )


def _timm(reference: str) -> Any:
    extra("timm.data", "timm", reference)
    return extra("timm", "timm", reference)
