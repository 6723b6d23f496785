"""Inference: sealed datasets in, one row of predictions a sample, or frame, out.

Here belong the way from samples to a model's pixels, for datasets that are stored and for those
made on the fly, the forward pass, and the columns computed from logits. What the rows mean as a
metric is :mod:`ops.metrics`; registering models is :mod:`ops.models`.
"""

from typing import TYPE_CHECKING, Any

from ops.inference.expected import expected_rows
from ops.inference.failure import Failure, read_failure
from ops.inference.plan import plan_key, plan_numerics
from ops.inference.preprocess import prepare
from ops.inference.record import Numerics, RunRecord, read_run
from ops.inference.schema import PREDICTIONS

if TYPE_CHECKING:
    from ops.inference.cell import FailedCell, evaluate_many
    from ops.inference.evaluation import evaluate
    from ops.inference.logits import read_logits

__all__ = [
    "PREDICTIONS",
    "FailedCell",
    "Failure",
    "Numerics",
    "RunRecord",
    "evaluate",
    "evaluate_many",
    "expected_rows",
    "plan_key",
    "plan_numerics",
    "prepare",
    "read_failure",
    "read_logits",
    "read_run",
]


def __getattr__(name: str) -> Any:
    # torch costs a second and a half to import; who only reads records does not pay for it.
    if name == "evaluate":
        from ops.inference.evaluation import evaluate

        return evaluate
    if name in ("evaluate_many", "FailedCell"):
        from ops.inference import cell

        return getattr(cell, name)
    if name == "read_logits":
        from ops.inference.logits import read_logits

        return read_logits
    raise AttributeError(name)
