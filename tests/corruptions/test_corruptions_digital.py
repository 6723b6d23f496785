"""Pixelate and elastic_transform: each step against the library whose arithmetic it keeps."""

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from ops.corruptions import SEVERITIES, corrupt
from ops.corruptions.affine import warp_affine
from ops.corruptions.displacement import displace
from ops.corruptions.draws import Replay
from ops.corruptions.kernel import Level, kernel
from ops.corruptions.parameters import load
from ops.corruptions.wide_gaussian import blur_wide, blur_wide_exact
from tests.parity import fixtures

SIDES = {"imagenet_224": 224, "imagenet_299": 299, "tiny_imagenet_64": 64}


def noise(height, width):
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)


def four_channels(image):
    return np.concatenate((image, image[..., :1]), axis=2).astype(np.float32) / np.float32(255)


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize("preset", SIDES)
def test_pixelate_is_pillows_box_filter_down_and_up(preset, mode):
    side = SIDES[preset]
    image = noise(side, side)
    for severity in SEVERITIES:
        small = int(side * load(preset)["pixelate"][severity - 1]["scale"])
        expected = Image.fromarray(image)
        for size in (small, side):
            expected = expected.resize((size, size), Image.Resampling.BOX)
        found = corrupt(image, "pixelate", severity, mode=mode, preset=preset)
        assert np.array_equal(found, np.asarray(expected))


def test_pixelate_keeps_pillows_choice_of_pixels_at_any_size():
    # Where an edge of a box falls on a pixel's centre, only the same roundings choose alike.
    for side in range(8, 200, 7):
        image = noise(side, side)
        for scale in (0.6, 0.5, 0.4, 0.3, 0.25, 0.9, 0.7, 0.2):
            found = kernel("pixelate").exact(image, Level({"scale": scale}, Replay(None)))
            small = Image.fromarray(image).resize((int(side * scale),) * 2, Image.Resampling.BOX)
            expected = small.resize((side, side), Image.Resampling.BOX)
            assert np.array_equal(found, np.asarray(expected)), (side, scale)


@pytest.mark.parametrize("shape", [(60, 50), (224, 224)])
@pytest.mark.parametrize("reach", [0.5, 5, 100, 1000])
def test_displacement_is_scipys_with_places_far_outside_and_on_the_edges(shape, reach):
    height, width = shape
    image = four_channels(noise(height, width))
    rng = np.random.default_rng(1)
    across, down = rng.uniform(-reach, reach, (2, *shape)).astype(np.float32)
    across[0], down[1] = rng.integers(-3, 4, (2, width))
    across[:, 0], across[:, 1], across[2] = -0.5, -1, -1e-20
    rows, columns, channels = np.meshgrid(*map(np.arange, (*shape, 3)), indexing="ij")
    places = (rows + down[..., None], columns + across[..., None], channels)
    expected = map_coordinates(image[..., :3], places, order=1, mode="reflect")
    levels = (np.clip(expected, 0, 1) * 255).astype(np.uint8)
    assert np.array_equal(displace(image, across, down), levels)


def warped(image, matrix):
    out = np.empty_like(image)
    warp_affine(image, np.asarray(matrix, np.float64), out)
    return out


def test_a_warp_by_whole_pixels_moves_them_and_mirrors_the_rest_about_the_edge():
    image = four_channels(noise(40, 50))
    moved = warped(image, [[1, 0, 3], [0, 1, -2]])
    assert np.array_equal(moved[:-2, 3:], image[2:, :-3])
    assert np.array_equal(moved[:-2, :3], image[2:, 3:0:-1])
    assert np.array_equal(moved[-2:, 3:], image[-2:-4:-1, :-3])


def test_a_warp_looks_at_the_nearest_32nd_of_a_pixel():
    image = four_channels(noise(40, 50))

    def moved_by(shift):
        return warped(image, [[1, 0, shift], [0, 1, 0]])

    assert np.array_equal(moved_by(0.3), moved_by(10 / 32))
    assert not np.array_equal(moved_by(0.3), moved_by(9 / 32))
    expected = image[:, :-1] * np.float32(10 / 32) + image[:, 1:] * np.float32(22 / 32)
    assert np.allclose(moved_by(0.3)[:, 1:], expected, rtol=0, atol=1e-7)


def test_a_warp_is_near_that_of_any_opencv():
    image = four_channels(fixtures.picture("scene"))
    matrix = np.array([[1.05, 0.08, -11.3], [-0.1, 0.93, 14.7]])
    expected = cv2.warpAffine(image, matrix, (224, 224), borderMode=cv2.BORDER_REFLECT_101)
    apart = np.abs(warped(image, matrix) - expected)
    if int(cv2.__version__.split(".")[0]) <= 4:
        assert not apart.any()
    # A 64th of a pixel off at most either way, on edges of at most full height.
    assert apart.max() <= 2 / 64 + 1e-5
    assert apart.mean() <= 1e-3


@pytest.mark.parametrize("sigma", [19.52, 170.79999999999998])
def test_wide_blurs_are_scipys_in_both_precisions(sigma):
    field = np.random.default_rng(2).uniform(-1, 1, (224, 224))
    expected = gaussian_filter(field, sigma, mode="reflect", truncate=3.0) * 488.0
    exact = blur_wide_exact(field, sigma, truncate=3.0, gain=488.0)
    assert np.array_equal(exact, expected.astype(np.float32))
    single = blur_wide(field.astype(np.float32), sigma, truncate=3.0, gain=488.0)
    assert np.abs(single - expected).max() <= 2e-6 * np.abs(expected).max()


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_without_moved_corners_and_fields_the_picture_stays(mode):
    still = {"alpha": 0.0, "sigma": 0.0, "jitter": 0.0}
    image = noise(64, 64)
    level = Level(still, Replay(np.random.RandomState(0)))
    elastic = kernel("elastic_transform")
    found = elastic.exact(image, level) if mode == "exact" else elastic.fast(image, [level])[0]
    assert np.array_equal(found, image)


@pytest.mark.parametrize("preset", SIDES)
def test_elastic_fast_is_within_one_level_of_exact_at_every_size(preset):
    image = np.ascontiguousarray(np.tile(fixtures.picture("hard"), (2, 2, 1))[: SIDES[preset]])
    image = np.ascontiguousarray(image[:, : SIDES[preset]])
    for severity in SEVERITIES:
        exact, fast = (
            corrupt(image, "elastic_transform", severity, key="a", mode=mode, preset=preset)
            for mode in ("exact", "fast")
        )
        apart = np.abs(fast.astype(int) - exact)
        assert apart.max() <= 1
        assert np.count_nonzero(apart) <= 1e-4 * apart.size
