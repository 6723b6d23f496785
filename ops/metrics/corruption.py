"""ImageNet-C: whose errors are divided by, and the means that are divided by none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

SEVERITIES = (1, 2, 3, 4, 5)

# One error a corruption, or an array of them: one a resample.
Errors = Mapping[str, ArrayLike]


@dataclass(frozen=True)
class Normaliser:
    """Top-1 errors in [0, 1] of the network whose errors are the denominators: an AlexNet.

    Parameters
    ----------
    clean : float
        On the clean validation images.
    mean : dict of str to float
        Mean over the five severities of each corruption.
    by_severity : dict of str to list of float
        At severity 1 to 5.
    """

    clean: float
    mean: dict[str, float]
    by_severity: dict[str, list[float]]


@cache
def alexnet_errors() -> Normaliser:
    """The published errors of AlexNet, from ``alexnet_errors.json``."""
    data = json.loads(files("ops.metrics").joinpath("alexnet_errors.json").read_text("utf-8"))
    return Normaliser(data["clean"], data["mean"], data["by_severity"])


def corruptions_15() -> tuple[str, ...]:
    """The 15 corruptions every mean is defined over."""
    return tuple(alexnet_errors().by_severity)


def corruptions_19() -> tuple[str, ...]:
    """The 15 and the 4 extras, which enter no mCE."""
    return tuple(alexnet_errors().mean)


def mean_error_pct(error: Errors, corruptions: tuple[str, ...]) -> NDArray[np.float64]:
    """Mean error over `corruptions` in percent, unnormalised.

    Parameters
    ----------
    error : mapping of corruption to array_like of float
        Top-1 error in [0, 1], mean over the severities.
    corruptions : tuple of str
        :func:`corruptions_15` for ``mean_err_15_pct``, :func:`corruptions_19` for
        ``mean_err_19_pct``.

    Returns
    -------
    ndarray of float64
        Of the shape of one error.
    """
    return 100 * mean_over(error, corruptions)


def mean_over(values: Errors, names: tuple[str, ...]) -> NDArray[np.float64]:
    """Mean of the values of `names`, added in that order whatever their shape."""
    total = np.zeros(())
    for name in names:
        total = total + np.asarray(values[name], np.float64)
    return np.asarray(total / len(names))
