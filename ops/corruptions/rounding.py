"""Elementary functions that are rounded once, from twice the digits that a double has.

NumPy's ``exp`` and the C library's choose their code by the processor, and the last bit with it:
``numpy.exp`` with AVX-512 differs from that with AVX2, glibc's with FMA from that without. What is
here has one value everywhere. Here: those few functions that kernels are made of.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

_DECIMAL = Context(prec=40)
# Sine and cosine are summed in whole numbers of this many binary places.
_PLACES = 192
_ONE = 1 << _PLACES
_PI = 0x3243F6A8885A308D313198A2E03707344A4093822299F31D008  # times 2**200


def exp(x: float) -> float:
    """The exponential function, correctly rounded."""
    return float(_DECIMAL.exp(Decimal(x)))


def sin_cos(angle: float) -> tuple[float, float]:
    """Sine and cosine of an angle in radians, at most a few turns; correctly rounded."""
    numerator, denominator = float(angle).as_integer_ratio()
    sine, cosine = _series((numerator << _PLACES) // denominator)
    return sine / _ONE, cosine / _ONE


@lru_cache(maxsize=4096)
def cos_pi(numerator: int, denominator: int) -> float:
    """Cosine of a fraction of half a turn, correctly rounded.

    Parameters
    ----------
    numerator, denominator : int
        The angle is pi times their quotient.
    """
    part = numerator % (2 * denominator)
    part = min(part, 2 * denominator - part)
    if 2 * part == denominator:
        return 0.0
    return _series((_PI * part // denominator) >> 8)[1] / _ONE


def _series(angle: int) -> tuple[int, int]:
    """Sine and cosine by their power series, in units of the last place."""
    size, sine, cosine, term, n = abs(angle), 0, 0, _ONE, 0
    while term:
        cosine += -term if n & 2 else term
        term = (term * size >> _PLACES) // (n + 1)
        sine += -term if n & 2 else term
        term = (term * size >> _PLACES) // (n + 2)
        n += 2
    return -sine if angle < 0 else sine, cosine
