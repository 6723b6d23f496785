"""Torch's settings that decide the bits of a result, held for an evaluation and restored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch.utils import deterministic

from ops.inference.record import Numerics


@contextmanager
def reproducible(numerics: Numerics) -> Iterator[None]:
    """Hold torch to the numerics of an evaluation, and restore its settings.

    The settings are those of the whole process. On a GPU, where the numerics are deterministic,
    an operator that has no deterministic form raises; where they are not, cuDNN may choose its
    algorithms by trying them, so that two evaluations may differ in their last bits. On a CPU
    every pass is one thread's work, and nothing is left to chance.

    Parameters
    ----------
    numerics : Numerics
    """
    with ExitStack() as former:
        if numerics.compiled:
            _hold_compiler(former)
        if numerics.device == "cuda":
            _hold_algorithms(former, numerics)
            _hold_products(former, numerics)
        # The weights of an autocast pass are cast once for the whole evaluation: their copies are
        # dropped when the outermost autocast is left, which would otherwise be every pass.
        former.enter_context(torch.autocast(numerics.device, enabled=False))
        yield


def _hold_compiler(former: ExitStack) -> None:
    # A network that was compiled too often would run uncompiled from then on, and say nothing.
    # Imported here, since it takes seconds.
    import torch._dynamo.config as compiler

    former.callback(
        setattr, compiler, "fail_on_recompile_limit_hit", compiler.fail_on_recompile_limit_hit
    )
    compiler.fail_on_recompile_limit_hit = True


def _hold_algorithms(former: ExitStack, numerics: Numerics) -> None:
    if numerics.compiled:
        # Tells the compiler too, whose import costs seconds.
        was, warned = (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        )
        former.callback(torch.use_deterministic_algorithms, was, warn_only=warned)
        torch.use_deterministic_algorithms(numerics.deterministic)
    else:
        former.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
        torch.set_deterministic_debug_mode("error" if numerics.deterministic else "default")
    # Nothing here reads memory it did not write, and filling every batch with NaN costs time.
    filled = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    former.callback(setattr, deterministic, "fill_uninitialized_memory", filled)
    deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def _hold_products(former: ExitStack, numerics: Numerics) -> None:
    # Always: torch looks once, at the first product of a process, and without it would refuse
    # every product of the deterministic models that come later.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    matmul = torch.backends.cuda.matmul
    former.callback(setattr, matmul, "allow_tf32", matmul.allow_tf32)
    matmul.allow_tf32 = numerics.tf32
    former.enter_context(
        torch.backends.cudnn.flags(
            enabled=True,
            benchmark=not numerics.deterministic,
            deterministic=numerics.deterministic,
            allow_tf32=numerics.tf32,
        )
    )
