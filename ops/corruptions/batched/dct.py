"""The 8-point cosine transforms of libjpeg's "ISLOW" method, forward and back, in integers.

Here: whole blocks of 64 numbers to 64 coefficients and back, with the roundings of that method.
The rest of the codec: :mod:`ops.corruptions.batched.jpeg`.

Loeffler, Ligtenberg and Moschytz (ICASSP 1989): sums and differences of mirrored inputs, then one
2 x 2 and one 4 x 4 product with constants of 13 binary places. Nothing is rounded before the end
of a pass, so the order of its sums is free. The first pass leaves 2 extra places for the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_PLACES = 13
_EXTRA = 2


def _fixed(constant: float) -> int:
    return round(constant * (1 << _PLACES))


# Coefficients 2 and 6 from the two even differences.
_COMMON_EVEN = _fixed(0.541196100)
_EVEN = (
    (_COMMON_EVEN + _fixed(0.765366865), _COMMON_EVEN),
    (_COMMON_EVEN, _COMMON_EVEN - _fixed(1.847759065)),
)
# Coefficients 7, 5, 3, 1 from the differences of the inputs 3-4, 2-5, 1-6, 0-7. Symmetric: the way
# back uses the same numbers.
_COMMON = _fixed(1.175875602)
_SIDES = -_fixed(0.899976223)  # shared by 7 and 1
_MIDDLES = -_fixed(2.562915447)  # shared by 5 and 3
_NEAR = _COMMON - _fixed(1.961570560)  # shared by 7 and 3
_FAR = _COMMON - _fixed(0.390180644)  # shared by 5 and 1
_ODD = (
    (_fixed(0.298631336) + _SIDES + _NEAR, _COMMON, _NEAR, _COMMON + _SIDES),
    (_COMMON, _fixed(2.053119869) + _MIDDLES + _FAR, _COMMON + _MIDDLES, _FAR),
    (_NEAR, _COMMON + _MIDDLES, _fixed(3.072711026) + _MIDDLES + _NEAR, _COMMON),
    (_COMMON + _SIDES, _FAR, _COMMON, _fixed(1.501321110) + _SIDES + _FAR),
)


def forward(samples: Tensor) -> Tensor:
    """Coefficients of blocks, eight times as large as the transform proper.

    Parameters
    ----------
    samples : int32 tensor, shape (8 rows, 8 columns, blocks)
        128 already taken off.

    Returns
    -------
    int32 tensor, shape (8 vertical, 8 horizontal frequencies, blocks)
    """
    rows = _forward_pass(samples.unbind(1), _PLACES - _EXTRA)
    return _forward_pass(rows.unbind(1), _PLACES + _EXTRA)


def backward(coefficients: Tensor) -> Tensor:
    """Samples of blocks, without the 128 and without a limit to their range.

    Parameters
    ----------
    coefficients : int32 tensor, shape (8 vertical, 8 horizontal frequencies, blocks)
        Multiplied by their quantisation steps.

    Returns
    -------
    int32 tensor, shape (8 columns, 8 rows, blocks)
    """
    columns = _backward_pass(coefficients.unbind(0), _PLACES - _EXTRA)
    return _backward_pass(columns.unbind(1), _PLACES + _EXTRA + 3)


def _forward_pass(x: Sequence[Tensor], shift: int) -> Tensor:
    sums = [x[i] + x[7 - i] for i in range(4)]
    differences = [x[i] - x[7 - i] for i in (3, 2, 1, 0)]
    outer, inner = sums[0] + sums[3], sums[1] + sums[2]
    even = (sums[0].sub_(sums[3]), sums[1].sub_(sums[2]))
    out = torch.empty((8, *x[0].shape), dtype=torch.int32, device=x[0].device)
    torch.add(outer, inner, out=out[0])
    torch.sub(outer, inner, out=out[4])
    out[0::4] <<= _PLACES
    for frequency, weights in zip((2, 6), _EVEN, strict=True):
        _weighted(even, weights, out[frequency])
    for frequency, odd_weights in zip((7, 5, 3, 1), _ODD, strict=True):
        _weighted(differences, odd_weights, out[frequency])
    return out.add_(1 << (shift - 1)).bitwise_right_shift_(shift)


def _backward_pass(x: Sequence[Tensor], shift: int) -> Tensor:
    even, odd = (x[2], x[6]), (x[7], x[5], x[3], x[1])
    whole = [(x[0] + x[4]) << _PLACES, (x[0] - x[4]) << _PLACES]
    turned = [_weighted(even, weights, torch.empty_like(x[2])) for weights in _EVEN]
    halves = (
        whole[0] + turned[0],
        whole[1] + turned[1],
        whole[1].sub_(turned[1]),
        whole[0].sub_(turned[0]),
    )
    out = torch.empty((8, *x[0].shape), dtype=torch.int32, device=x[0].device)
    for i, (half, odd_weights) in enumerate(zip(halves, reversed(_ODD), strict=True)):
        side = _weighted(odd, odd_weights, torch.empty_like(half))
        torch.add(half, side, out=out[i])
        torch.sub(half, side, out=out[7 - i])
    return out.add_(1 << (shift - 1)).bitwise_right_shift_(shift)


def _weighted(terms: Sequence[Tensor], weights: Sequence[int], out: Tensor) -> Tensor:
    """Write the weighted sum of the terms into ``out``."""
    torch.mul(terms[0], weights[0], out=out)
    for term, weight in zip(terms[1:], weights[1:], strict=True):
        out.add_(term, alpha=weight)
    return out
