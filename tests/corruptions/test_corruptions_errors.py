"""What `corrupt` refuses, and that each refusal says what to do."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from ops.corruptions import CORRUPTIONS, DETERMINISTIC_CORRUPTIONS, Key, corrupt
from ops.corruptions.batched.corrupt import corrupt_batch
from ops.corruptions.engine import corrupt_all
from ops.corruptions.keyed import Keyed
from ops.errors import ShiftlakeError

GREY = np.full((224, 224, 3), 128, np.uint8)
NO_KEY = r"no key of an image|no source_key of a key"


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


@pytest.mark.parametrize("key", [0, 5, b"x", ("a",), True, "", "a\0b", "\ud800", GREY, 1.5])
@pytest.mark.parametrize("corruption", ["gaussian_noise", "contrast"])
def test_what_is_no_key_is_refused(corruption, key):
    with pytest.raises(ShiftlakeError, match=NO_KEY):
        corrupt(GREY, corruption, 1, key=key)
    with pytest.raises(ShiftlakeError, match=NO_KEY):
        next(corrupt_all(GREY, [(corruption, 1)], key))


@pytest.mark.parametrize("keys", ["ab", ["a"], ["a", 5], ["a", b"b"], ["a", ""], None, {"a", "b"}])
def test_a_batch_needs_a_key_for_each_image(keys):
    images = torch.zeros(2, 3, 224, 224, dtype=torch.uint8)
    with pytest.raises(ShiftlakeError, match=f"{NO_KEY}|key of its own"):
        corrupt_batch(images, "contrast", 1, keys)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("",), "source_key"),
        ((5,), "source_key"),
        ((b"a",), "source_key"),
        ((None,), "source_key"),
        (("a\0b",), "source_key"),
        (("a", 1.5), "seed"),
        (("a", "1"), "seed"),
        (("a", True), "seed"),
        (("a", None), "seed"),
        (("a", 2**63), "seed"),
        (("a", -(2**63) - 1), "seed"),
        (("a", 0, ""), "dataset"),
        (("a", 0, 3), "dataset"),
        (("a", 0, "x\0y"), "dataset"),
    ],
)
def test_a_key_is_made_of_text_and_a_whole_number(arguments, told):
    with pytest.raises(ShiftlakeError, match=told) as caught:
        Key(*arguments)
    assert caught.value.where == f"Key.{told}"


def test_seeds_are_of_64_bits_and_may_be_numpys():
    assert Key("a", np.int64(7)) == Key("a", 7)
    assert type(Key("a", np.uint8(7)).seed) is int
    keys = [Key("a", seed) for seed in (-(2**63), -1, 0, 2**63 - 1)]
    noise = [corrupt(GREY, "gaussian_noise", 1, key=key).tobytes() for key in keys]
    assert len(set(noise)) == len(keys)


def test_a_key_without_a_dataset_is_of_what_is_made():
    ours = corrupt(GREY, "gaussian_noise", 1, key=Key("a"))
    assert np.array_equal(
        ours, corrupt(GREY, "gaussian_noise", 1, key=Key("a", dataset="imagenet_c"))
    )
    other = corrupt(GREY, "gaussian_noise", 1, key=Key("a", dataset="imagenet_p"))
    assert not np.array_equal(ours, other)
    with pytest.raises(ShiftlakeError, match="family"):
        Keyed(Key("a"), "gaussian_noise", 1)


@pytest.mark.parametrize("name", [GREY, None, ["fog"], 3, ""])
def test_names_of_another_type_are_refused(name):
    with pytest.raises(ShiftlakeError, match="corruption"):
        corrupt(GREY, name, 1, key="a")
    with pytest.raises(ShiftlakeError, match="table"):
        corrupt(GREY, "fog", 1, key="a", preset=name)
    with pytest.raises(ShiftlakeError, match="mode"):
        corrupt(GREY, "fog", 1, key="a", mode=name)


@pytest.mark.parametrize("rng", [3, np.random, np.random.default_rng(0)])
def test_only_the_legacy_generator_is_replayed(rng):
    for corruption in ("gaussian_noise", "contrast"):
        with pytest.raises(ShiftlakeError, match="legacy generator"):
            corrupt(GREY, corruption, 1, rng=rng)


def test_the_names_can_be_had_without_the_heavy_packages():
    code = "import sys, ops.corruptions; print({'numba', 'cv2', 'torch', 'scipy'} & {*sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"
