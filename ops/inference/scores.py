"""What is kept of a row of logits: predictions, confidences and the rank of the label.

Every function takes float32 logits of shape (samples, classes) in which ``-inf`` marks a class
the model has no output for, and computes in float64, so that the result does not depend on how
the rows were batched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Summary:
    """The softmax over one set of classes, each array of shape (samples,).

    `pred` is the index of the largest logit, ties to the lowest index; `p_max` its probability;
    `entropy` is in nats.
    """

    pred: Ints
    p_max: Floats
    max_logit: Floats
    logsumexp: Floats
    entropy: Floats


def summarise(logits: Logits, classes: Sequence[int] | None = None) -> Summary:
    """Summarise the softmax over all classes, or restricted to some.

    Parameters
    ----------
    logits : float32 array, shape (samples, classes)
        At least one of the classes has a finite logit in every row.
    classes : sequence of int or None
        Ascending indices to restrict to; `pred` stays an index into all classes.

    Returns
    -------
    Summary
    """
    if classes is not None:
        index = np.asarray(classes)
        logits = logits[:, index]
    values = logits.astype(np.float64)
    pred = values.argmax(axis=1)
    top = values.max(axis=1)
    shifted = values - top[:, None]
    weight = np.exp(shifted)
    total = weight.sum(axis=1)
    # A class without a logit has weight 0 and must add 0, where 0 * -inf would be no number.
    spread = np.where(weight > 0, shifted, 0.0)
    return Summary(
        pred=pred if classes is None else index[pred],
        p_max=1.0 / total,
        max_logit=top,
        logsumexp=top + np.log(total),
        entropy=np.log(total) - (weight * spread).sum(axis=1) / total,
    )


def top(logits: Logits, count: int = 5) -> tuple[list[list[int]], list[list[float]]]:
    """The largest logits of each row, ties by index; classes without a logit are never among them.

    Returns
    -------
    (list of list of int, list of list of float)
        Indices and logits, highest first, at most `count` a row.
    """
    rest = logits.copy()
    rows = np.arange(len(rest))
    indices: list[list[int]] = [[] for _ in rows]
    values: list[list[float]] = [[] for _ in rows]
    for _ in range(min(count, rest.shape[1])):
        best = rest.argmax(axis=1)
        value = rest[rows, best]
        for row in np.flatnonzero(value > -np.inf):
            indices[row].append(int(best[row]))
            values[row].append(float(value[row]))
        rest[rows, best] = -np.inf
    return indices, values


def ranks(logits: Logits, labels: Sequence[Sequence[int]]) -> list[int | None]:
    """Rank of the best accepted label of each row; 1 is the top.

    The rank is one more than the number of classes with a larger logit, or an equal one and a
    lower index. A label beyond the classes ranks like a class without a logit.

    Returns
    -------
    list of int or None
        None where a row has no label.
    """
    found: list[int | None] = []
    for row, accepted in zip(logits, labels, strict=True):
        best: int | None = None
        for label in accepted:
            if label < len(row):
                value = row[label]
                rank = 1 + int((row > value).sum()) + int((row[:label] == value).sum())
            else:
                rank = 1 + label
            best = rank if best is None else min(best, rank)
        found.append(best)
    return found
