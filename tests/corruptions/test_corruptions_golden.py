"""Keyed outputs are those that stored datasets hold, on every processor."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.corruptions import golden

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("corruption", golden.CORRUPTIONS)
def test_keyed_corruptions_and_their_files_are_those_stored(corruption):
    if corruption not in golden.available():
        pytest.skip("frost needs the published photographs")
    made = list(golden.corruptions([corruption]))
    assert len(made) == 5 * 5
    message = golden.told("corruptions", made)
    assert not message, message


def test_kernels_are_those_stored():
    message = golden.told("kernels", golden.kernels())
    assert not message, message


def test_distortions_are_those_stored():
    made = list(golden.distortions())
    assert len(made) == 12 * 4
    message = golden.told("distortions", made)
    assert not message, message


def test_a_change_is_told_with_what_to_do_about_it():
    ((name, _), *_) = golden.stored()["distortions"].items()
    told = golden.told("distortions", [(name, "0" * 16)])
    assert name in told
    assert "raise ENGINE_VERSION in ops/corruptions/distortions.py" in told
    assert "python -m tests.corruptions.golden --write" in told
    for part, file in golden.VERSIONS.items():
        assert golden.stored()[part]
        assert "\nENGINE_VERSION = " in (ROOT / file).read_text()


def elsewhere(**environment):
    """Compare all digests in a process that takes this processor for another."""
    command = [sys.executable, "-m", "tests.corruptions.golden"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def numpy_features():
    """What NumPy chooses its code by, of this processor; its names differ between versions."""
    core = np._core._multiarray_umath
    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


@pytest.mark.skipif(sys.platform != "linux", reason="the names of features are those of Linux")
def test_no_digest_depends_on_the_processor_that_numpy_opencv_blas_and_libc_see():
    elsewhere(
        NPY_DISABLE_CPU_FEATURES=" ".join(numpy_features()),
        OPENCV_CPU_DISABLE="AVX512_SKX,AVX2,FP16,AVX,FMA3",
        OPENCV_IPP="disabled",
        OPENBLAS_CORETYPE="Prescott",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4,-AVX",
    )


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["x86-64-v2", "haswell"])
def test_no_digest_depends_on_the_processor_compiled_for(processor, tmp_path):
    elsewhere(NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES="", NUMBA_CACHE_DIR=str(tmp_path))
