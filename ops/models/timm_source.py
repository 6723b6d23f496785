"""Models of timm, the optional extra: entry, transform and network by timm's name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Precision, checked_name
from ops.models.extras import extra
from ops.models.hub_weights import read_hub_weights
from ops.models.transform import Transform

# With these timm reads files, or another configuration that names files, while it builds.
_FILES = ("checkpoint_path", "pretrained_cfg", "pretrained_cfg_overlay", "cache_dir")
# Where a configuration says its weights are, and how they are read.
_PLACES = ("url", "file", "hf_hub_id", "hf_hub_filename", "source", "state_dict", "custom_load")


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
        More arguments of ``timm.create_model``, none that names a file; ``pretrained`` is True
        unless given.

    Returns
    -------
    ModelEntry
        Not yet registered.

    Raises
    ------
    ShiftlakeError
        If a model cannot have the name, timm is not installed, has no such model, would read
        files while it builds it, or the transform is not a resize and crop.
    """
    name = checked_name(
        reference.replace("/", "_").replace(":", "_") if name is None else name, reference
    )
    timm = _timm(reference)
    network = create(reference, {**(kwargs or {}), "pretrained": False})
    config = timm.data.resolve_data_config({}, model=network, use_test_size=True)
    return ModelEntry(
        name=name,
        kind="timm",
        reference=reference,
        kwargs=kwargs or {},
        transform=transform_of(config, reference),
        precision=precision,
        note=f"timm {timm.__version__}",
    )


def create(reference: str, kwargs: dict[str, Any]) -> torch.nn.Module:
    """Build a timm network.

    Weights that lie on the Hugging Face hub are read by :mod:`ops.models.hub_weights`.

    Raises
    ------
    ShiftlakeError
        If timm is not installed, cannot build or download it, or would read other files.
    """
    refuse_files(kwargs, reference)
    if ":" in reference:
        raise ShiftlakeError(
            "timm would read the architecture from a folder or a repository.",
            expected="a name that timm itself has",
            found=reference,
            where=reference,
            remedy="name a repository as hf:ORGANISATION/REPOSITORY; a folder's weights go with "
            "timm's function as module:callable and --weights",
        )
    timm = _timm(reference)
    try:
        stated = timm.models.get_pretrained_cfg(reference) if kwargs.get("pretrained") else None
        if stated is not None and stated.hf_hub_id:
            state = read_hub_weights(stated.hf_hub_id, filename=stated.hf_hub_filename)
            return with_weights(reference, dataclasses.asdict(stated), state, kwargs)
        network: torch.nn.Module = timm.create_model(reference, **kwargs)
    except ShiftlakeError:
        raise
    except Exception as error:  # timm, the hub and urllib raise what they like
        near = timm.list_models(f"*{reference.split('.')[0].split('/')[-1]}*", pretrained=True)[:3]
        raise ShiftlakeError(
            "timm could not make the model.",
            expected="a model name timm knows, and its weights within reach",
            found=f"{type(error).__name__}: {error}",
            where=reference,
            remedy="timm knows the name: check the network, or give the file with --weights"
            if reference in near
            else f"check the name and the network; near names: {', '.join(near) or 'none'}",
        ) from error
    return network


def with_weights(
    architecture: str,
    stated: Mapping[str, Any],
    state: dict[str, torch.Tensor],
    kwargs: Mapping[str, Any],
) -> torch.nn.Module:
    """Build a timm network and let timm put weights in, which it may have to rename first.

    Parameters
    ----------
    architecture : str
        timm's name.
    stated : mapping
        Its pretrained configuration; where that says the weights are is left out.
    state : dict of str to torch.Tensor
        The weights, as they were published.
    kwargs : mapping
        More arguments of the architecture.

    Returns
    -------
    torch.nn.Module

    Raises
    ------
    Exception
        What timm raises where they do not fit.
    """
    timm = _timm(architecture)
    config = {key: value for key, value in stated.items() if key not in _PLACES}
    network: torch.nn.Module = timm.create_model(
        architecture,
        **{**kwargs, "pretrained": True, "pretrained_cfg": {**config, "state_dict": state}},
    )
    # timm keeps its configuration, and with it the weights a second time.
    if isinstance(kept := getattr(network, "pretrained_cfg", None), dict):
        kept.pop("state_dict", None)
    return network


def refuse_files(kwargs: Mapping[str, Any], where: object) -> None:
    """Refuse arguments that make timm read files, or a configuration that names some.

    Raises
    ------
    ShiftlakeError
        Names them.
    """
    if found := [name for name in _FILES if kwargs.get(name) is not None]:
        raise ShiftlakeError(
            "timm would read files of its own choice while it builds the model.",
            expected="arguments of the architecture alone",
            found=", ".join(found),
            where=where,
            remedy="leave them out, and give a weights file with --weights",
        )


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
