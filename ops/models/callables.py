"""Which code ``module:callable`` may name, and the call itself.

A class that derives from ``torch.nn.Module`` makes a network and nothing else, whoever wrote it. A
function may do anything with its arguments: ``numpy:load`` unpickles a file, ``pip._internal:main``
installs one. So functions are taken from trusted packages alone: of this project's models and of
torchvision those that say they return a network, of timm those that it lists as models, and all of
the packages that the person who runs this machine names in ``SHIFTLAKE_CODE``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import typing
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models import timm_source

CODE_VARIABLE = "SHIFTLAKE_CODE"
_BUILT_IN = ("ops.models", "timm", "torchvision")
_NOT_NETWORKS = sys.stdlib_module_names | {"builtins", "__main__"}


def call(reference: str, kwargs: dict[str, Any]) -> Any:
    """Import what a reference names, and call it.

    Parameters
    ----------
    reference : str
        ``module:callable``.
    kwargs : dict
        Its arguments.

    Returns
    -------
    object
        What it returns; a network, if the code is right.

    Raises
    ------
    ShiftlakeError
        If it cannot be imported, is neither a network class nor a function of a trusted package,
        or fails.
    """
    module, _, name = reference.partition(":")
    # Before the import: some modules of the standard library act when they are imported.
    if module.partition(".")[0] in _NOT_NETWORKS:
        raise _refused(reference, "a module of Python itself")
    try:
        made = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # a module raises what it likes while it is imported
        raise ShiftlakeError(
            "The architecture cannot be imported.",
            expected="module:callable on the Python path",
            found=f"{type(error).__name__}: {error}",
            where=reference,
            remedy="check the name, and that the module is installed here and on every worker",
        ) from error
    if not (inspect.isclass(made) and issubclass(made, torch.nn.Module)):
        _check_function(made, module, reference)
        if _within(module, ("timm",)):
            timm_source.refuse_files(kwargs, reference)
    try:
        return made(**kwargs)
    except TypeError as error:
        raise ShiftlakeError(
            "The architecture does not take these arguments.",
            expected="keyword arguments of the callable",
            found=f"{kwargs}: {error}",
            where=reference,
            remedy="correct kwargs in the entry",
        ) from error
    except (Exception, SystemExit) as error:  # so does a network while it is made
        raise ShiftlakeError(
            "The architecture fails while it is made.",
            expected="a network",
            found=f"{type(error).__name__}: {error}",
            where=f"{reference}, {kwargs}",
            remedy="call it in Python with the same arguments, and correct it or them",
        ) from error


def trusted_packages() -> tuple[str, ...]:
    """Packages that ``SHIFTLAKE_CODE`` names, separated by commas."""
    named = (name.strip() for name in os.environ.get(CODE_VARIABLE, "").split(","))
    return tuple(name for name in named if name)


def _check_function(made: Any, module: str, reference: str) -> None:
    if not inspect.isfunction(made):
        raise _refused(reference, f"a {type(made).__name__}")
    # A module shows what it imported as its own: where a function was written counts too.
    for place in (module, str(made.__module__)):
        package = place.partition(".")[0]
        if package in _NOT_NETWORKS or package == "torch":
            raise _refused(reference, f"a function of {place}")
        if _within(place, trusted_packages()):
            continue
        if not _within(place, _BUILT_IN):
            raise ShiftlakeError(
                "The architecture is refused: functions of this package are not trusted.",
                expected="a class that derives from torch.nn.Module, or a function of "
                + ", ".join((*_BUILT_IN, *trusted_packages())),
                found=f"a function of {place}",
                where=reference,
                remedy=f"name the network's class; or, where all of {package} may be run, start "
                f"this with {CODE_VARIABLE}={','.join((*trusted_packages(), package))}, and every "
                "worker too",
            )
        if not _returns_a_network(made):
            raise _refused(reference, f"a function of {place} that returns something else")


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in packages)


def _returns_a_network(function: Any) -> bool:
    if _within(str(function.__module__), ("timm",)):
        # Not all of its functions say what they return, and some that do read any file.
        return bool(importlib.import_module("timm").is_model(function.__name__))
    try:
        returned = typing.get_type_hints(function).get("return")
    except Exception:  # a hint may be any expression
        return False
    return inspect.isclass(returned) and issubclass(returned, torch.nn.Module)


def _refused(reference: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        "The architecture is refused: it is not code that makes a network.",
        expected="a class that derives from torch.nn.Module, or a function of a trusted package "
        "that returns one",
        found=found,
        where=reference,
        remedy="name the network's class, or a function in your package that returns an instance",
    )
