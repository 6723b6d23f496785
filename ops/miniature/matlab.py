"""MATLAB files with fixed bytes, as the ILSVRC devkit and the Caltech annotations are."""

from __future__ import annotations

import io
from typing import Any

from scipy.io import savemat


def mat(**variables: object) -> bytes:
    """Return a MATLAB 5 file of the variables."""
    target: Any = io.BytesIO()
    savemat(target, variables)
    # The first 116 bytes are free text, in which SciPy writes the time.
    return b"MATLAB 5.0 MAT-file, miniature upstream".ljust(116) + bytes(target.getvalue()[116:])
