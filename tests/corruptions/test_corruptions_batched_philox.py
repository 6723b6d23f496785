import numpy as np
import pytest
import torch

from ops.corruptions import Key, philox
from ops.corruptions.batched import philox as batched_philox
from ops.corruptions.batched.keyed import BatchDraws
from ops.corruptions.keyed import PURPOSES, Keyed

KEYS = (
    Key("ILSVRC2012_val_00000001", dataset="imagenet_c"),
    Key("ILSVRC2012_val_00000002", 7, "imagenet_c"),
    Key("é", -1, "p"),
)


def test_words_are_those_of_published_test_vectors():
    # Random123's known answers for philox4x32-10 have counter and key of all zeros and all ones;
    # the first has a counter that a purpose of code 0 gives.
    zeros = batched_philox.words(torch.zeros(1, 2, dtype=torch.int64), 0, 4)
    assert zeros.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]


@pytest.mark.parametrize("n", [1, 3, 4, 6, 1001])
def test_words_are_those_of_the_compiled_generator_even_at_the_ends_of_their_range(n):
    pairs = [(0, 0), (0xFFFFFFFF, 0xFFFFFFFF), (0x243F6A88, 0x85A308D3), (0x80000000, 1)]
    found = batched_philox.words(torch.tensor(pairs), 0xFFFFFFFF, n)
    for row, pair in zip(found.numpy(), pairs, strict=True):
        np.testing.assert_array_equal(row, philox.words(pair, (0, 0xFFFFFFFF, 0, 0), n))


def draws(corruption="snow", severity=3):
    """The draws of the keys, image by image and all at once."""
    batch = BatchDraws.of(KEYS, corruption, severity, torch.device("cpu"))
    return [Keyed(key, corruption, severity) for key in KEYS], batch


@pytest.mark.parametrize("purpose", list(PURPOSES))
def test_every_purpose_draws_what_it_draws_for_one_image(purpose):
    alone, batch = draws()
    halves, integers = batch.halves(purpose, 77), batch.integers(purpose, -3, 5, 77)
    uniform = batch.uniform(purpose, -135.0, -45.0, 77)
    for i, each in enumerate(alone):
        np.testing.assert_array_equal(halves[i], each.halves(purpose, 77))
        np.testing.assert_array_equal(integers[i], each.integers(purpose, -3, 5, (77,)))
        np.testing.assert_array_equal(uniform[i], each.uniform(purpose, -135.0, -45.0, (77,)))


def test_a_part_of_a_batch_draws_what_the_whole_draws_for_it():
    _, batch = draws()
    assert torch.equal(batch.part(slice(1, 3)).words("noise", 50), batch.words("noise", 50)[1:])
