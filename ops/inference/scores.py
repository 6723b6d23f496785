"""What is kept of a row of logits: predictions, confidences and the rank of the label.

Every function takes float32 logits of shape (samples, classes) in which ``-inf`` marks a class
the model has no output for, and computes in float64, so that the result does not depend on how
the rows were batched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ops.models.entry import Head

Logits = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

TOP = 5
NONE = -1
# Rows at once: their float64 logits stay in the cache from one step to the next.
_BLOCK = 16


@dataclass(frozen=True)
class Summary:
    """The probabilities over one set of classes, each array of shape (samples,).

    `pred` is the index of the largest logit, ties to the lowest index; `p_max` its probability;
    `entropy` is in nats.
    """

    pred: Ints
    p_max: Floats
    max_logit: Floats
    logsumexp: Floats
    entropy: Floats


def summarise(
    logits: Logits, classes: Sequence[int] | None = None, head: Head = "softmax"
) -> Summary:
    """Summarise the probabilities of all classes, or of some.

    Parameters
    ----------
    logits : float32 array, shape (samples, classes)
        At least one of the classes has a finite logit in every row.
    classes : sequence of int or None
        Ascending indices to restrict to; `pred` stays an index into all classes.
    head : {"softmax", "sigmoid"}
        Of a softmax, `p_max` and `entropy` are those of the distribution over the classes. Of
        independent sigmoids, `p_max` is the sigmoid of the largest logit and `entropy` the sum of
        the binary entropies of all classes; `logsumexp` is defined on the logits in either case.

    Returns
    -------
    Summary
    """
    index = None if classes is None else np.asarray(classes)
    if index is not None:
        logits = logits.take(index, axis=1)
    rows = len(logits)
    pred = logits.argmax(axis=1)
    top = logits[np.arange(rows), pred].astype(np.float64)
    total, entropy = np.empty(rows), np.empty(rows)
    for part in _blocks(rows):
        shifted = logits[part].astype(np.float64)
        shifted -= top[part, None]
        weight = np.exp(shifted)
        total[part] = weight.sum(axis=1)
        # A class without a logit has weight 0 and must add 0, where 0 * -inf would be no number.
        np.copyto(shifted, 0.0, where=weight == 0)
        shifted *= weight
        entropy[part] = shifted.sum(axis=1)
    entropy = np.log(total) - entropy / total
    p_max = 1.0 / total
    if head == "sigmoid":
        p_max, entropy = _sigmoid(top), _binary_entropies(logits)
    return Summary(
        pred=pred if index is None else index[pred],
        p_max=p_max,
        max_logit=top,
        logsumexp=top + np.log(total),
        entropy=entropy,
    )


def _sigmoid(values: Floats) -> Floats:
    small = np.exp(-np.abs(values))
    found: Floats = np.where(values >= 0, 1.0, small) / (1.0 + small)
    return found


def _binary_entropies(logits: Logits) -> Floats:
    # With a = |x|, both sides alike: log(1 + exp(-a)) + a exp(-a) / (1 + exp(-a)).
    found = np.empty(len(logits))
    for part in _blocks(len(logits)):
        distance = np.abs(logits[part].astype(np.float64))
        small = np.exp(-distance)
        np.copyto(distance, 0.0, where=small == 0)
        found[part] = (np.log1p(small) + distance * small / (1.0 + small)).sum(axis=1)
    return found


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK))


def top(logits: Logits, count: int = TOP) -> tuple[Ints, Logits]:
    """The largest logits of each row, ties by index; classes without a logit are never among them.

    Returns
    -------
    (int64 array, float32 array), each of shape (samples, at most `count`)
        Indices and logits, highest first. Where a row has fewer classes with a logit, it ends in
        -1 and ``-inf``.
    """
    rest = logits.copy()
    rows = np.arange(len(rest))
    wide = min(count, rest.shape[1])
    indices = np.empty((len(rest), wide), np.int64)
    values = np.empty((len(rest), wide), np.float32)
    for place in range(wide):
        best = rest.argmax(axis=1)
        values[:, place] = rest[rows, best]
        indices[:, place] = best
        rest[rows, best] = -np.inf
    indices[values == -np.inf] = NONE
    return indices, values


@dataclass(frozen=True)
class Labels:
    """The accepted labels of each row, one after the other.

    Row ``i`` has ``values[offsets[i] : offsets[i + 1]]``; `rows` is the row of each value.
    """

    values: Ints
    offsets: Ints

    @classmethod
    def of(cls, labels: Sequence[Sequence[int]], repeated: int = 1) -> Labels:
        """From a list of lists, each standing for `repeated` rows."""
        lengths = np.array([len(own) for own in labels], np.int64)
        flat = np.array([label for own in labels for label in own], np.int64)
        if repeated > 1:
            starts = np.concatenate([[0], np.cumsum(lengths)])
            lengths = lengths.repeat(repeated)
            begins = starts[:-1].repeat(repeated)
            within = np.arange(lengths.sum()) - (np.cumsum(lengths) - lengths).repeat(lengths)
            flat = flat[begins.repeat(lengths) + within]
        return cls(flat, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    @cached_property
    def rows(self) -> Ints:
        """Row of each value, shape (values,)."""
        return np.arange(len(self.offsets) - 1).repeat(np.diff(self.offsets))

    @cached_property
    def any(self) -> Bools:
        """Which rows have a label, shape (rows,)."""
        found: Bools = np.diff(self.offsets) > 0
        return found


def accepted(labels: Labels, chosen: Ints) -> Bools:
    """Whether a row's choices hold one of its labels; false where it has none.

    Parameters
    ----------
    labels : Labels
    chosen : int array, shape (rows, choices)
        -1 is no class.
    """
    rows = labels.rows
    found: Bools = np.zeros(len(chosen), bool)
    found[rows[(chosen[rows] == labels.values[:, None]).any(axis=1)]] = True
    return found


def ranks(logits: Logits, labels: Labels) -> Ints:
    """Rank of the best accepted label of each row; 1 is the top.

    The rank is one more than the number of classes with a larger logit, or an equal one and a
    lower index. A label beyond the classes ranks like a class without a logit.

    Returns
    -------
    int64 array, shape (rows,)
        0 where a row has no label.
    """
    classes = logits.shape[1]
    found = np.zeros(len(logits), np.int64)
    if not len(labels.values):
        return found
    rows, column = labels.rows, np.minimum(labels.values, classes - 1)
    value = logits[rows, column]
    # One label a row is the rule; then the logits themselves are compared, not a copy of them.
    of_label = logits if len(rows) == len(logits) and labels.any.all() else logits[rows]
    rank = 1 + np.count_nonzero(of_label > value[:, None], axis=1)
    equal = of_label == value[:, None]
    # Nearly always it equals itself alone.
    for tied in np.flatnonzero(np.count_nonzero(equal, axis=1) > 1):
        rank[tied] += np.count_nonzero(equal[tied, : column[tied]])
    rank = np.where(labels.values < classes, rank, 1 + labels.values)
    found[labels.any] = np.minimum.reduceat(rank, labels.offsets[:-1][labels.any])
    return found
