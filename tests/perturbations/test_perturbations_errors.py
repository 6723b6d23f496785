"""What cannot be made is said, and what to do."""

import numpy as np
import pytest
import torch

from ops.errors import ShiftlakeError
from ops.perturbations import Key, sequence, sequences
from ops.perturbations.batched.sequence import sequence_batch

IMAGE = np.zeros((256, 300, 3), np.uint8)
NO_KEY = r"no key of an image|no source_key of a key"


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (IMAGE.astype(np.float32), "float32"),
        (IMAGE.tolist(), "list"),
        (IMAGE[:224, :224], r"\(224, 224, 3\)"),
        (IMAGE[..., 0], r"\(256, 300\)"),
        (np.zeros((256, 300, 4), np.uint8), r"\(256, 300, 4\)"),
        (np.zeros((300, 300, 3), np.uint8), r"\(300, 300, 3\)"),
        (np.zeros((0, 0, 3), np.uint8), r"\(0, 0, 3\)"),
    ],
)
def test_an_image_that_does_not_fit_the_table(image, said):
    with pytest.raises(ShiftlakeError, match=said) as caught:
        sequence(image, "rotate")
    assert "256" in str(caught.value)


def test_an_unknown_name_brings_the_nearest():
    with pytest.raises(ShiftlakeError, match="Did you mean rotate"):
        sequence(IMAGE, "rotation")


def test_a_folder_of_a_harder_level_is_told_as_a_difficulty():
    with pytest.raises(ShiftlakeError, match="'shot_noise' and difficulty=3"):
        sequence(IMAGE, "shot_noise_3", key="a")


@pytest.mark.parametrize("difficulty", [0, 4, -1, 1.0, True, "1"])
def test_a_difficulty_that_does_not_exist(difficulty):
    with pytest.raises(ShiftlakeError, match="1, 2 or 3"):
        sequence(IMAGE, "gaussian_noise", key="a", difficulty=difficulty)


def test_a_difficulty_that_is_a_distance_of_frames():
    with pytest.raises(ShiftlakeError, match="2 and 3 apart of the same sequence"):
        sequence(IMAGE, "tilt", difficulty=2)


@pytest.mark.parametrize(
    "name", ["gaussian_noise", "shot_noise", "snow", "speckle_noise", "spatter"]
)
def test_draws_from_nowhere_or_from_two_sources(name):
    with pytest.raises(ShiftlakeError, match="neither"):
        sequence(IMAGE, name)
    with pytest.raises(ShiftlakeError, match="both"):
        sequence(IMAGE, name, key="a", rng=np.random.RandomState(0))


def test_a_generator_that_the_official_script_did_not_use():
    with pytest.raises(ShiftlakeError, match=r"torch\.Generator"):
        sequence(IMAGE, "gaussian_noise", rng=np.random.RandomState(0))
    with pytest.raises(ShiftlakeError, match="RandomState"):
        sequence(IMAGE, "snow", rng=torch.Generator())
    with pytest.raises(ShiftlakeError, match="RandomState"):
        sequence(IMAGE, "snow", rng=np.random.default_rng(0))


def test_an_unknown_mode():
    with pytest.raises(ShiftlakeError, match="'quick'"):
        sequence(IMAGE, "rotate", mode="quick")


def test_several_sequences_refuse_the_same():
    with pytest.raises(ShiftlakeError, match="blizzard"):
        list(sequences(IMAGE, [("rotate", 1), ("blizzard", 1)], Key("a")))
    with pytest.raises(ShiftlakeError, match="given twice"):
        list(sequences(IMAGE, [("rotate", 1), ("tilt", 1), ("rotate", 1)], Key("a")))
    with pytest.raises(ShiftlakeError, match="no condition"):
        list(sequences(IMAGE, ["rotate"], Key("a")))


@pytest.mark.parametrize("key", [0, 5, b"x", ("a",), True, "", "a\0b"])
def test_what_is_no_key(key):
    for name in ("gaussian_noise", "rotate"):
        with pytest.raises(ShiftlakeError, match=NO_KEY):
            sequence(IMAGE, name, key=key)
        with pytest.raises(ShiftlakeError, match=NO_KEY):
            next(sequences(IMAGE, [(name, 1)], key))
    with pytest.raises(ShiftlakeError, match=NO_KEY):
        sequence_batch(torch.zeros(1, 3, 256, 256, dtype=torch.uint8), "rotate", [key])


@pytest.mark.parametrize("name", [IMAGE, None, ["rotate"], 3])
def test_names_of_another_type(name):
    with pytest.raises(ShiftlakeError, match="no perturbation"):
        sequence(IMAGE, name, key="a")
    with pytest.raises(ShiftlakeError, match="mode"):
        sequence(IMAGE, "rotate", mode=name)


def test_a_difficulty_may_be_numpys():
    ours, theirs = (
        sequence(IMAGE, "gaussian_noise", key="a", difficulty=kind(2)) for kind in (int, np.int64)
    )
    assert np.array_equal(ours, theirs)
