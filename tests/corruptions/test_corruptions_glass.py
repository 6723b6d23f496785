"""Glass blur: what is copied where, and what its keyed displacements are made of."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from ops.corruptions import corrupt
from ops.corruptions.draws import Replay
from ops.corruptions.glass_blur import displacement_codes, exact
from ops.corruptions.kernel import Level
from ops.corruptions.keyed import Key, Keyed


def blurred(pixels, sigma):
    return np.uint8(gaussian_filter(pixels / 255.0, (sigma, sigma, 0), mode="nearest") * 255)


@pytest.mark.parametrize(("delta", "iterations"), [(1, 2), (2, 3), (3, 1), (4, 1), (5, 1)])
def test_each_pixel_takes_the_value_at_its_displacement_and_gives_none(delta, iterations):
    """Pixel by pixel, from the last to the first; the two numbers are drawn as they are needed."""
    size, sigma = 40, 0.9
    pixels = np.random.default_rng(delta).integers(0, 256, (size, size, 3)).astype(np.uint8)
    rng = np.random.RandomState(5)
    expected = blurred(pixels, sigma)
    for _ in range(iterations):
        for row in range(size - delta, delta, -1):
            for column in range(size - delta, delta, -1):
                right, down = rng.randint(-delta, delta, size=2)
                expected[row, column] = expected[row + down, column + right]
    expected = blurred(expected, sigma)
    parameters = {"sigma": sigma, "max_delta": delta, "iterations": iterations}
    output = exact(pixels, Level(parameters, Replay(np.random.RandomState(5))))
    assert (output == expected).all()


def test_colours_are_moved_and_not_mixed_where_nothing_is_blurred():
    """Row and column as colour: each pixel then tells where it is from."""
    levels = np.arange(256, dtype=np.uint8)
    levels = levels[np.uint8(levels / 255.0 * 255) == levels][:100]  # that the cuts leave alone
    rows, columns = np.mgrid[:100, :100]
    pixels = np.stack([levels[rows], levels[columns], levels[rows]], axis=2)
    parameters = {"sigma": 1e-3, "max_delta": 2, "iterations": 1}
    output = exact(
        pixels, Level(parameters, Keyed(Key("a", dataset="imagenet_c"), "glass_blur", 2))
    )
    assert (output[..., 0] == output[..., 2]).all()
    down = np.searchsorted(levels, output[..., 0]) - rows
    right = np.searchsorted(levels, output[..., 1]) - columns
    # What is above was not visited before; what is below may have come from farther below.
    assert down.min() == -2
    assert down.max() > 1
    # From the rim the farthest displacement would leave the image: it is not visited.
    for moved in (down, right):
        assert not moved[:3].any()
        assert not moved[:, :3].any()
        assert not moved[-1:].any()
        assert not moved[:, -1:].any()
    assert (down[3:-1, 3:-1] != 0).mean() > 0.5


@pytest.mark.parametrize("delta", [1, 2, 3, 4, 5])
def test_keyed_displacements_are_alike_in_number(delta):
    side, n = 2 * delta, 1_000_000
    codes = (
        displacement_codes(Keyed(Key("a", dataset="imagenet_c"), "glass_blur", 1), delta, n)
        % side**2
    )
    counts = np.bincount(codes, minlength=side**2)
    freedom = side**2 - 1
    chi_squared = ((counts - n / side**2) ** 2).sum() / (n / side**2)
    assert abs(chi_squared - freedom) < 5 * np.sqrt(2 * freedom)


def test_replayed_displacements_are_the_generators_integers():
    rng = np.random.RandomState(9)
    pairs = rng.randint(-3, 3, (1001, 2))
    codes = displacement_codes(Replay(np.random.RandomState(9)), 3, 1001).astype(int)
    assert (codes % 6 - 3 == pairs[:, 0]).all()
    assert (codes // 6 - 3 == pairs[:, 1]).all()


def test_keyed_displacements_are_made_of_the_words_as_told():
    draws = Keyed(Key("a", dataset="imagenet_c"), "glass_blur", 4)
    words = [int(word) for word in draws.words("shifts", 500)]
    octets = [word >> shift & 255 for word in words for shift in (0, 8, 16, 24)]
    for delta in (1, 2, 4):
        codes = displacement_codes(draws, delta, 1999) % (2 * delta) ** 2
        assert codes.tolist() == [octet % (2 * delta) ** 2 for octet in octets[:1999]]
    pairs = [word * 36 * 36 >> 32 for word in words]
    expected = [pair // 36 for pair in pairs] + [pair % 36 for pair in pairs]
    assert displacement_codes(draws, 3, 999).tolist() == expected[:999]


def test_both_modes_use_the_same_keyed_displacements():
    pixels = np.random.default_rng(1).integers(0, 256, (224, 224, 3)).astype(np.uint8)
    for severity in (1, 4):
        exactly = corrupt(pixels, "glass_blur", severity, key="a", mode="exact")
        assert (corrupt(pixels, "glass_blur", severity, key="a") == exactly).all()
