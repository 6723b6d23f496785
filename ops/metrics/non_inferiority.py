"""Non-inferiority: whether a candidate is shown to be no worse than a margin allows."""

from __future__ import annotations

from typing import Literal

Judgement = Literal["pass", "fail", "inconclusive"]


def judge(
    advantage: float, lo: float, margin: float, p: float | None, alpha: float = 0.05
) -> Judgement:
    """Judge a candidate on one benchmark.

    Parameters
    ----------
    advantage : float
        Candidate less baseline, positive where the candidate is better.
    lo : float
        Lower bound of the advantage, that is minus the upper bound of the loss
        ``baseline - candidate``: of the two-sided interval of confidence ``1 - alpha``, which
        alone holds with ``1 - alpha / 2`` (one-sided 97.5 % for alpha 0.05). NaN where there is
        none: nothing is ruled out.
    margin : float
        The largest loss that would be accepted, in the same unit, not negative.
    p : float or None
        Two-sided p-value of the hypothesis of no difference, corrected for the number of
        benchmarks; None where there is none.
    alpha : float

    Returns
    -------
    {"pass", "fail", "inconclusive"}
        ``pass``: the loss is shown to be smaller than the margin. If there is a loss, it is one
        that the margin accepts, significant or not. ``fail``: it is not, and the candidate is
        significantly worse, or the loss that was measured exceeds the margin. ``inconclusive``:
        neither; more images would tell.

    Notes
    -----
    Absence of a significant loss shows nothing: with few images every loss is insignificant.
    Hence the burden of proof is on the candidate (Tango, Statistics in Medicine 17, 1998). Each
    benchmark has to pass by itself, so ``pass`` needs no correction for their number
    (an intersection-union test); ``fail`` says that some benchmark got worse, and does.

    Examples
    --------
    >>> judge(-0.001, -0.003, 0.005, 0.2), judge(-0.02, -0.04, 0.005, 0.001)
    ('pass', 'fail')
    >>> judge(-0.001, -0.03, 0.005, 0.9)
    'inconclusive'
    """
    if lo > -margin:
        return "pass"
    if advantage < -margin or (p is not None and p < alpha and advantage < 0):
        return "fail"
    return "inconclusive"
