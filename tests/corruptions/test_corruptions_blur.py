"""The five blurs: what they do to images whose blur can be told by hand, and the two modes."""

import numpy as np
import pytest

from ops.corruptions import SEVERITIES, corrupt
from ops.corruptions.kernel import Level, kernel
from ops.corruptions.keyed import Key, Keyed
from ops.corruptions.parameters import load
from tests.parity import fixtures

BLURS = ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "gaussian_blur")


def spot(value=255):
    """Black, but for one white pixel at row 100, column 120."""
    pixels = np.zeros((224, 224, 3), np.uint8)
    pixels[100, 120] = value
    return pixels


def flat(value):
    return np.full((224, 224, 3), value, np.uint8)


@pytest.fixture(scope="module")
def pictures():
    """Smooth, noisy, saturated, nearly flat, stepped and grey."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[:224, :224]
    waves = [127 + 120 * np.sin(columns / 30), 127 + 120 * np.cos(rows / 40), (rows + columns) / 2]
    smooth = np.stack(waves, axis=2)
    noisy = rng.integers(0, 256, (224, 224, 3))
    saturated = np.clip((smooth + rng.normal(0, 40, noisy.shape)) * 4 - 400, 0, 255)
    nearly_flat = 200 + rng.integers(0, 2, noisy.shape)
    stepped = np.stack([columns // 32 * 30, rows // 32 * 30, (rows + columns) // 64 * 30], axis=2)
    grey = np.repeat(noisy[..., :1] // 64 * 80, 3, axis=2)
    made = (smooth, noisy, saturated, nearly_flat, stepped, grey, *map(flat, (1, 91, 254, 255)))
    return [pixels.astype(np.uint8) for pixels in made]


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("corruption", BLURS)
def test_exact_is_the_reference_and_fast_within_one_level_of_it(corruption, severity):
    for fixture in fixtures.outputs(corruption, severity):
        picture = fixtures.picture(fixture.input_name)
        rng = np.random.RandomState(fixture.seed)
        assert fixture.same(corrupt(picture, corruption, severity, rng=rng, mode="exact"))
        rng = np.random.RandomState(fixture.seed)
        assert fixture.apart(corrupt(picture, corruption, severity, rng=rng)).max() <= 1


@pytest.mark.parametrize("corruption", BLURS)
def test_fast_differs_from_exact_by_one_level_in_one_sample_of_ten_thousand(corruption, pictures):
    for severity in SEVERITIES:
        differing = 0
        for pixels in pictures:
            exact = corrupt(pixels, corruption, severity, key="a", mode="exact")
            apart = np.abs(corrupt(pixels, corruption, severity, key="a").astype(int) - exact)
            assert apart.max() <= 1
            differing += np.count_nonzero(apart)
        assert differing <= 1e-4 * sum(pixels.size for pixels in pictures)


@pytest.mark.parametrize("corruption", BLURS)
def test_severities_made_together_are_those_made_alone(corruption, pictures):
    key = Key("a", dataset="imagenet_c")
    levels = [
        Level(load()[corruption][severity - 1], Keyed(key, corruption, severity))
        for severity in SEVERITIES
    ]
    together = kernel(corruption).fast(pictures[2], levels)
    for severity, image in zip(SEVERITIES, together, strict=True):
        assert (image == corrupt(pictures[2], corruption, severity, key=key)).all()


@pytest.mark.parametrize("value", [0, 77, 128, 255])
@pytest.mark.parametrize("corruption", BLURS)
def test_a_flat_image_stays_flat(corruption, value):
    for severity in SEVERITIES:
        output = corrupt(flat(value), corruption, severity, key="a").astype(int)
        assert np.ptp(output) == 0
        if corruption == "defocus_blur":  # its kernels' sums
            expected = min(value * (1, 1, 1, 1.01298, 1.01079)[severity - 1], 255)
        else:
            expected = value
        # Truncation takes a level where a mean is whole in theory only; glass truncates twice.
        assert expected - 2 - (corruption == "glass_blur") < output[0, 0, 0] <= expected


def test_defocus_shows_a_disk_in_place_of_a_point():
    rows, columns = np.mgrid[-100:124, -120:104]
    inside = rows**2 + columns**2 <= 3**2
    output = corrupt(spot(), "defocus_blur", 1)
    assert inside.sum() == 29
    assert (output == np.where(inside, 255 // 29, 0)[..., None]).all()


def test_defocus_mirrors_the_image_at_its_edge_without_repeating_the_edge():
    pixels = np.zeros((224, 224, 3), np.uint8)
    pixels[0, 100] = 29 * 5 + 3  # a level lost to rounding is not seen
    pixels[1, 150] = 29 * 5 + 3
    output = corrupt(pixels, "defocus_blur", 1)
    assert (output[0, 98:103] == 5).all()
    assert (output[0, 149:152] == 10).all()


@pytest.mark.parametrize(("severity", "zooms"), [(1, 12), (2, 16), (3, 11), (4, 13), (5, 11)])
def test_zoom_means_over_the_published_count_of_zooms(severity, zooms):
    """A corner is seen by the image itself, which counts twice, and by no other zoom."""
    pixels = np.zeros((224, 224, 3), np.uint8)
    pixels[0, 0] = 255
    output = corrupt(pixels, "zoom_blur", severity)
    assert (output[0, 0] == int(255 * 2 / (zooms + 1))).all()
    assert not output[2:, 2:].any()


def test_zoom_leaves_the_middle_and_smears_outwards():
    pixels = np.zeros((224, 224, 3), np.uint8)
    pixels[:, 109:115] = 255
    pixels[:, 200] = 255
    output = corrupt(pixels, "zoom_blur", 1)
    assert (output[:, 111:113] >= 254).all()
    assert (output[112, 201:211] > 0).all()
    assert not output[112, 190:200].any()


@pytest.mark.parametrize("severity", SEVERITIES)
def test_gaussian_shows_its_variance_in_both_directions(severity):
    sigma = load()["gaussian_blur"][severity - 1]["sigma"]
    pixels = flat(0)
    pixels[:, 112] = 255  # a line, so that the truncated tails matter little
    across = corrupt(pixels, "gaussian_blur", severity)
    down = corrupt(pixels.transpose(1, 0, 2), "gaussian_blur", severity)
    assert (down.transpose(1, 0, 2) == across).all()
    weights = across[60, :, 0] / across[60, :, 0].sum()
    variance = (weights * (np.arange(224) - 112) ** 2).sum()
    assert abs(variance - sigma**2) < 0.25 * sigma**2


def test_blurs_without_draws_turn_with_the_image(pictures):
    """A sum from the other end may be cut to the level below."""
    for corruption in ("defocus_blur", "gaussian_blur"):
        output = corrupt(pictures[1], corruption, 3)
        mirrored = corrupt(np.ascontiguousarray(pictures[1][:, ::-1]), corruption, 3)
        assert np.abs(mirrored[:, ::-1].astype(int) - output).max() <= 1


@pytest.mark.parametrize("corruption", ["glass_blur", "motion_blur"])
def test_draws_depend_on_key_and_severity_alone(corruption, pictures):
    first = corrupt(pictures[1], corruption, 3, key="a")
    assert (corrupt(pictures[1], corruption, 3, key=Key("a")) == first).all()
    assert (corrupt(pictures[1], corruption, 3, key="b") != first).any()
    assert (corrupt(pictures[1], corruption, 3, key=Key("a", seed=1)) != first).any()


def test_inputs_are_not_written_to(pictures):
    for corruption in BLURS:
        pixels = pictures[1].copy()
        pixels.flags.writeable = False
        for mode in ("exact", "fast"):
            corrupt(pixels, corruption, 5, key="a", mode=mode)
        assert (pixels == pictures[1]).all()


@pytest.mark.parametrize("side", [8, 16, 28, 32, 56])
@pytest.mark.parametrize("corruption", ["motion_blur", "zoom_blur"])
def test_flat_blocks_differ_between_the_modes_on_at_most_one_sample_in_a_thousand(corruption, side):
    """Samples of one value on the edge of a grey level differ together."""
    rng = np.random.default_rng(side)
    tiles = rng.integers(0, 256, (224 // side, 224 // side, 3)).astype(np.uint8)
    blocks = tiles.repeat(side, axis=0).repeat(side, axis=1)
    for severity in SEVERITIES:
        fast, exact = (
            corrupt(blocks, corruption, severity, key="blocks", mode=mode).astype(int)
            for mode in ("fast", "exact")
        )
        assert np.abs(fast - exact).max() <= 1
        assert np.mean(fast != exact) <= 1e-3
