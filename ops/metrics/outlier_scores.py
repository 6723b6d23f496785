"""How unlike every known class an image looks, by the masked logits of ImageNet-O's 200 classes.

All four are negated confidences: higher is more anomalous.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def max_softmax(p_max: NDArray[np.floating]) -> Floats:
    """Minus the largest probability of the softmax: the benchmark's own score.

    Hendrycks et al., arXiv:1907.07174; natural-adv-examples, ``eval_many_models.py``.

    Parameters
    ----------
    p_max : ndarray of float, shape (N,)
        In (0, 1].
    """
    return -np.asarray(p_max, np.float64)


def max_logit(logit: NDArray[np.floating]) -> Floats:
    """Minus the largest logit (Hendrycks et al., arXiv:1911.11132).

    Parameters
    ----------
    logit : ndarray of float, shape (N,)
    """
    return -np.asarray(logit, np.float64)


def energy(logsumexp: NDArray[np.floating]) -> Floats:
    """The free energy ``-log sum_c exp(logit_c)`` at temperature 1 (Liu et al., arXiv:2010.03759).

    Parameters
    ----------
    logsumexp : ndarray of float, shape (N,)
    """
    return -np.asarray(logsumexp, np.float64)


def max_sigmoid(logit: NDArray[np.floating]) -> Floats:
    """Minus the largest of the independent probabilities ``1 / (1 + exp(-logit_c))``.

    The sigmoid rises with its logit, so this ranks images as :func:`max_logit` does, but for
    logits so large that their probabilities are the same number.

    Parameters
    ----------
    logit : ndarray of float, shape (N,)
        The largest logit.
    """
    from scipy.special import expit

    return -np.asarray(expit(np.asarray(logit, np.float64)))


# The name of each as a variant of a metric, and the column it is computed from.
OUTLIER_SCORES: Mapping[str, tuple[Callable[[NDArray[np.floating]], Floats], str]] = {
    "max softmax": (max_softmax, "p_max"),
    "max logit": (max_logit, "max_logit"),
    "energy": (energy, "logsumexp"),
    "max sigmoid": (max_sigmoid, "max_logit"),
}
