"""The sequences of ImageNet-P, exact or fast, replayed or keyed.

Here: the frames of every perturbation, their parameters, and their storage as video
(:mod:`ops.perturbations.video`). Not here: which images are rendered and where they go
(:mod:`ops.rendering`), the comparison of predictions (:mod:`ops.metrics`), and the corruptions of
ImageNet-C (:mod:`ops.corruptions`).
"""

from ops.corruptions.keyed import Key
from ops.perturbations.facts import (
    PERTURBATIONS,
    VALIDATION_PERTURBATIONS,
    Perturbation,
    perturbations,
)
from ops.perturbations.sequence import sequence, sequences

__all__ = [
    "PERTURBATIONS",
    "VALIDATION_PERTURBATIONS",
    "Key",
    "Perturbation",
    "perturbations",
    "sequence",
    "sequences",
]
