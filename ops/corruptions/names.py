"""The names of the corruptions, in the order of the papers and tables."""

from __future__ import annotations

# Hendrycks and Dietterich (arXiv:1903.12261), table 1: noise, blur, weather, digital.
BENCHMARK_CORRUPTIONS: tuple[str, ...] = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
)
# Published beside the 15 for validation; they enter no mCE.
EXTRA_CORRUPTIONS: tuple[str, ...] = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
CORRUPTIONS: tuple[str, ...] = BENCHMARK_CORRUPTIONS + EXTRA_CORRUPTIONS
SEVERITIES: tuple[int, ...] = (1, 2, 3, 4, 5)
# These draw no random number: the same image and severity always give the same result.
DETERMINISTIC_CORRUPTIONS: tuple[str, ...] = (
    "defocus_blur",
    "zoom_blur",
    "brightness",
    "contrast",
    "pixelate",
    "jpeg_compression",
    "gaussian_blur",
    "saturate",
)
