"""Zero-shot classifiers of open_clip, the optional extra: prompts once, then images alone.

Class embeddings are computed when a model is registered, as published: the mean over templates of
the normalised text embeddings, normalised again (Radford et al. 2021, section 3.1.4). They are
stored with the image tower, so that an evaluation needs neither text tower nor tokenizer.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Precision, checked_name
from ops.models.extras import extra
from ops.models.transform import Transform

_HUB = "hf-hub:"


class ZeroShot(torch.nn.Module):
    """An image tower and the embedding of every class.

    Parameters
    ----------
    visual : torch.nn.Module
        From images to embeddings, not yet normalised.
    width : int
        Length of an embedding.
    classes : int
        Number of classes.

    Notes
    -----
    Logits are ``exp(log scale) * cosine + bias`` as in training; the bias is 0 but for models
    trained with a sigmoid loss.
    """

    classes: torch.Tensor
    log_scale: torch.Tensor
    bias: torch.Tensor

    def __init__(self, visual: torch.nn.Module, width: int, classes: int) -> None:
        super().__init__()
        self.visual = visual
        self.register_buffer("classes", torch.zeros(width, classes))
        self.register_buffer("log_scale", torch.zeros(()))
        self.register_buffer("bias", torch.zeros(()))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of a batch."""
        found = self.visual(images)
        embedding = functional.normalize(found[0] if isinstance(found, tuple) else found, dim=-1)
        logits: torch.Tensor = embedding @ self.classes * self.log_scale.exp() + self.bias
        return logits


def from_open_clip(
    reference: str,
    *,
    name: str | None = None,
    precision: Precision = "fp32",
    kwargs: dict[str, Any] | None = None,
    class_map: tuple[int, ...] | None = None,
) -> ModelEntry:
    """The entry of a zero-shot classifier, with the transform of its weights.

    Parameters
    ----------
    reference : str
        ``ARCHITECTURE/TAG``, for example ``ViT-B-32/laion2b_s34b_b79k``, or
        ``hf-hub:organisation/repository`` of a repository in open_clip's format.
    name : str or None
        Name in the registry; by default made of the reference.
    precision : {"fp32", "bf16", "fp16"}
        Autocast type of the forward pass.
    kwargs : dict or None
        ``templates``: ``openai`` for the 80 published ones (the default), ``simple`` for the 7
        that do nearly as well; ``force_quick_gelu``: for weights trained with that activation.
    class_map : tuple of int or None
        ILSVRC classes to tell apart; all 1,000 by default.

    Returns
    -------
    ModelEntry
        Not yet registered; it names the prompts by their hash.

    Raises
    ------
    ShiftlakeError
        If a model cannot have the name, open_clip is missing or knows no such architecture or
        weights, or the transform is not a resize and crop.
    """
    if name is None:
        name = reference.removeprefix(_HUB).replace("/", "_").replace(":", "_")
    checked_name(name, reference)
    open_clip = extra("open_clip", "open_clip", reference)
    given = dict(kwargs or {})
    templates = given.pop("templates", "openai")
    quick = given.pop("force_quick_gelu", None)
    if given or templates not in ("openai", "simple"):
        raise ShiftlakeError(
            "A zero-shot model does not take these arguments.",
            expected="templates: openai or simple; force_quick_gelu: true or false",
            found=kwargs,
            where=reference,
            remedy="correct kwargs",
        )
    architecture, tag = _parts(open_clip, reference)
    try:
        config = open_clip.get_model_config(architecture)
        if tag is None:
            stated = open_clip.factory._get_hf_config(architecture.removeprefix(_HUB))
            preprocess = dict(stated.get("preprocess_cfg") or {})
        else:
            preprocess = dict(open_clip.get_pretrained_cfg(architecture, tag))
    except Exception as error:  # the hub's client raises what it likes
        raise _failed(error, reference) from error
    if quick is None:
        # A tag says which activation it was trained with; open_clip itself would only warn.
        quick = bool(config.get("quick_gelu", False) or preprocess.get("quick_gelu", False))
    return ModelEntry(
        name=name,
        kind="open_clip",
        reference=reference,
        kwargs={
            "embed_dim": config["embed_dim"],
            "vision_cfg": config["vision_cfg"],
            "quick_gelu": quick,
            "templates": templates,
        },
        transform=_transform_of(preprocess, config, reference),
        class_map=class_map,
        precision=precision,
        prompts=prompts_sha256(*_prompts(open_clip, templates, class_map)),
        note=f"zero-shot, open_clip {open_clip.__version__}",
    )


def create(entry: ModelEntry, *, pretrained: bool, classes: int = 1000) -> ZeroShot:
    """Build the classifier of an entry; `pretrained` fetches its weights and embeds the prompts.

    Raises
    ------
    ShiftlakeError
        If open_clip is missing or cannot build it, or the weights cannot be had.
    """
    open_clip = extra("open_clip", "open_clip", entry.reference)
    count = classes if entry.class_map is None else len(entry.class_map)
    stated = entry.kwargs
    try:
        # A pretrained image tower inside would only be overwritten.
        vision = {**stated["vision_cfg"], "timm_model_pretrained": False}
        tower = open_clip.model._build_vision_tower(
            stated["embed_dim"], vision, stated["quick_gelu"]
        )
        network = ZeroShot(tower, stated["embed_dim"], count)
        if pretrained:
            _fill(network, entry, open_clip)
    except ShiftlakeError:
        raise
    except Exception as error:  # open_clip, timm and the hub raise what they like
        raise _failed(error, entry.reference) from error
    return network


def prompts_sha256(classes: Sequence[str], templates: Sequence[str]) -> str:
    """SHA-256 of class names and templates, as JSON, the name's place marked ``{}``."""
    return hashlib.sha256(json.dumps([list(classes), list(templates)]).encode()).hexdigest()


def _fill(network: ZeroShot, entry: ModelEntry, open_clip: Any) -> None:
    architecture, tag = _parts(open_clip, entry.reference)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with warnings.catch_warnings():
        # About the activation, which the entry has settled.
        warnings.filterwarnings("ignore", message="QuickGELU mismatch")
        model = open_clip.create_model(
            architecture,
            tag,
            force_quick_gelu=entry.kwargs["quick_gelu"],
            weights_only=True,
            require_pretrained=True,
        )
    model = model.to(device).eval()
    classes, _ = _prompts(open_clip, entry.kwargs["templates"], entry.class_map)
    templates = _templates(open_clip, entry.kwargs["templates"])
    tokenizer = open_clip.get_tokenizer(architecture)
    embeddings = open_clip.build_zero_shot_classifier(
        model, tokenizer, classes, templates, num_classes_per_batch=10, device=device
    )
    network.visual.load_state_dict(model.visual.state_dict(), strict=True)
    network.classes.copy_(embeddings)
    network.log_scale.copy_(model.logit_scale.detach().reshape(()))
    if getattr(model, "logit_bias", None) is not None:
        network.bias.copy_(model.logit_bias.detach().reshape(()))


def _prompts(
    open_clip: Any, templates: str, class_map: tuple[int, ...] | None
) -> tuple[list[str], list[str]]:
    names = list(open_clip.IMAGENET_CLASSNAMES)
    outside = [index for index in class_map or () if index >= len(names)]
    if outside:
        raise ShiftlakeError(
            "A zero-shot model has no name for a class.",
            expected=f"ILSVRC classes from 0 to {len(names) - 1}",
            found=outside[0],
            where="class_map",
            remedy="name classes of ilsvrc1000",
        )
    chosen = names if class_map is None else [names[index] for index in class_map]
    return chosen, [template("{}") for template in _templates(open_clip, templates)]


def _templates(open_clip: Any, name: str) -> Any:
    simple = name == "simple"
    return open_clip.SIMPLE_IMAGENET_TEMPLATES if simple else open_clip.OPENAI_IMAGENET_TEMPLATES


def _parts(open_clip: Any, reference: str) -> tuple[str, str | None]:
    if reference.startswith(_HUB):
        return reference, None
    architecture, _, tag = reference.partition("/")
    tags = open_clip.list_pretrained_tags_by_model(architecture)
    if tag not in tags:
        known = architecture in open_clip.list_models()
        raise ShiftlakeError(
            "open_clip has no such weights." if known else "open_clip has no such architecture.",
            expected=f"one of {', '.join(tags)}" if tags else "ARCHITECTURE/TAG",
            found=(tag or "no tag") if known else architecture,
            where=reference,
            remedy="open_clip.list_pretrained() has all pairs of architecture and tag",
        )
    return architecture, tag


def _transform_of(preprocess: dict[str, Any], config: dict[str, Any], reference: str) -> Transform:
    size = config["vision_cfg"].get("image_size", 224)
    height, width = (size, size) if isinstance(size, int) else size
    mode = preprocess.get("resize_mode", "shortest")
    if height != width or mode not in ("shortest", "squash"):
        raise ShiftlakeError(
            "The model's transform has no equal here.",
            expected="square input, resize mode shortest or squash",
            found=f"input {size}, resize mode {mode}",
            where=reference,
            remedy="register it as a callable that does the last step inside the model",
        )
    defaults = Transform(
        resize=height if mode == "shortest" else (height, width),
        crop=height,
        interpolation=preprocess.get("interpolation", "bicubic"),
        mean=(0.48145466, 0.4578275, 0.40821073),
        std=(0.26862954, 0.26130258, 0.27577711),
    )
    stated = {key: tuple(preprocess[key]) for key in ("mean", "std") if preprocess.get(key)}
    return Transform.model_validate({**defaults.model_dump(), **stated})


def _failed(error: Exception, reference: str) -> ShiftlakeError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ShiftlakeError(
        "open_clip could not make the model.",
        expected="an architecture it knows, and weights within reach",
        found=f"{type(error).__name__}: {lines[0] if lines else ''}",
        where=reference,
        remedy="check name and network; some text towers also need pip install transformers",
    )
