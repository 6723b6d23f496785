import numpy as np
import pytest
import torch

from ops.corruptions.batched.glass_sources import sources


def copied_one_after_the_other(dx, dy, delta, size):
    """Indices of a pass that visits the pixels as the official code does."""
    found = np.arange(size * size).reshape(size, size)
    for h in range(size - delta, delta, -1):
        for w in range(size - delta, delta, -1):
            down, right = dy[h - delta - 1, w - delta - 1], dx[h - delta - 1, w - delta - 1]
            found[h, w] = found[h + down, w + right]
    return found.ravel()


def check(dx, dy, delta, size):
    """Compare pointers that are followed by doubling with the walk over the pixels."""
    found = sources(torch.from_numpy(dx), torch.from_numpy(dy), delta + 1, size, size)
    for row, right, down in zip(found.numpy(), dx, dy, strict=True):
        np.testing.assert_array_equal(row, copied_one_after_the_other(right, down, delta, size))


@pytest.mark.parametrize("delta", [1, 2, 3, 4])
def test_pixels_come_from_where_the_walk_takes_them(delta):
    rng, size = np.random.default_rng(delta), 48
    shape = (4, size - 2 * delta, size - 2 * delta)
    check(rng.integers(-delta, delta, shape), rng.integers(-delta, delta, shape), delta, size)


@pytest.mark.parametrize(("right", "down"), [(1, 0), (0, 1), (1, 1), (-2, 1), (-1, 0), (0, 0)])
def test_the_longest_chains_are_followed_to_their_ends(right, down):
    size, delta = 40, 2
    shape = (1, size - 2 * delta, size - 2 * delta)
    check(np.full(shape, right), np.full(shape, down), delta, size)


def test_a_chain_through_every_inner_pixel_is_followed_to_its_end():
    # Each pixel points to the next; the last of a row to the first of the row below, as far to the
    # left as the offsets reach.
    size, delta = 12, 4
    dx = np.ones((1, size - 2 * delta, size - 2 * delta), np.int64)
    dy = np.zeros_like(dx)
    dx[..., -1], dy[..., -1] = -3, 1
    check(dx, dy, delta, size)
