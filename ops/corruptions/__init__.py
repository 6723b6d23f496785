"""The corruptions of ImageNet-C, exact or fast, replayed or keyed.

Here: the kernels, their parameters and their random numbers. Not here: which images are rendered
and where they go (:mod:`ops.rendering`), and the sequences of ImageNet-P
(:mod:`ops.perturbations`).
"""

from ops.corruptions.arguments import MODES, Mode
from ops.corruptions.corrupt import corrupt
from ops.corruptions.keyed import Key
from ops.corruptions.names import (
    BENCHMARK_CORRUPTIONS,
    CORRUPTIONS,
    DETERMINISTIC_CORRUPTIONS,
    EXTRA_CORRUPTIONS,
    SEVERITIES,
)

__all__ = [
    "BENCHMARK_CORRUPTIONS",
    "CORRUPTIONS",
    "DETERMINISTIC_CORRUPTIONS",
    "EXTRA_CORRUPTIONS",
    "MODES",
    "SEVERITIES",
    "Key",
    "Mode",
    "corrupt",
]
