"""The same key gives the same frames, whatever is made before, beside or instead."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ops.perturbations import Key, perturbations, sequence, sequences
from tests.parity import fixtures
from tests.perturbations.perturbation_parts import CONDITIONS, made

DRAWING = ("gaussian_noise", "shot_noise", "snow", "speckle_noise", "spatter")
# Stored datasets hold these frames. Where one changes, ENGINE_VERSION must.
BEGINNINGS_OF_SHA256 = {
    ("gaussian_noise", 1): "8d5748426ec40bcf",
    ("gaussian_noise", 2): "1adf93499e79f8cf",
    ("gaussian_noise", 3): "7e182c2e754d23ab",
    ("shot_noise", 1): "d35dba0e70e87424",
    ("shot_noise", 2): "747a67654177cb51",
    ("shot_noise", 3): "3ed5ad55fea73827",
    ("snow", 1): "1f51cdc3a47c17c0",
    ("speckle_noise", 1): "0f84423b751a7679",
    ("speckle_noise", 2): "ff5c6a9ded2092a5",
    ("speckle_noise", 3): "2882dc78fb361a0b",
    ("spatter", 1): "3569d01ea5b3f69b",
}


@pytest.fixture(scope="module")
def image():
    return fixtures.picture("square")


@pytest.mark.parametrize(("name", "difficulty"), BEGINNINGS_OF_SHA256)
def test_a_key_gives_the_frames_it_always_gave(image, name, difficulty):
    digest = hashlib.sha256(made(image, name, difficulty)).hexdigest()
    assert digest.startswith(BEGINNINGS_OF_SHA256[name, difficulty])


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_several_sequences_of_one_image_are_those_made_alone(image, mode):
    conditions = CONDITIONS if mode == "fast" else [("rotate", 1), ("snow", 1), ("spatter", 1)]
    key = Key("a", dataset="imagenet_p")
    for condition, frames in sequences(image, conditions[::-1], key, mode=mode):
        assert np.array_equal(frames, made(image, *condition, mode=mode))


def test_threads_change_nothing(image):
    alone = [made(image, *condition) for condition in CONDITIONS]
    with ThreadPoolExecutor(4) as pool:
        for frames, expected in zip(
            pool.map(lambda condition: made(image, *condition), CONDITIONS), alone, strict=True
        ):
            assert np.array_equal(frames, expected)


@pytest.mark.parametrize("name", DRAWING)
def test_every_part_of_a_key_counts(image, name):
    keys = [Key("a"), Key("b"), Key("a", seed=1), Key("a", dataset="imagenet_p")]
    made_by = [sequence(image, name, key=key).tobytes() for key in [*keys, "a", Key("a", 0, "x")]]
    # A string, and a key that names no dataset, are of ImageNet-P.
    assert made_by[0] == made_by[3] == made_by[4]
    assert len(set(made_by)) == 4


@pytest.mark.parametrize("name", sorted(set(perturbations()) - set(DRAWING)))
def test_what_draws_nothing_needs_no_key(image, name):
    assert np.array_equal(sequence(image, name), made(image, name))
