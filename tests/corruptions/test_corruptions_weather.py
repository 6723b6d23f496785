"""Snow, frost, fog and spatter: what they do to pictures of which it can be told by hand."""

import cv2
import numpy as np
import pytest

from ops.corruptions import SEVERITIES, corrupt
from ops.corruptions.diamond_square import heights
from ops.corruptions.draws import Replay
from ops.corruptions.frost import DRAWN
from ops.corruptions.kernel import Level, kernel
from ops.corruptions.keyed import Key, Keyed
from ops.corruptions.parameters import load
from ops.corruptions.snow import flakes, whiteness
from tests.parity import fixtures

WEATHER = ("snow", "frost", "fog", "spatter")
SIDES = {"imagenet_224": 224, "imagenet_299": 299, "tiny_imagenet_64": 64}
# One grey level each is enough to see which one was taken, and how much of it.
PHOTOGRAPHS = [np.full((310, 320, 3), 40 * number, np.uint8) for number in range(1, 7)]


def grey(value, side=224):
    return np.full((side, side, 3), value, np.uint8)


def picture(side):
    tiled = np.tile(fixtures.picture("scene"), (2, 2, 1))
    return np.ascontiguousarray(tiled[:side, :side])


@pytest.mark.parametrize("preset", SIDES)
@pytest.mark.parametrize("corruption", WEATHER)
def test_fast_is_within_one_level_of_exact_given_the_same_key(corruption, preset):
    image = picture(SIDES[preset])
    textures = [np.tile(each, (2, 2, 1)) for each in PHOTOGRAPHS]
    outputs = {
        mode: np.array(
            [
                corrupt(image, corruption, i, key="b", mode=mode, preset=preset, textures=textures)
                for i in SEVERITIES
            ]
        )
        for mode in ("exact", "fast")
    }
    apart = np.abs(outputs["fast"].astype(int) - outputs["exact"])
    assert apart.max() <= (1 if corruption in ("fog", "snow") else 0)
    assert np.count_nonzero(apart) <= 1e-4 * apart.size


def plasma(uniform, size, decay):
    """A map by whole-array shifts, point by point from the definition."""
    uniform = iter(uniform)
    cloud = np.zeros((size, size))
    step, amplitude = size, 100.0
    while step >= 2:
        half = step // 2
        rows, columns = np.mgrid[0:size:step, 0:size:step]

        def raise_to(rows, columns, neighbours, amplitude=amplitude):
            mean = sum(cloud[(rows + y) % size, (columns + x) % size] for y, x in neighbours) / 4
            noise = np.array([next(uniform) for _ in range(rows.size)]).reshape(rows.shape)
            cloud[rows % size, columns % size] = mean + amplitude**2 * (2 * noise - 1)

        corners = [(y, x) for y in (-half, half) for x in (-half, half)]
        cross = [(-half, 0), (half, 0), (0, -half), (0, half)]
        raise_to(rows + half, columns + half, corners)
        raise_to(rows, columns + half, cross)
        raise_to(rows + half, columns, cross)
        step, amplitude = half, amplitude / decay
    return cloud


@pytest.mark.parametrize("decay", [1.4, 2.0, 3.0])
def test_a_cloud_map_is_its_definition_in_both_precisions(decay):
    uniform = np.random.default_rng(0).random(64 * 64 - 1)
    expected = plasma(uniform, 64, decay)
    span = np.ptp(expected)
    assert np.abs(heights(uniform, 64, decay) - expected).max() <= 1e-13 * span
    single = heights(uniform.astype(np.float32), 64, decay)
    assert single.dtype == np.float32
    assert np.abs(single - expected).max() <= 1e-6 * span


@pytest.mark.parametrize("severity", SEVERITIES)
def test_fog_is_the_same_for_all_channels_and_keeps_the_brightest_level(severity):
    image = grey(0)
    image[..., 1] = 90
    output = corrupt(image, "fog", severity, key="a")
    strength = load()["fog"][severity - 1]["strength"]
    darkened = (90 / 255) / (90 / 255 + strength)
    assert np.array_equal(output[..., 0], output[..., 2])
    green, red = output[..., 1].astype(int), output[..., 0].astype(int)
    assert np.abs(green - red - 90 * darkened).max() <= 1
    assert output.max() <= 90


def test_fog_leaves_black_black():
    assert not corrupt(grey(0), "fog", 5, key="a").any()


@pytest.mark.parametrize("severity", SEVERITIES)
def test_frost_is_a_weighted_sum_with_one_of_the_first_five_photographs(severity):
    given = load()["frost"][severity - 1]
    levels = {
        int(min(given["image_weight"] * 50 + given["frost_weight"] * photograph[0, 0, 0], 255))
        for photograph in PHOTOGRAPHS[:DRAWN]
    }
    seen = set()
    for number in range(60):
        output = corrupt(grey(50), "frost", severity, key=Key(str(number)), textures=PHOTOGRAPHS)
        assert len(np.unique(output)) == 1
        seen.add(int(output[0, 0, 0]))
    assert seen == levels


def test_frost_is_taken_from_the_place_that_was_drawn():
    rows, columns = np.mgrid[:310, :320]
    photograph = np.stack([rows // 2, columns // 2, 0 * rows], axis=2).astype(np.uint8)
    parameters = {"image_weight": 1.0, "frost_weight": 1.0, "texture_scale": 1.0}
    rng = np.random.RandomState(4)
    _, row, column = rng.randint(5), rng.randint(0, 310 - 224), rng.randint(0, 320 - 224)
    level = Level(parameters, Replay(np.random.RandomState(4)), (photograph,) * 5)
    output = kernel("frost").exact(grey(0), level)
    assert np.array_equal(output, photograph[row : row + 224, column : column + 224])


def test_frost_of_small_pictures_is_taken_from_smaller_photographs():
    columns = np.broadcast_to(np.arange(640)[:, None] * 2 // 5, (310, 640, 3)).astype(np.uint8)
    image = grey(0, 64)
    output = corrupt(image, "frost", 5, key="a", textures=[columns] * 5, preset="tiny_imagenet_64")
    weight = load("tiny_imagenet_64")["frost"][4]["frost_weight"]
    # 0.4 levels per pixel of the photograph are 0.4 / 0.3 per pixel of the smaller one.
    slope = np.polyfit(np.arange(64), output[0, :, 0], 1)[0]
    assert abs(slope - weight * 0.4 / 0.3) < 0.03


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_snow_on_an_even_picture_looks_the_same_upside_down(mode):
    for severity in SEVERITIES:
        output = corrupt(grey(30), "snow", severity, key="a", mode=mode)
        assert np.array_equal(output, output[::-1, ::-1])
        assert len(np.unique(output)) > 20


@pytest.mark.parametrize("severity", SEVERITIES)
def test_where_no_flake_falls_snow_only_whitens(severity):
    mix = load()["snow"][severity - 1]["mix"]
    output = corrupt(grey(30), "snow", severity, key="a")
    assert output.min() == int(mix * 30 + (1 - mix) * (30 * 1.5 + 127.5) + 1e-6)


def test_flakes_of_a_key_are_those_of_all_its_numbers():
    for severity in SEVERITIES:
        parameters = load()["snow"][severity - 1]
        keyed = Keyed(Key("a", dataset="imagenet_c"), "snow", severity)

        class AllNumbers:
            normal = keyed.normal

        some = flakes((224, 224), Level(parameters, keyed))
        assert np.array_equal(some, flakes((224, 224), Level(parameters, AllNumbers())))
        assert 0.01 < np.mean(some > 0) < 0.8


def test_the_grey_that_snow_whitens_towards_is_that_of_opencv():
    image = fixtures.picture("hard")
    unit, white = whiteness(image)
    unit = unit.reshape(image.shape)
    shade = cv2.cvtColor(unit, cv2.COLOR_RGB2GRAY)[..., None] * np.float32(1.5) + np.float32(0.5)
    assert np.array_equal(unit, image.astype(np.float32) / np.float32(255))
    # OpenCV adds with one rounding less where the processor can: at most the last bit differs.
    assert np.abs(white.reshape(image.shape) - np.maximum(unit, shade)).max() <= 2.0**-22


@pytest.mark.parametrize("severity", [1, 2, 3])
def test_water_lightens_towards_pale_turquoise_where_there_are_drops(severity):
    output = corrupt(grey(40), "spatter", severity, key="a").astype(int)
    wet = output[..., 1] > 40
    assert 0.005 < wet.mean() < 0.7
    added = output[wet] - 40
    assert (output >= 40).all()
    assert np.array_equal(added[:, 1], added[:, 2])
    assert np.abs(added[:, 0] - added[:, 1] * 175 / 238).max() <= 1
    intensity = load()["spatter"][severity - 1]["intensity"]
    assert abs(added[:, 1].max() - intensity * 238) <= 1


@pytest.mark.parametrize("severity", [4, 5])
def test_mud_hides_at_least_four_fifths_where_it_lies(severity):
    output = corrupt(grey(200), "spatter", severity, key="a").astype(int)
    muddy = output[..., 0] < 200
    assert 0.05 < muddy.mean() < 0.7
    assert (output[~muddy] == 200).all()
    for channel, mud in enumerate((63, 42, 20)):
        hidden = output[muddy][:, channel]
        assert hidden.min() >= mud - 1
        assert hidden.max() <= 0.2 * 200 + 0.8 * mud + 1


@pytest.mark.parametrize("corruption", WEATHER)
def test_severities_made_together_are_those_made_alone(corruption):
    image = picture(224)
    levels = [
        Level(
            load()[corruption][i - 1],
            Keyed(Key("a", dataset="imagenet_c"), corruption, i),
            tuple(PHOTOGRAPHS),
        )
        for i in SEVERITIES
    ]
    together = kernel(corruption).fast(image, levels)
    alone = [kernel(corruption).fast(image, [level])[0] for level in levels]
    assert all(np.array_equal(a, b) for a, b in zip(together, alone, strict=True))
