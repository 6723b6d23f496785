"""Functions compiled to machine code: the one way this project uses numba.

No fast-math anywhere: a sum keeps its order and no product is fused into one, so that the same
input gives the same bits whatever the processor. Compiled code is kept beside its source; where
that cannot be written, it is compiled again in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(signature: Any = None, *, inline: bool = False) -> Callable[[_Function], _Function]:
    """Compile a function without the interpreter's lock.

    Parameters
    ----------
    signature : numba signature, optional
        Types to compile for when the module is imported; by default at the first call.
    inline : bool
        Whether to put the function's code into its callers.

    Returns
    -------
    callable
        The decorator.
    """
    import numba

    def decorate(function: _Function) -> _Function:
        options: Any = {"nogil": True, "error_model": "numpy", "forceinline": inline}
        found: Any
        try:
            found = numba.njit(signature, cache=True, **options)(function)
        except RuntimeError:  # a cache can be written neither beside the source nor at home
            found = numba.njit(signature, **options)(function)
        return cast(_Function, found)

    return decorate
