"""Inference: sealed shards in, one row of predictions a sample out.

Here belong decoding, the transform's pixels, the forward pass, and the columns computed from
logits. What the rows mean as a metric is :mod:`ops.metrics`; registering models is
:mod:`ops.models`.
"""

from ops.inference.evaluate import evaluate
from ops.inference.plan import plan_key, plan_numerics
from ops.inference.preprocess import prepare
from ops.inference.record import Numerics, RunRecord, read_run
from ops.inference.schema import PREDICTIONS

__all__ = [
    "PREDICTIONS",
    "Numerics",
    "RunRecord",
    "evaluate",
    "plan_key",
    "plan_numerics",
    "prepare",
    "read_run",
]
