"""How a rendered dataset is made, as data: the manifest's account of its renderer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from ops.shards import Manifest, version_of

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

EngineName = Literal["corruptions", "perturbations", "distortions"]
Form = Literal["stored", "on_the_fly"]

# What the catalog's `layout` says of a dataset that is rendered.
RENDERED_LAYOUTS: dict[str, tuple[EngineName, Form]] = {
    "rendered_corruption": ("corruptions", "stored"),
    "rendered_perturbation": ("perturbations", "stored"),
    "rendered_distortion": ("distortions", "stored"),
    "corruption_on_the_fly": ("corruptions", "on_the_fly"),
    "perturbation_on_the_fly": ("perturbations", "on_the_fly"),
}


def is_rendered(spec: DatasetSpec) -> bool:
    """Whether a dataset is rendered, stored or on the fly, and not cut out of an archive."""
    return spec.layout in RENDERED_LAYOUTS


class Recipe(BaseModel):
    """All that decides the pixels of a rendered dataset, as it stands in its manifest.

    Attributes
    ----------
    name : str
        Of the renderer.
    form : {"stored", "on_the_fly"}
        Whether the images lie in shards or are made as they are read, with the same pixels.
    engine : {"corruptions", "perturbations", "distortions"}
    version : int
        Of the engine; raised whenever it makes other bytes.
    mode : {"fast", "exact"} or None
        Arithmetic, where the engine has two.
    preset : str or None
        Table of parameters.
    seed : int
    key_dataset : str
        The family in the keys of the random numbers: a stored dataset and the same one on the
        fly share it.
    corruption, perturbation, distortion : str or None
        One of the three.
    severity, difficulty : int or None
        Of a corruption or distortion; of a perturbation.
    parameters : dict
        The numbers of this condition.
    textures : tuple of str or None
        First 16 hex digits of the sha256 of the frost photographs' pixels, in their order.
    encoding : dict
        Format of the images, and its settings.
    source, source_version : str
        Dataset that is rendered.
    libraries : dict or None
        Versions of what a stored dataset was made with, for information: no part of its version.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["shiftlake"] = "shiftlake"
    form: Form
    engine: EngineName
    version: int
    mode: Literal["fast", "exact"] | None = None
    preset: str | None = None
    seed: int = 0
    key_dataset: str
    corruption: str | None = None
    perturbation: str | None = None
    distortion: str | None = None
    severity: int | None = None
    difficulty: int | None = None
    parameters: dict[str, Any]
    textures: tuple[str, ...] | None = None
    encoding: dict[str, Any]
    source: str
    source_version: str
    libraries: dict[str, str] | None = None

    @classmethod
    def of(cls, manifest: Manifest) -> Recipe:
        """The recipe of a sealed dataset that was rendered."""
        return cls.model_validate(manifest.renderer)

    @property
    def renderer(self) -> dict[str, Any]:
        """The recipe as it stands in a manifest."""
        return self.model_dump(mode="json", exclude_none=True)

    @property
    def shared(self) -> str:
        """Equal for the recipes of conditions that can be rendered in one pass over the source."""
        own = {"corruption", "perturbation", "distortion", "severity", "difficulty"}
        common = self.model_dump(mode="json", exclude={*own, "parameters", "textures"})
        # A coder's own account of its settings, which differ by condition.
        common["encoding"].pop("settings", None)
        return json.dumps(common, sort_keys=True)

    def version_of(self, spec: DatasetSpec, size: int | None) -> str:
        """Version of the dataset this recipe makes, in shards of at most `size` samples."""
        return version_of(
            {
                "name": spec.name,
                "renderer": self.model_copy(update={"libraries": None}).renderer,
                "label_space": spec.label_space,
                "parameters": dict(spec.parameters),
                "mask": spec.mask,
                "size": size,
            }
        )
