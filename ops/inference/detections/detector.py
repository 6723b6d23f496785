"""Detectors of torchvision, the optional extra: a builder's name and a file of weights."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict

from ops.errors import ShiftlakeError
from ops.inference.detections.categories import COCO91, Categories, Kind, categories_of
from ops.models.extras import extra
from ops.models.weights import file_sha256, load_strictly, read_state_dict, suffix_of

# Published when torchvision's frozen batch normalisation left out its epsilon; their builders set
# it to 0 for these weights, and for no others (pytorch/vision, pull request 2933).
_WITHOUT_EPSILON = (
    "fasterrcnn_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
)


class Detector(BaseModel):
    """What determines a detector's boxes.

    `builder` is a name of ``torchvision.models.detection``, `kwargs` its further arguments (JSON
    values only), `published` the name torchvision gives the weights, where they are one of its
    own. `categories` says what its labels are: ``coco91``, COCO's category ids, or ``own``, from 1
    on the classes of the dataset's label space.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    builder: str
    kwargs: dict[str, Any]
    categories: Kind
    weights_sha256: str
    published: str | None = None


class Opened(NamedTuple):
    """A detector that is ready, and what its labels mean."""

    detector: Detector
    network: torch.nn.Module
    categories: Categories


def open_detector(
    builder: str,
    weights: Path,
    label_space: str,
    *,
    kwargs: dict[str, Any] | None = None,
    categories: Kind = COCO91,
    device: str = "cpu",
) -> Opened:
    """Build a detector and load its weights, without running any code in the file.

    Parameters
    ----------
    builder : str
        For example ``fasterrcnn_resnet50_fpn``.
    weights : Path
        A ``.safetensors`` file, or a checkpoint of tensors that `torch.save` wrote.
    label_space : str
        Of the dataset.
    kwargs : dict, optional
        More arguments of the builder, such as ``{"box_score_thresh": 0.01}``.
    categories : {"coco91", "own"}
    device : str
        ``cpu``, ``cuda`` or ``cuda:<n>``.

    Raises
    ------
    ShiftlakeError
        If torchvision is missing or broken, has no such detector, or the weights cannot be read
        or do not fit.
    """
    models = extra("torchvision.models", "torchvision", builder)
    module = extra("torchvision.models.detection", "torchvision", builder)
    known = models.list_models(module=module)
    if builder not in known:
        raise ShiftlakeError(
            "torchvision has no such detector.",
            expected=f"one of {', '.join(difflib.get_close_matches(builder, known, 3) or known)}",
            found=builder,
            where="torchvision.models.detection",
            remedy="correct the name",
        )
    if not weights.is_file():
        raise ShiftlakeError(
            "The weights file does not exist.",
            expected="a file",
            found="a folder" if weights.exists() else "nothing",
            where=weights,
            remedy="check the path",
        )
    of = categories_of(categories, label_space)
    arguments = dict(kwargs or {})
    if categories != COCO91:
        # Label 0 is the background.
        arguments.setdefault("num_classes", len(of.labels) + 1)
    digest = file_sha256(weights)
    published = _published(models, builder, digest)
    network = _built(models, builder, arguments)
    state = read_state_dict(weights, suffix_of(weights), weights.name)
    load_strictly(network, state, weights.name)
    if published == "COCO_V1" and builder in _WITHOUT_EPSILON:
        for part in network.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.eps = 0.0
    detector = Detector(
        builder=builder,
        kwargs=arguments,
        categories=categories,
        weights_sha256=digest,
        published=published,
    )
    return Opened(detector, network.eval().requires_grad_(False).to(device), of)


def _built(models: Any, builder: str, arguments: dict[str, Any]) -> torch.nn.Module:
    try:
        # Without a word about the backbone some builders would fetch one.
        network: torch.nn.Module = models.get_model(
            builder, weights=None, weights_backbone=None, **arguments
        )
    except (TypeError, ValueError) as error:
        raise ShiftlakeError(
            "torchvision could not make the detector.",
            expected="arguments that its builder takes",
            found=f"{type(error).__name__}: {error}",
            where=builder,
            remedy="correct the arguments",
        ) from error
    return network


def _published(models: Any, builder: str, digest: str) -> str | None:
    """Name of torchvision's own weights with this hash, whose file name ends in its start."""
    for member in models.get_model_weights(builder):
        if digest.startswith(Path(member.url).stem.rpartition("-")[2]):
            return str(member.name)
    return None
