"""DeepCorrect's blur and noise have the levels, kernels and borders of their presets."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from ops.corruptions import Key, distortions
from ops.corruptions.distortions import LEVELS, distort, parameters, presets, resized
from ops.errors import ShiftlakeError

CIFAR, IMAGENET = "cifar_100_published_code", "imagenet_published_code"
RNG = np.random.default_rng(3)
SMOOTH = np.asarray(
    Image.fromarray(RNG.integers(0, 256, (9, 11, 3), dtype=np.uint8)).resize((96, 80), 3)
)


def test_the_levels_of_the_paper() -> None:
    levels = {
        "imagenet": ([1, 2, 3, 4, 5, 6], [10, 20, 40, 60, 80, 100]),
        "cifar_100": ([0.5, 1, 1.5, 2, 2.5, 3], [5, 10, 15, 20, 25, 30]),
    }
    assert len(presets()) == 4
    for preset in presets():
        blurs, noises = levels[preset.removesuffix("_paper").removesuffix("_published_code")]
        for level, blur, noise in zip(LEVELS, blurs, noises, strict=True):
            found = parameters("gaussian_blur", level, preset)
            assert found["sigma"] == blur
            assert found["taps"] == 4 * blur + (not preset.endswith("_paper"))
            assert parameters("gaussian_noise", level, preset)["sigma"] == noise


def test_a_border_of_zeros_darkens_the_edges() -> None:
    white = np.full((32, 32, 3), 255, np.uint8)
    found = distort(white, "gaussian_blur", 6, preset=CIFAR)[..., 0] / 255
    assert np.mean(found < 0.9999) == pytest.approx(0.61, abs=0.005)
    assert found.mean() == pytest.approx(0.867, abs=0.0005)
    for corner in (found[0, 0], found[0, -1], found[-1, 0], found[-1, -1]):
        assert corner == pytest.approx(0.32, abs=0.005)


def test_at_256_pixels_the_dark_border_stays_outside_the_crop_of_227() -> None:
    white = np.full((256, 256, 3), 255, np.uint8)
    found = distort(white, "gaussian_blur", 6, preset=IMAGENET)
    assert found.dtype == np.uint8
    assert found[14:241, 14:241].min() == 255
    assert found[0, 0, 0] < 100
    # Distorted after the crop, as the published training does, it is inside.
    late = distort(np.full((227, 227, 3), 255, np.uint8), "gaussian_blur", 6, preset=IMAGENET)
    assert np.mean(late[..., 0] < 255) == pytest.approx(0.20, abs=0.01)
    assert late.mean() / 255 == pytest.approx(0.962, abs=0.001)


@pytest.mark.parametrize("level", LEVELS)
def test_blur_is_opencvs_with_a_constant_border(level: int) -> None:
    taps, sigma = (parameters("gaussian_blur", level, CIFAR)[name] for name in ("taps", "sigma"))
    theirs = cv2.GaussianBlur(
        SMOOTH.astype(np.float32), (taps, taps), sigma, None, sigma, cv2.BORDER_CONSTANT
    )
    mine = distort(SMOOTH, "gaussian_blur", level, preset=CIFAR)
    assert mine.dtype == np.float32
    assert np.abs(mine - theirs).max() < 5e-5
    assert np.array_equal(
        distort(SMOOTH.astype(np.float32), "gaussian_blur", level, preset=CIFAR), mine
    )


def test_fixed_point_is_within_one_grey_level_of_rounding() -> None:
    taps, sigma = 13, 3
    exact = cv2.GaussianBlur(
        SMOOTH.astype(np.float64), (taps, taps), sigma, None, sigma, cv2.BORDER_CONSTANT
    )
    fixed = distort(SMOOTH, "gaussian_blur", 3, preset=IMAGENET).astype(int)
    differs = np.abs(fixed - np.rint(exact))
    assert differs.max() <= 1
    assert 0 < differs.mean() < 0.08


def test_the_kernel_of_the_paper_is_a_tap_shorter_and_normalised() -> None:
    flat = np.full((64, 64, 3), 100, np.uint8)
    for preset in ("imagenet_paper", "cifar_100_paper"):
        for level in LEVELS:
            found = distort(flat, "gaussian_blur", level, preset=preset)
            assert found[30:34, 30:34] == pytest.approx(100, abs=1e-3)
            dot = np.zeros((65, 65, 3), np.uint8)
            dot[32, 32] = 255
            spread = distort(dot, "gaussian_blur", level, preset=preset)[..., 0]
            taps = parameters("gaussian_blur", level, preset)["taps"]
            assert np.count_nonzero(spread.any(axis=0)) == taps
            assert np.count_nonzero(spread.any(axis=1)) == taps


def test_noise_is_neither_clipped_nor_rounded_and_has_the_levels_spread() -> None:
    black = np.zeros((256, 256, 3), np.uint8)
    for level, sigma in zip(LEVELS, (10, 20, 40, 60, 80, 100), strict=True):
        found = distort(black, "gaussian_noise", level, preset=IMAGENET, key="a picture")
        assert found.dtype == np.float32
        assert found.std() == pytest.approx(sigma, rel=0.01)
        assert found.mean() == pytest.approx(0, abs=4 * sigma / np.sqrt(found.size))
        assert found.min() < -3 * sigma
        assert np.any(found != np.rint(found))


def test_the_same_seed_gives_proportional_noise_at_all_levels() -> None:
    grey = np.full((32, 32, 3), 128, np.uint8)

    def noise(level: int) -> np.ndarray:
        rng = np.random.RandomState(1337)
        found = distort(grey, "gaussian_noise", level, preset=CIFAR, rng=rng)
        return (found - 128) / parameters("gaussian_noise", level, CIFAR)["sigma"]

    for level in LEVELS[1:]:
        assert noise(level) == pytest.approx(noise(1), abs=2e-5)


def test_keyed_noise_is_common_to_all_levels_where_the_code_has_it_so() -> None:
    grey = np.full((48, 48, 3), 128, np.uint8)

    def noise(preset: str, level: int) -> np.ndarray:
        key = Key("picture", 0, "distorted_cifar_100")
        found = distort(grey, "gaussian_noise", level, preset=preset, key=key)
        return (found - 128) / parameters("gaussian_noise", level, preset)["sigma"]

    assert noise(CIFAR, 6) == pytest.approx(noise(CIFAR, 1), abs=2e-5)
    for preset in ("cifar_100_paper", IMAGENET):
        related = np.corrcoef(noise(preset, 6).ravel(), noise(preset, 1).ravel())[0, 1]
        assert abs(related) < 0.06


def test_pictures_are_resized_without_keeping_their_ratio() -> None:
    found = resized(SMOOTH, IMAGENET)
    theirs = cv2.resize(SMOOTH, (256, 256), interpolation=cv2.INTER_LINEAR)
    assert np.array_equal(found, theirs)
    assert resized(SMOOTH, CIFAR) is SMOOTH


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gaussian_blur", 0, IMAGENET, None), "no such level"),
        (("gaussian_blur", 7, IMAGENET, None), "no such level"),
        (("motion_blur", 1, IMAGENET, None), "gaussian_blur, gaussian_noise"),
        (("gaussian_blur", 1, "imagenet", None), "cifar_100_paper"),
        (("gaussian_noise", 1, IMAGENET, None), "rng= or key="),
    ],
)
def test_what_does_not_exist_is_refused(arguments: tuple[str, int, str, None], told: str) -> None:
    distortion, level, preset, key = arguments
    with pytest.raises(ShiftlakeError, match=told):
        distort(SMOOTH, distortion, level, preset=preset, key=key)


@pytest.mark.parametrize(
    "image", [SMOOTH / 255, SMOOTH[..., 0], SMOOTH.astype(np.float32)], ids=["double", "2-D", "f32"]
)
def test_what_is_no_8_bit_picture_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ShiftlakeError, match=r"uint8 of shape \(height, width, 3\)"):
        distort(image, "gaussian_blur", 1, preset=IMAGENET)


@pytest.mark.parametrize("level", [1.0, True, "1", None, SMOOTH, [1]])
def test_a_level_is_a_whole_number(level: int) -> None:
    with pytest.raises(ShiftlakeError, match="no such level"):
        distort(SMOOTH, "gaussian_blur", level, preset=IMAGENET)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"key": b"x"}, "no key"),
        ({"key": 0}, "no key"),
        ({"key": ""}, "source_key"),
        ({"rng": 3}, "legacy generator"),
        ({"rng": np.random.default_rng(0)}, "legacy generator"),
        ({"key": "a", "rng": np.random.RandomState(0)}, "both"),
    ],
)
def test_draws_from_elsewhere_are_refused(source: dict[str, Any], told: str) -> None:
    for distortion in ("gaussian_noise", "gaussian_blur"):
        with pytest.raises(ShiftlakeError, match=told):
            distort(SMOOTH, distortion, 1, preset=IMAGENET, **source)


def test_a_key_without_a_dataset_is_of_the_distortions() -> None:
    keys = ["a", Key("a"), Key("a", 0, "distorted"), Key("a", 0, "imagenet_c")]
    made = [
        distort(SMOOTH, "gaussian_noise", np.int64(2), preset=CIFAR, key=key).tobytes()
        for key in keys
    ]
    assert made[0] == made[1] == made[2] != made[3]


@pytest.mark.parametrize("preset", [CIFAR, IMAGENET])
def test_a_border_that_is_not_known_is_refused_and_not_ignored(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = deepcopy(distortions._tables())
    tables[preset]["gaussian_blur"]["border"] = "mirror"
    monkeypatch.setattr(distortions, "_tables", lambda: tables)
    with pytest.raises(ShiftlakeError, match="no such border"):
        distort(SMOOTH, "gaussian_blur", 1, preset=preset)
