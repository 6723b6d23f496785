"""The registry entry of a model: everything needed to build it again and read its outputs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ops.models.transform import Transform

Precision = Literal["fp32", "bf16", "fp16"]


class WeightsFile(BaseModel):
    """A weights file below ``models/weights``, named by its content.

    `suffix` is ``safetensors``, or ``pt`` for a checkpoint that `torch.save` wrote.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: int
    suffix: Literal["safetensors", "pt"]


class ModelEntry(BaseModel):
    """A registered model, stored at ``models/<name>.json``.

    Parameters
    ----------
    name : str
        Letters, digits, ``.``, ``_`` and ``-``; it names a folder.
    kind : {"timm", "checkpoint", "callable"}
        Where architecture and weights come from: timm's hub, a local weights file with an
        architecture, or a callable that returns a finished ``torch.nn.Module``.
    reference : str
        timm's model name, or ``module:callable``: a class that derives from ``torch.nn.Module``,
        or a function that its own package defines. Nothing of Python's standard library, and no
        function of torch, is accepted; see :mod:`ops.models.loading`.
    kwargs : dict
        Arguments of the architecture, JSON values only.
    weights : WeightsFile or None
        Set by :func:`ops.models.register`.
    label_space : str
        The label space the outputs are in, for example ``ilsvrc1000``.
    class_map : tuple of int or None
        Output ``j`` is class ``class_map[j]`` of the label space; None where they are the same.
    precision : {"fp32", "bf16", "fp16"}
        The autocast type of the forward pass.
    synthetic : bool
        Whether it was trained on generated images; its numbers are then no benchmark results.
    training : str or None
        What determined the training, as a hash, where the weights were made here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    kind: Literal["timm", "checkpoint", "callable"]
    reference: str
    kwargs: dict[str, Any] = Field(default_factory=dict)
    weights: WeightsFile | None = None
    transform: Transform
    label_space: str = "ilsvrc1000"
    class_map: tuple[Annotated[int, Field(ge=0, le=32767)], ...] | None = None
    precision: Precision = "fp32"
    synthetic: bool = False
    training: str | None = None
    note: str = ""

    @field_validator("class_map")
    @classmethod
    def _one_output_a_class(cls, class_map: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if class_map is not None and len(set(class_map)) != len(class_map):
            raise ValueError("two outputs have the same class in class_map")
        return class_map

    @model_validator(mode="after")
    def _reference_has_its_form(self) -> ModelEntry:
        if self.kind != "timm" and self.reference.count(":") != 1:
            raise ValueError(f"reference must be 'module:callable', not {self.reference!r}")
        return self
