"""What `corrupt` refuses, and that each refusal says what to do."""

import subprocess
import sys

import numpy as np
import pytest

from ops.corruptions import CORRUPTIONS, DETERMINISTIC_CORRUPTIONS, Key, corrupt
from ops.errors import ShiftlakeError

GREY = np.full((224, 224, 3), 128, np.uint8)


@pytest.mark.parametrize("severity", [0, 6, -1, 2.0, "3", None, True])
def test_severities_are_one_to_five(severity):
    with pytest.raises(ShiftlakeError, match="1, 2, 3, 4 or 5"):
        corrupt(GREY, "contrast", severity)


def test_a_severity_may_be_numpys():
    assert np.array_equal(corrupt(GREY, "contrast", np.int64(2)), corrupt(GREY, "contrast", 2))


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("gausian_noise", "gaussian_noise"),
        ("jpeg", "jpeg_compression"),
        ("blur", "glass_blur"),
        ("rain", ""),
    ],
)
def test_an_unknown_name_is_told_with_the_near_ones(name, near):
    with pytest.raises(ShiftlakeError, match="no corruption of this name") as refusal:
        corrupt(GREY, name, 1, key="a")
    assert near in refusal.value.remedy
    assert all(known in str(refusal.value) for known in CORRUPTIONS)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (GREY / 255, "float64"),
        (GREY.astype(np.int64), "int64"),
        (GREY.tolist(), "list"),
        (GREY[:200], r"\(200, 224, 3\)"),
        (GREY[..., 0], r"\(224, 224\)"),
        (np.zeros((224, 224, 4), np.uint8), r"\(224, 224, 4\)"),
        (np.zeros((1, 1, 3), np.uint8), r"\(1, 1, 3\)"),
        (np.zeros((0, 224, 3), np.uint8), r"\(0, 224, 3\)"),
    ],
)
def test_an_image_of_another_kind_or_size_is_refused(image, message):
    with pytest.raises(ShiftlakeError, match=message):
        corrupt(image, "contrast", 1)


def test_an_image_of_another_published_size_is_told_its_preset():
    with pytest.raises(ShiftlakeError, match="imagenet_299"):
        corrupt(np.zeros((299, 299, 3), np.uint8), "contrast", 1)
    with pytest.raises(ShiftlakeError, match=r"needs"):
        corrupt(GREY, "contrast", 1, preset="imagenet_299")


def test_an_unknown_preset_or_mode_is_refused():
    with pytest.raises(ShiftlakeError, match="no table"):
        corrupt(GREY, "contrast", 1, preset="imagenet")
    with pytest.raises(ShiftlakeError, match="mode"):
        corrupt(GREY, "contrast", 1, mode="quick")


def test_random_corruptions_need_exactly_one_source_of_draws():
    with pytest.raises(ShiftlakeError, match="neither"):
        corrupt(GREY, "fog", 1)
    with pytest.raises(ShiftlakeError, match="both"):
        corrupt(GREY, "fog", 1, key="a", rng=np.random.RandomState(0))
    with pytest.raises(ShiftlakeError, match="Generator"):
        corrupt(GREY, "gaussian_noise", 1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("corruption", ["brightness", "contrast", "saturate"])
def test_what_draws_nothing_needs_no_source_and_ignores_the_one_given(corruption):
    assert corruption in DETERMINISTIC_CORRUPTIONS
    rng = np.random.RandomState(0)
    plain = corrupt(GREY, corruption, 1)
    assert np.array_equal(plain, corrupt(GREY, corruption, 1, rng=rng))
    assert np.array_equal(plain, corrupt(GREY, corruption, 1, key="a"))
    assert rng.random_sample() == np.random.RandomState(0).random_sample()


def test_a_string_is_the_key_of_the_source_image():
    by_string = corrupt(GREY, "gaussian_noise", 1, key="n01440764/x")
    assert np.array_equal(by_string, corrupt(GREY, "gaussian_noise", 1, key=Key("n01440764/x")))


def test_the_names_can_be_had_without_the_heavy_packages():
    code = "import sys, ops.corruptions; print({'numba', 'cv2', 'torch', 'scipy'} & {*sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"
