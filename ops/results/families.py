"""Which benchmarks share their metrics: the published set of a kind, and those rendered here.

Sets of one kind are measured alike and never together: each keeps its own name in every result.
"""

from __future__ import annotations

from ops.video.datasets import MINED

CORRUPTED = ("imagenet_c", "imagenet_c_rendered", "imagenet_c_on_the_fly")
MINI_CORRUPTED = ("mini_imagenet_c", "mini_imagenet_c_rendered")
PERTURBED = ("imagenet_p", "imagenet_p_rendered", "imagenet_p_on_the_fly")
# Frame sets mined here, a condition a source; and what reviewers left of them, which no model is
# run on: it is scored from what was predicted on the mined frames.
VIDEO = ("imagenet_vid_robust", "ytbb_robust", MINED)


def distorted(benchmark: str) -> bool:
    """Whether it is one of DeepCorrect's distorted sets."""
    return benchmark.startswith("distorted_")


def folds(benchmark: str) -> bool:
    """Whether its conditions are a corruption or distortion with severities or levels inside."""
    return benchmark in (*CORRUPTED, *MINI_CORRUPTED) or distorted(benchmark)
