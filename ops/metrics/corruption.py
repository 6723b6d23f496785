"""ImageNet-C: the quantities people call "mCE", each under its own name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

SEVERITIES = (1, 2, 3, 4, 5)


class AlexNet(NamedTuple):
    """Top-1 errors of AlexNet in [0, 1], the denominators of ImageNet-C."""

    clean: float
    mean: dict[str, float]
    by_severity: dict[str, list[float]]


@cache
def alexnet_errors() -> AlexNet:
    """AlexNet's errors, from ``alexnet_errors.json``."""
    data = json.loads(files("ops.metrics").joinpath("alexnet_errors.json").read_text("utf-8"))
    return AlexNet(data["clean"], data["mean"], data["by_severity"])


def corruptions_15() -> tuple[str, ...]:
    """The 15 corruptions every mean is defined over."""
    return tuple(alexnet_errors().by_severity)


def corruptions_19() -> tuple[str, ...]:
    """The 15 and the 4 extras, which enter no mCE."""
    return tuple(alexnet_errors().mean)


def mean_error_pct(error: Mapping[str, float], corruptions: tuple[str, ...]) -> float:
    """Mean error over `corruptions` in percent, unnormalised.

    Parameters
    ----------
    error : mapping of corruption to float
        Top-1 error in [0, 1], mean over the severities.
    corruptions : tuple of str
        :func:`corruptions_15` for ``mean_err_15_pct``, :func:`corruptions_19` for
        ``mean_err_19_pct``.
    """
    return 100 * float(np.mean([error[name] for name in corruptions]))


def ce_alexnet_pct(corruption: str, error: float) -> float:
    """Corruption error in percent: `error` over AlexNet's, both means of 5 severities."""
    return 100 * error / alexnet_errors().mean[corruption]


def mce_alexnet_pct(error: Mapping[str, float]) -> float:
    """Mean corruption error in percent: the mean of CE over the 15.

    ``CE_c = sum_s E(c,s) / sum_s E_AlexNet(c,s)`` (Hendrycks and Dietterich,
    arXiv:1903.12261, section 4.2). ResNet-50 has 76.7.
    """
    return float(np.mean([ce_alexnet_pct(name, error[name]) for name in corruptions_15()]))


def relative_mce_alexnet_pct(error: Mapping[str, float], clean: float) -> float:
    """Relative mCE in percent: errors above the clean error, over AlexNet's."""
    alexnet = alexnet_errors()
    return 100 * float(
        np.mean(
            [
                (error[name] - clean) / (alexnet.mean[name] - alexnet.clean)
                for name in corruptions_15()
            ]
        )
    )


def mce_severity_5_alexnet_pct(error: Mapping[str, float]) -> float:
    """MiniImageNet-C's mCE in percent: severity 5 over AlexNet's severity 5, never its mean."""
    alexnet = alexnet_errors().by_severity
    return 100 * float(np.mean([error[name] / alexnet[name][4] for name in corruptions_15()]))
