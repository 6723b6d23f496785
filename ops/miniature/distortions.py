"""Simple stand-ins for the nineteen corruptions, of the right character and rising with severity.

They only fill the miniature's ImageNet-C and CIFAR-C archives. The real corruptions, with the
published parameters, are in `ops.corruptions`.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

Batch = NDArray[np.float32]
Distortion = Callable[[Batch, float, np.random.Generator], Batch]

GROUPS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    "weather": ("snow", "frost", "fog", "brightness"),
    "digital": ("contrast", "elastic_transform", "pixelate", "jpeg_compression"),
    "extra": ("speckle_noise", "gaussian_blur", "spatter", "saturate"),
}
"""Archive of ImageNet-C -> corruptions in it."""


def distort(
    name: str, images: NDArray[np.uint8], severity: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Distort a batch.

    Parameters
    ----------
    name : str
        Corruption, one of those in `GROUPS`.
    images : ndarray of uint8, shape (n, height, width, 3)
        Clean pictures.
    severity : int
        1 to 5.
    rng : numpy.random.Generator
        Stream of whatever is random.

    Returns
    -------
    ndarray of uint8, shape (n, height, width, 3)
    """
    clean: Batch = (images / np.float32(255)).astype(np.float32)
    spoilt = _DISTORTIONS[name](clean, severity / 5, rng)
    return np.asarray((np.clip(spoilt, 0, 1) * 255).round(), dtype=np.uint8)


def _normal(x: Batch, rng: np.random.Generator) -> Batch:
    return rng.standard_normal(x.shape, dtype=np.float32)


def _field(x: Batch, rng: np.random.Generator, sigma: float) -> Batch:
    """Return smooth noise of shape (n, height, width, 1), from 0 to 1 in each picture."""
    rough = rng.standard_normal((*x.shape[:3], 1), dtype=np.float32)
    smooth = ndimage.gaussian_filter(rough, (0, sigma, sigma, 0), mode="wrap")
    smooth -= smooth.min(axis=(1, 2), keepdims=True)
    return np.asarray(smooth / smooth.max(axis=(1, 2), keepdims=True), dtype=np.float32)


def _gaussian_noise(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    return x + np.float32(0.27 * level) * _normal(x, rng)


def _shot_noise(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    photons = 60 * (1.12 - level) ** 1.5
    return np.asarray(rng.poisson(x * photons) / photons, dtype=np.float32)


def _impulse_noise(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    hit = rng.random(x.shape, dtype=np.float32)
    share = 0.2 * level
    return np.where(hit < share / 2, 0, np.where(hit > 1 - share / 2, 1, x)).astype(np.float32)


def _speckle_noise(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    return x + np.float32(0.5 * level) * x * _normal(x, rng)


def _gaussian_blur(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    sigma = x.shape[1] / 64 * 3.4 * level
    return np.asarray(ndimage.gaussian_filter(x, (0, sigma, sigma, 0)), dtype=np.float32)


def _defocus_blur(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    width = 1 + 2 * round(x.shape[1] / 64 * 4 * level)
    return np.asarray(ndimage.uniform_filter(x, (1, width, width, 1)), dtype=np.float32)


def _glass_blur(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    n, high, wide, _ = x.shape
    reach = 1 + round(high / 64 * 4 * level)
    step = rng.integers(-reach, reach + 1, (2, n, high, wide))
    rows = np.clip(np.arange(high)[None, :, None] + step[0], 0, high - 1)
    columns = np.clip(np.arange(wide)[None, None, :] + step[1], 0, wide - 1)
    return np.asarray(x[np.arange(n)[:, None, None], rows, columns])


def _motion_blur(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    width = 1 + 2 * round(x.shape[2] / 64 * 7 * level)
    return np.asarray(ndimage.uniform_filter1d(x, width, axis=2), dtype=np.float32)


def _zoomed(x: Batch, factor: float) -> Batch:
    high, wide = x.shape[1:3]
    rows = ((np.arange(high) - high / 2) / factor + high / 2).astype(int)
    columns = ((np.arange(wide) - wide / 2) / factor + wide / 2).astype(int)
    return np.asarray(x[:, rows][:, :, columns])


def _zoom_blur(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    factors = np.linspace(1, 1 + 0.9 * level, 9)
    layers = np.stack([_zoomed(x, float(factor)) for factor in factors])
    return np.asarray(layers.mean(axis=0), dtype=np.float32)


def _snow(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    flakes = (rng.random((*x.shape[:3], 1)) < 0.01 + 0.045 * level).astype(np.float32)
    fallen = ndimage.uniform_filter(flakes, (1, 5, 2, 1)) * 3
    pale = x.mean(axis=3, keepdims=True) * 0.6 + 0.3
    return np.asarray(x * (1 - 0.4 * level) + pale * 0.4 * level + fallen * 0.6, dtype=np.float32)


def _frost(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    crystals = np.abs(_field(x, rng, 2.2) - 0.5) < 0.015 + 0.05 * level
    ice = ndimage.gaussian_filter(crystals.astype(np.float32), (0, 0.6, 0.6, 0))
    tint = np.array([0.82, 0.9, 1.0], dtype=np.float32)
    return np.asarray(x * (1 - 0.3 * level - 0.5 * ice) + tint * (ice * 0.75), dtype=np.float32)


def _fog(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    veil = 0.55 + 0.45 * _field(x, rng, x.shape[1] / 8)
    return np.asarray(x * (1 - 0.62 * level) + 0.62 * level * veil, dtype=np.float32)


def _brightness(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    return x + np.float32(0.36 * level)


def _contrast(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    middle = x.mean(axis=(1, 2), keepdims=True)
    return np.asarray((x - middle) * (1 - 0.84 * level) + middle, dtype=np.float32)


def _elastic_transform(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    n, high, wide, _ = x.shape
    reach = high / 64 * 26 * level
    shift = [(_field(x, rng, 3)[..., 0] - 0.5) * reach for _ in range(2)]
    rows = np.clip(np.arange(high)[None, :, None] + shift[0], 0, high - 1).round().astype(int)
    columns = np.clip(np.arange(wide)[None, None, :] + shift[1], 0, wide - 1).round().astype(int)
    return np.asarray(x[np.arange(n)[:, None, None], rows, columns])


def _pixelate(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    high, wide = x.shape[1:3]
    block = max(1, round(high / 64 * (1 + 9 * level)))
    rows = np.minimum(np.arange(high) // block * block + block // 2, high - 1)
    columns = np.minimum(np.arange(wide) // block * block + block // 2, wide - 1)
    return np.asarray(x[:, rows][:, :, columns])


def _jpeg_compression(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    pictures = []
    for picture in (np.clip(x, 0, 1) * 255).astype(np.uint8):
        squeezed = io.BytesIO()
        Image.fromarray(picture).save(squeezed, "JPEG", quality=round(30 - 26 * level))
        pictures.append(np.asarray(Image.open(squeezed)))
    return np.asarray(np.stack(pictures) / 255, dtype=np.float32)


def _spatter(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    drops = _field(x, rng, 2) > 0.78 - 0.26 * level
    mud = np.array([0.25, 0.17, 0.08], dtype=np.float32)
    return np.where(drops, mud, x).astype(np.float32)


def _saturate(x: Batch, level: float, rng: np.random.Generator) -> Batch:
    gray = x.mean(axis=3, keepdims=True)
    return np.asarray(gray + (x - gray) * (1 + 8 * level), dtype=np.float32)


_DISTORTIONS: dict[str, Distortion] = {
    "gaussian_noise": _gaussian_noise,
    "shot_noise": _shot_noise,
    "impulse_noise": _impulse_noise,
    "defocus_blur": _defocus_blur,
    "glass_blur": _glass_blur,
    "motion_blur": _motion_blur,
    "zoom_blur": _zoom_blur,
    "snow": _snow,
    "frost": _frost,
    "fog": _fog,
    "brightness": _brightness,
    "contrast": _contrast,
    "elastic_transform": _elastic_transform,
    "pixelate": _pixelate,
    "jpeg_compression": _jpeg_compression,
    "speckle_noise": _speckle_noise,
    "gaussian_blur": _gaussian_blur,
    "spatter": _spatter,
    "saturate": _saturate,
}
