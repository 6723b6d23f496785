"""Functions compiled to machine code: the one way this project uses numba.

No fast-math anywhere: a sum keeps its order and no product is fused into one, so that the same
input gives the same bits whatever the processor. Compiled code is kept beside its source; where
that cannot be written, it is compiled again in each process.

numba asks whether a kept function is still that of its own file. But what it calls is compiled
into it, wherever that stands, and so here all files with compiled functions count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
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
        found: Any = numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
        cache = _cache(function)
        if cache is not None:
            found._cache = cache
        if signature is not None:
            found.compile(signature)
            found.disable_compile()
        return cast(_Function, found)

    return decorate


def _cache(function: Callable[..., object]) -> Any:
    """Where numba keeps a function, or none if it can write neither beside the source nor at home.

    numba tells an outdated one by a stamp; to the hash of the function's own file, which it
    takes, that of the others is added.
    """
    from numba.core import caching

    parts: Any = caching  # numba has no types
    try:
        cache = parts.FunctionCache(function)
    except RuntimeError:
        return None
    locator = cache._impl.locator
    cache._cache_file = parts.IndexDataCacheFile(
        cache_path=locator.get_cache_path(),
        filename_base=cache._impl.filename_base,
        source_stamp=(locator.get_source_stamp(), sources(_package(function.__code__.co_filename))),
    )
    return cache


def _package(file: str) -> Path:
    """The folder of the outermost package that a source file belongs to."""
    folder = Path(file).resolve().parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


@lru_cache(maxsize=8)
def sources(package: Path) -> str:
    """Hash of all that can be compiled into a function of a package.

    Parameters
    ----------
    package : Path
        Folder of the package.

    Returns
    -------
    str
        SHA-256 of its files that say "compiled" or "numba", with their names; it takes some
        milliseconds, once in a process.
    """
    total = hashlib.sha256()
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                content = Path(folder, name).read_bytes()
                if b"compiled" in content or b"numba" in content:
                    total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()
