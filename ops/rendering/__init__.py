"""Rendered datasets: sealed images in, sealed corrupted, perturbed or distorted images out.

What belongs here: which sample becomes which, how a dataset says how it was made, and the pass
over the source. What does not: the pixels themselves (:mod:`ops.corruptions`,
:mod:`ops.perturbations`), and how a shard is written and sealed (:mod:`ops.shards`).
"""

from typing import TYPE_CHECKING, Any

from ops.rendering.build import build_many, expected_version, require_current
from ops.rendering.frost import FrostUnavailable, textures
from ops.rendering.on_the_fly import as_stored, clean, key, read
from ops.rendering.passes import render
from ops.rendering.recipe import RENDERED_LAYOUTS, Recipe, is_rendered
from ops.rendering.samples import rendered_key

if TYPE_CHECKING:
    from ops.rendering.dataset import open_dataset

__all__ = [
    "RENDERED_LAYOUTS",
    "FrostUnavailable",
    "Recipe",
    "as_stored",
    "build_many",
    "clean",
    "expected_version",
    "is_rendered",
    "key",
    "open_dataset",
    "read",
    "render",
    "rendered_key",
    "require_current",
    "textures",
]


def __getattr__(name: str) -> Any:
    # torch and webdataset cost seconds to import, and only this function needs them.
    if name == "open_dataset":
        from ops.rendering.dataset import open_dataset

        return open_dataset
    raise AttributeError(name)
