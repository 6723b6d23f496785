"""What several blurs are made of: gaussian passes, clipped zooms and motion taps."""

import numpy as np
import pytest
from scipy.ndimage import correlate1d, gaussian_filter, zoom

from ops.corruptions.clipped_zoom import clipped_zoom, zoom_axis
from ops.corruptions.defocus_blur import disk_kernel
from ops.corruptions.gaussian import blur_field, blur_levels, gaussian_pairs
from ops.corruptions.motion_taps import blur_exact, blur_fast, motion_taps, padded_levels


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(2).normal(0.3, 0.4, (60, 45, 3))


@pytest.mark.parametrize("border", ["nearest", "reflect"])
@pytest.mark.parametrize(("sigma", "truncate"), [(0.1, 4), (0.7, 4), (2.44, 3), (4, 4), (30, 3)])
def test_gaussian_blur_of_a_field_is_scipys_to_the_bit(noise, sigma, truncate, border):
    """Given the same weights: its own depend on the processor. Wider than the image included."""
    pairs = gaussian_pairs(sigma, truncate)
    weights = np.concatenate((pairs[:0:-1], pairs))
    down = correlate1d(noise, weights, 0, mode=border)
    expected = correlate1d(down, weights, 1, mode=border)
    scipys = gaussian_filter(noise, (sigma, sigma, 0), mode=border, truncate=truncate)
    assert np.abs(expected - scipys).max() < 4e-15
    assert (blur_field(noise, sigma, truncate=truncate, border=border) == expected).all()
    plane = np.ascontiguousarray(noise[..., 0])
    assert (blur_field(plane, sigma, truncate=truncate, border=border) == expected[..., 0]).all()


def test_gaussian_blur_in_single_precision_is_near(noise):
    expected = blur_field(noise, 2.0)
    assert np.abs(blur_field(noise.astype(np.float32), 2.0) - expected).max() < 1e-6


def test_grey_levels_are_divided_and_blurred_as_in_double_precision():
    """Every level; the division is done by two products."""
    every = np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 256, 3)
    assert (blur_levels(every, 0.1) == np.uint8(every / 255.0 * 255)).all()
    pixels = np.random.default_rng(3).integers(0, 256, (50, 70, 3)).astype(np.uint8)
    for sigma in (0.9, 1.5, 6.0):
        expected = gaussian_filter(pixels / 255.0, (sigma, sigma, 0), mode="nearest")
        assert (blur_levels(pixels, sigma) == np.uint8(expected * 255)).all()


def test_gaussian_kernel_ends_where_told_and_sums_to_one():
    assert [len(gaussian_pairs(sigma)) - 1 for sigma in (0.7, 1.0, 1.1, 1.5)] == [3, 4, 4, 6]
    pairs = gaussian_pairs(1.5)
    assert pairs[0] + 2 * pairs[1:].sum() == pytest.approx(1, abs=1e-15)
    assert pairs[2] / pairs[0] == pytest.approx(np.exp(-(2**2) / (2 * 1.5**2)))


@pytest.mark.parametrize("size", [64, 224])
@pytest.mark.parametrize("factor", [1.0, 1.01, 1.11, 2.0, 2.5, 3.0, 4.5])
def test_clipped_zoom_is_scipys_zoom_of_the_middle_to_the_bit(size, factor):
    layer = np.random.default_rng(4).normal(0, 1, (size, size))
    cropped = int(np.ceil(size / factor))
    begin = (size - cropped) // 2
    middle = layer[begin : begin + cropped, begin : begin + cropped]
    zoomed = zoom(middle, (factor, factor), order=1)
    trim = (len(zoomed) - size) // 2
    expected = zoomed[trim : trim + size, trim : trim + size]
    assert (clipped_zoom(layer, factor) == expected).all()
    single = clipped_zoom(layer.astype(np.float32), factor)
    assert single.dtype == np.float32
    assert np.abs(single - expected).max() < 1e-5


def test_zoom_by_two_looks_at_the_middle_half_from_end_to_end():
    axis = zoom_axis(224, 2.0)
    assert (axis.first[0], axis.near[0]) == (56, 1.0)
    assert axis.first[-1] + axis.far[-1] == pytest.approx(167)
    assert zoom_axis(224, 1.0).first.tolist() == list(range(224))


def test_motion_taps_run_along_the_direction_one_sided():
    right = motion_taps(10, 3, 0)
    assert right.columns.tolist() == list(range(21))
    assert not right.rows.any()
    down = motion_taps(10, 3, 90)
    assert down.rows.tolist() == list(range(21))
    assert not down.columns.any()
    # 0.94 to the right and 0.34 down at each tap, each to the nearest pixel.
    slanted = motion_taps(3, 3, 20)
    assert slanted.columns.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert slanted.rows.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert motion_taps(3, 3, -160).rows.tolist() == [0, 0, -1, -1, -1, -2, -2]


def test_motion_weights_are_half_a_gaussian():
    weights = motion_taps(15, 5, 12).weights
    assert len(weights) == 31
    assert weights.sum() == pytest.approx(1)
    assert weights[5] / weights[0] == pytest.approx(np.exp(-0.5))


def test_motion_blur_smears_a_point_backwards():
    pixels = np.zeros((30, 30), np.uint8)
    pixels[15, 20] = 255
    taps = motion_taps(3, 3, 20)
    expected = np.zeros((30, 30))
    for row, column, weight in zip(taps.rows, taps.columns, taps.weights, strict=True):
        expected[15 - row, 20 - column] += 255 * weight
    assert (blur_exact(pixels, taps) == np.floor(expected + 0.5 / 257)).all()


@pytest.mark.parametrize("angle", [-120.5, -45, -3.2, 0, 17.77, 60])
@pytest.mark.parametrize("shape", [(37, 24, 3), (24, 37)])
def test_motion_blur_is_the_weighted_mean_cut_after_rounding_to_sixteen_bits(shape, angle):
    """Edge pixels go on forever; from a reading of each tap with NumPy."""
    pixels = np.random.default_rng(6).integers(0, 256, shape).astype(np.uint8)
    taps = motion_taps(20, 15, angle)
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[1])
    total = np.zeros(shape)
    for row, column, weight in zip(taps.rows, taps.columns, taps.weights, strict=True):
        there = (rows + row).clip(0, shape[0] - 1), (columns + column).clip(0, shape[1] - 1)
        total += weight * (257.0 * pixels[there])
    exact = blur_exact(pixels, taps)
    assert (exact == np.floor(total + 0.5) // 257).all()
    fast = blur_fast(padded_levels(pixels, taps.margin + 5), taps).reshape(shape)
    assert np.abs(fast.astype(int) - exact).max() <= 1
    assert (fast != exact).sum() <= 1


def test_disk_kernels_have_the_published_sums():
    """The gaussian's tails are mirrored into the grid where it ends at the disk's edge."""
    parameters = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)]
    kernels = [disk_kernel(*both) for both in parameters]
    assert [len(kernel) for kernel in kernels] == [17, 17, 17, 17, 21]
    sums = [kernel.sum(dtype=float) for kernel in kernels]
    assert sums == pytest.approx([1, 1, 1, 1.01298, 1.01079], abs=1e-5)
