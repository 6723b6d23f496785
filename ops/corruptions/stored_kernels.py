"""Kernels held as data: those of every parameter that a benchmark has, bit for bit.

The official code's kernels hang on the processor. NumPy computes ``exp`` with other instructions
where there is AVX-512 than where there is AVX2, OpenCV filters with whatever it finds, and where a
picture is flat the last bit of a weight decides the grey level. Measured between NumPy's two:
gaussian_blur changes by at most one level, on up to 1e-5 of the samples of a photograph and 2e-3 of
those of flat tiles; glass_blur, spatter and elastic_transform did not change. Followed are NumPy
with AVX-512 and OpenCV with AVX2, which the stored outputs of the reference were made with; the
data was made by ``python -m tests.corruptions.make_kernels``.

Here: reading ``data/kernels.json``. What is computed for other parameters is where it is used.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_FILE = Path(__file__).with_name("data") / "kernels.json"

Doubles = npt.NDArray[np.float64]


def gaussian(sigma: float, truncate: float) -> Doubles | None:
    """Weights of a sampled gaussian, as `ops.corruptions.gaussian.gaussian_pairs` has them.

    Parameters
    ----------
    sigma : float
        Standard deviation, in samples.
    truncate : float
        Where the kernel ends, in standard deviations.

    Returns
    -------
    float64 array, shape (radius + 1,), or None
        From the middle outwards; none for a gaussian that no table has.
    """
    return _kernels()["gaussian"].get((float(sigma), float(truncate)))


def distortion(sigma: float, taps: int) -> Doubles:
    """Weights of DeepCorrect's blur, float64 of shape (ceil(taps / 2),) from the middle outwards.

    With an even number of taps the first is half a pixel from the middle. There are no others
    than those of its levels.
    """
    return _kernels()["distortion"][float(sigma), float(taps)]


def disk(radius: float, alias_sigma: float) -> npt.NDArray[np.float32] | None:
    """A softened disk, as `ops.corruptions.defocus_blur.disk_kernel` has it, if a table has."""
    flat = _kernels()["disk"].get((float(radius), float(alias_sigma)))
    if flat is None:
        return None
    # Stored from the middle row down: n * (n + 1) / 2 weights.
    half = flat.reshape(-1, math.isqrt(2 * len(flat)))
    return np.concatenate((half[:0:-1], half)).astype(np.float32)


@lru_cache(maxsize=1)
def _kernels() -> dict[str, dict[tuple[float, float], Doubles]]:
    stored: dict[str, list[tuple[float, float, str]]] = json.loads(_FILE.read_text("utf-8"))
    return {
        kind: {(one, other): _numbers(weights) for one, other, weights in rows}
        for kind, rows in stored.items()
    }


def _numbers(weights: str) -> Doubles:
    numbers = np.array([float.fromhex(weight) for weight in weights.split()])
    numbers.setflags(write=False)
    return numbers
