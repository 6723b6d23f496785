"""Four channels of a pixel worked on at once, for compiled code.

The compiler turns loops into vector code, not the few samples of one pixel. This is the one
operation on them that bilinear sampling needs: RGB and an idle fourth channel fill a vector
register. Each product and sum is rounded like any other, so the bits are those of a plain loop.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4


def _weigh_four(
    typing: Any, image: Any, starts: Any, first: Any, second: Any, out: Any, start: Any
) -> Any:
    """``out[start + c]`` = the sum of ``image[starts[i] + c] * first[i] * second[i]`` over i.

    i runs over four pixels, in order, and c over their four channels. ``image`` and ``out`` are
    flat float32 arrays whose bounds are not checked; the weights are of either precision, which
    is that of the sum too, and the sum is stored in single precision.
    """
    signature = types.void(image, starts, first, second, out, types.intp)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        precision = ir.VectorType(context.get_data_type(signature.args[2].dtype), LANES)
        single = ir.VectorType(ir.FloatType(), LANES)

        def address(argument: int, index: Any) -> Any:
            array = context.make_array(signature.args[argument])
            data = array(context, builder, values[argument]).data
            return builder.bitcast(builder.gep(data, [index]), single.as_pointer())

        def in_every_lane(weight: Any) -> Any:
            undefined = ir.Constant(precision, ir.Undefined)
            first_lane = ir.Constant(ir.IntType(32), 0)
            one = builder.insert_element(undefined, weight, first_lane)
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return builder.shuffle_vector(one, undefined, lanes)

        unpack: Any = cgutils.unpack_tuple
        parts = [unpack(builder, part) for part in values[1:4]]
        total = None
        for index, one, other in zip(*parts, strict=True):
            pixel = builder.load(address(0, index), align=4)
            if precision != single:
                pixel = builder.fpext(pixel, precision)
            weighed = builder.fmul(builder.fmul(pixel, in_every_lane(one)), in_every_lane(other))
            total = weighed if total is None else builder.fadd(total, weighed)
        if precision != single:
            total = builder.fptrunc(total, single)
        builder.store(total, address(4, values[5]), align=4)
        return context.get_dummy_value()

    return signature, generate


weigh_four: Any = intrinsic(_weigh_four)
