"""Models: what is registered, which weights it has, and how an image becomes its input.

Here belong registry entries, weights files and architectures. Running a model over a dataset is
:mod:`ops.inference`.
"""

from typing import TYPE_CHECKING, Any

from ops.models.entry import ModelEntry, WeightsFile
from ops.models.registry import list_models, read_model, register, remove
from ops.models.transform import Transform

if TYPE_CHECKING:
    from ops.models.loading import load
    from ops.models.timm_source import from_timm

__all__ = [
    "ModelEntry",
    "Transform",
    "WeightsFile",
    "from_timm",
    "list_models",
    "load",
    "read_model",
    "register",
    "remove",
]


def __getattr__(name: str) -> Any:
    # torch costs a second and a half to import; who only reads the registry does not pay for it.
    if name == "load":
        from ops.models.loading import load

        return load
    if name == "from_timm":
        from ops.models.timm_source import from_timm

        return from_timm
    raise AttributeError(name)
