"""Sixteen neighbouring samples of a row at a time, for compiled code.

The compiler turns loops over whole rows into vector code. It does not where every few samples come
from another place, as in a zoom: then a kernel names the places, and what is here works on the
samples. A processor with narrower registers takes several steps; the bits are the same.

Nothing is checked: a row has `LANES` samples to spare behind its end, and what is written beyond
the samples that are meant is overwritten by those that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 16


def _addresses(
    context: Any, builder: Any, signature: Any, values: Any
) -> Callable[[int, Any], tuple[Any, int]]:
    """Address of the samples of an argument from a place on, and their alignment in bytes."""

    def address(argument: int, place: Any) -> tuple[Any, int]:
        array = signature.args[argument]
        data = context.make_array(array)(context, builder, values[argument]).data
        lanes = ir.VectorType(context.get_data_type(array.dtype), LANES)
        first = builder.bitcast(builder.gep(data, [place]), lanes.as_pointer())
        return first, array.dtype.bitwidth // 8

    return address


def _interpolate(
    typing: Any, out: Any, at: Any, row: Any, start: Any, step: Any, weights: Any
) -> Any:
    """``out[at:] = a + weights[at:] * (b - a)``; a, b are the row from start, start + step on."""
    place = types.intp
    signature = types.void(out, place, row, place, place, weights)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _addresses(context, builder, signature, values)

        def load(argument: int, place: Any) -> Any:
            first, aligned = address(argument, place)
            return builder.load(first, align=aligned)

        a = load(2, values[3])
        b = load(2, builder.add(values[3], values[4]))
        between = builder.fmul(load(5, values[1]), builder.fsub(b, a))
        first, aligned = address(0, values[1])
        builder.store(builder.fadd(a, between), first, align=aligned)
        return context.get_dummy_value()

    return signature, generate


def _add_weighted(
    typing: Any,
    out: Any,
    at: Any,
    base: Any,
    row: Any,
    start: Any,
    step: Any,
    near: Any,
    far: Any,
) -> Any:
    """``out[at:] = (base[at:] + a * near[at:]) + b * far[at:]``, a and b as in `interpolate`."""
    place = types.intp
    signature = types.void(out, place, base, row, place, place, near, far)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _addresses(context, builder, signature, values)

        def load(argument: int, place: Any) -> Any:
            first, aligned = address(argument, place)
            return builder.load(first, align=aligned)

        a = builder.fmul(load(3, values[4]), load(6, values[1]))
        b = builder.fmul(load(3, builder.add(values[4], values[5])), load(7, values[1]))
        total = builder.fadd(builder.fadd(load(2, values[1]), a), b)
        first, aligned = address(0, values[1])
        builder.store(total, first, align=aligned)
        return context.get_dummy_value()

    return signature, generate


interpolate: Any = intrinsic(_interpolate)
add_weighted: Any = intrinsic(_add_weighted)
