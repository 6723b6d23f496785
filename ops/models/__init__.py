"""Models: what is registered, which weights it has, and how an image becomes its input.

Here belong registry entries, weights files and architectures. Running a model over a dataset is
:mod:`ops.inference`.
"""

from ops.models.entry import ModelEntry, WeightsFile
from ops.models.loading import load
from ops.models.registry import list_models, read_model, register
from ops.models.timm_source import from_timm
from ops.models.transform import Transform

__all__ = [
    "ModelEntry",
    "Transform",
    "WeightsFile",
    "from_timm",
    "list_models",
    "load",
    "read_model",
    "register",
]
