"""Stored kernels are those of every table, and what NumPy and OpenCV make up to a last bit."""

import math

import cv2
import numpy as np
import pytest

from ops.corruptions import rounding, stored_kernels
from ops.corruptions.defocus_blur import disk_kernel
from ops.corruptions.edge_distance import edge_distance
from ops.corruptions.gaussian import gaussian_pairs
from tests.corruptions import make_kernels as made


def ulps(found, expected):
    """Greatest distance in units of the expected numbers' last places."""
    return np.abs((found - expected) / np.spacing(expected)).max()


def test_every_gaussian_of_the_tables_is_stored_and_numpys_up_to_its_last_bits():
    for pair in made.gaussians():
        stored = stored_kernels.gaussian(*pair)
        assert stored is not None, pair
        assert gaussian_pairs(*pair) is stored
        assert ulps(stored, made.numpys_gaussian(*pair)) <= 2
    for pair in made.blurs_of_distortions():
        assert ulps(stored_kernels.distortion(*pair), made.numpys_distortion(*pair)) <= 2


def test_every_disk_of_the_tables_is_stored_and_opencvs_up_to_its_last_bits():
    for pair in made.disks():
        stored, opencvs = stored_kernels.disk(*pair), made.opencvs_disk(*pair)
        assert stored is not None, pair
        assert stored.dtype == np.float32
        assert np.array_equal(disk_kernel(*pair), stored)
        assert np.abs(stored - opencvs).max() <= 2 * np.spacing(opencvs.max())


def test_what_no_table_has_is_computed_as_near_to_numpy_and_opencv():
    for pair in [(2.44001, 3.0), (30.0, 3.0), (0.33, 4.0), (123.4, 4.0)]:
        assert stored_kernels.gaussian(*pair) is None
        assert ulps(gaussian_pairs(*pair), made.numpys_gaussian(*pair)) <= 3
    for pair in [(5.5, 0.5), (7, 0.3), (9, 0.6), (11, 0.5)]:
        assert stored_kernels.disk(*pair) is None
        opencvs = made.opencvs_disk(*pair)
        assert disk_kernel(*pair).dtype == np.float32
        assert np.abs(disk_kernel(*pair) - opencvs).max() <= 2e-7 * opencvs.max()


def test_nobody_can_change_a_shared_kernel():
    for pairs in (gaussian_pairs(1.5), gaussian_pairs(1.51)):
        with pytest.raises(ValueError, match="read-only"):
            pairs[0] = 0


def test_elementary_functions_are_the_mathematical_ones():
    angles = np.random.default_rng(0).uniform(-math.pi, math.pi, 300)
    for angle in [*angles.tolist(), 0.0, math.pi / 2, -math.pi]:
        assert rounding.sin_cos(angle) == pytest.approx(
            (math.sin(angle), math.cos(angle)), rel=2.3e-16, abs=0
        )
        assert rounding.exp(-angle) == pytest.approx(math.exp(-angle), rel=2.3e-16, abs=0)
    for part in range(-450, 900, 7):
        expected = math.cos(math.remainder(part, 448) * math.pi / 224)
        assert rounding.cos_pi(part, 224) == pytest.approx(expected, abs=1e-15)
    assert [rounding.cos_pi(part, 2) for part in range(5)] == [1.0, 0.0, -1.0, 0.0, 1.0]


@pytest.mark.parametrize("share", [0, 2e-5, 1e-3, 0.02, 0.5])
def test_distance_to_an_edge_is_opencvs(share):
    """Which adds fixed-point numbers where it has no Intel library, hence the tolerance."""
    edges = (np.random.default_rng(5).random((224, 180)) < share).astype(np.uint8) * 255
    opencvs = np.minimum(cv2.distanceTransform(255 - edges, cv2.DIST_L2, 5), 20)
    assert edge_distance(edges, 20.0) == pytest.approx(opencvs, abs=5e-4)
