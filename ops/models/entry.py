"""The registry entry of a model: everything needed to build it again and read its outputs."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ops.errors import ShiftlakeError
from ops.models.transform import Transform

Precision = Literal["fp32", "bf16", "fp16"]
Head = Literal["softmax", "sigmoid"]
Suffix = Literal["safetensors", "pt", "pt2", "onnx"]
Kind = Literal[
    "timm",
    "torchvision",
    "open_clip",
    "hugging_face",
    "checkpoint",
    "callable",
    "exported",
    "onnx",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BY_CODE = ("checkpoint", "callable")
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class WeightsFile(BaseModel):
    """A weights file below ``models/weights``, named by its content.

    `suffix` is ``safetensors``, ``pt`` for a checkpoint that `torch.save` wrote, or ``pt2`` and
    ``onnx`` for a program that has its weights inside.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: int
    suffix: Suffix


class ModelEntry(BaseModel):
    """A registered model, stored at ``models/<name>.json``.

    Entries of older releases lack some of the fields; their defaults are what held then.

    Parameters
    ----------
    name : str
        Letters, digits, ``.``, ``_`` and ``-``; it names a folder.
    kind : str
        Where architecture and weights come from: a name of ``timm``, ``torchvision`` or
        ``open_clip`` (zero-shot), a repository of the Hugging Face hub (``hugging_face``), a
        local weights file with an architecture (``checkpoint``), a ``callable`` that returns a
        finished ``torch.nn.Module``, a ``torch.export`` program (``exported``) or an ``onnx``
        graph.
    reference : str
        The name at its source: timm's name, torchvision's ``NAME@WEIGHTS``, open_clip's
        ``ARCHITECTURE/TAG``, the hub's ``organisation/repository``, the file name of a program.
        Otherwise ``module:callable``: a class that derives from ``torch.nn.Module``, or a function
        of a trusted package. Nothing of Python's standard library, and no function of torch, is
        accepted; see :mod:`ops.models.callables`.
    revision : str or None
        The hub's commit, 40 hex digits.
    kwargs : dict
        Arguments of the architecture, JSON values only.
    weights : WeightsFile or None
        Set by :func:`ops.models.register`.
    parameters : int or None
        Number of values in its weights, set by :func:`ops.models.register`; None in entries of
        older releases.
    label_space : str
        The label space the outputs are in, for example ``ilsvrc1000``.
    class_map : tuple of int or None
        Output ``j`` is class ``class_map[j]`` of the label space; None where they are the same.
    head : {"softmax", "sigmoid"}
        Whether the outputs are the logits of one choice among all classes, or of an independent
        yes or no for each.
    prompts : str or None
        SHA-256 of the prompts a zero-shot head was made of.
    precision : {"fp32", "bf16", "fp16"}
        The autocast type of the forward pass; of an ``onnx`` graph the type it computes in.
    tf32 : bool
        Whether a GPU may shorten the factors of float32 products to 10 bits of mantissa.
    deterministic : bool
        Whether only algorithms are used that give the same bits every time.
    compiled : bool
        Whether ``torch.compile`` is applied.
    normaliser : bool
        Whether it is an AlexNet that the errors of other models are divided by.
    synthetic : bool
        Whether it was trained on generated images; its numbers are then no benchmark results.
    training : str or None
        What determined the training, as a hash, where the weights were made here.
    fine_tuned_on : tuple of str
        Datasets of frame sets it was fine-tuned on here, those of the model it was made from
        included: its scores on videos of these say nothing about new ones.
    origin : str or None
        The watched folder or prefix it came from; None where a person registered it.
    imported : bool
        Whether it came with results of another place. Nothing it names is ever loaded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=_NAME)]
    kind: Kind
    reference: Annotated[str, Field(min_length=1)]
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    kwargs: dict[str, Any] = Field(default_factory=dict)
    weights: WeightsFile | None = None
    parameters: int | None = None
    transform: Transform
    label_space: str = "ilsvrc1000"
    class_map: tuple[Annotated[int, Field(ge=0, le=32767)], ...] | None = None
    head: Head = "softmax"
    prompts: str | None = None
    precision: Precision = "fp32"
    tf32: bool = False
    deterministic: bool = True
    compiled: bool = False
    normaliser: bool = False
    synthetic: bool = False
    training: str | None = None
    fine_tuned_on: tuple[str, ...] = ()
    origin: str | None = None
    imported: bool = False
    note: str = ""

    @field_validator("class_map")
    @classmethod
    def _one_output_a_class(cls, class_map: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if class_map is not None and len(set(class_map)) != len(class_map):
            raise ValueError("two outputs have the same class in class_map")
        return class_map

    @model_validator(mode="after")
    def _reference_has_its_form(self) -> ModelEntry:
        if self.kind in _BY_CODE and self.reference.count(":") != 1:
            raise ValueError(f"reference must be 'module:callable', not {self.reference!r}")
        if self.kind == "torchvision" and self.reference.count("@") != 1:
            raise ValueError(f"reference must be 'NAME@WEIGHTS', not {self.reference!r}")
        if self.kind == "hugging_face" and self.revision is None:
            raise ValueError("a model of the hub needs the commit as its revision")
        if self.kind in ("exported", "onnx") and ("/" in self.reference or "\\" in self.reference):
            raise ValueError("reference must be the file's name without its folder")
        return self

    @model_validator(mode="after")
    def _fields_agree(self) -> ModelEntry:
        if self.kind == "onnx" and self.compiled:
            raise ValueError("compiled is torch.compile, which an ONNX graph does not go through")
        if self.prompts is not None and self.kind != "open_clip":
            raise ValueError("only a zero-shot model has prompts")
        if self.kind == "open_clip" and self.label_space != "ilsvrc1000":
            raise ValueError("the prompts of a zero-shot model are about ilsvrc1000 alone")
        return self


def checked_name(name: str, where: object) -> str:
    """The name, if a model can have it; asked before any source is.

    Raises
    ------
    ShiftlakeError
        If it could not name a folder.
    """
    if re.fullmatch(_NAME, name) and "\n" not in name:
        return name
    raise ShiftlakeError(
        "A model cannot have this name.",
        expected="letters, digits, '.', '_' and '-', the first a letter or digit",
        found=repr(name),
        where=where,
        remedy="choose another name",
    )
