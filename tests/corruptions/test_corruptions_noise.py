"""The four noises: the reference's bits when replayed, one picture for one key."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ops.corruptions import SEVERITIES, Key, corrupt
from ops.corruptions.kernel import Level, kernel
from ops.corruptions.keyed import Keyed
from ops.corruptions.parameters import load
from tests.parity import fixtures

NOISES = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")
CONDITIONS = [(name, severity) for name in NOISES for severity in SEVERITIES]


@pytest.fixture(scope="module")
def image():
    return fixtures.picture("scene")


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize(("corruption", "severity"), CONDITIONS)
def test_replayed_noise_is_the_references_to_the_bit(corruption, severity, mode):
    for fixture in fixtures.outputs(corruption, severity):
        picture = fixtures.picture(fixture.input_name)
        rng = np.random.RandomState(fixture.seed)
        assert fixture.same(corrupt(picture, corruption, severity, rng=rng, mode=mode))


@pytest.mark.parametrize(("corruption", "severity"), CONDITIONS)
@pytest.mark.parametrize("name", fixtures.CORRUPTION_INPUTS)
def test_fast_is_exact_given_the_same_key(corruption, severity, name):
    picture = fixtures.picture(name)
    exact = corrupt(picture, corruption, severity, key="a", mode="exact").astype(int)
    apart = np.abs(corrupt(picture, corruption, severity, key="a") - exact)
    assert apart.max() <= 1
    assert (apart > 0).mean() <= (1e-4 if corruption == "speckle_noise" else 0)


@pytest.mark.parametrize("preset", ["imagenet_299", "tiny_imagenet_64"])
@pytest.mark.parametrize("corruption", NOISES)
def test_other_sizes_have_their_own_strengths(corruption, preset):
    side = {"imagenet_299": 299, "tiny_imagenet_64": 64}[preset]
    picture = np.full((side, side, 3), 100, np.uint8)
    for severity in SEVERITIES:
        exact = corrupt(picture, corruption, severity, key="a", mode="exact", preset=preset)
        fast = corrupt(picture, corruption, severity, key="a", preset=preset)
        apart = np.abs(exact.astype(int) - fast)
        assert apart.max() <= 1
        assert (apart > 0).mean() <= 1e-4


def test_a_key_gives_one_picture_whatever_was_made_before_or_beside_it(image):
    jobs = [(name, severity, key) for name, severity in CONDITIONS for key in ("a", "b")]
    alone = {job: corrupt(image, job[0], job[1], key=job[2]) for job in jobs}
    shuffled = [jobs[i] for i in np.random.default_rng(0).permutation(len(jobs))]
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda job: corrupt(image, job[0], job[1], key=job[2]), shuffled)
        for job, output in zip(shuffled, made, strict=True):
            assert np.array_equal(output, alone[job])


@pytest.mark.parametrize("corruption", NOISES)
def test_severities_made_together_are_those_made_alone(corruption, image):
    rows = load()[corruption]
    levels = [
        Level(rows[s - 1], Keyed(Key("a", dataset="imagenet_c"), corruption, s)) for s in SEVERITIES
    ]
    together = kernel(corruption).fast(image, levels)
    for severity, output in zip(SEVERITIES, together, strict=True):
        assert np.array_equal(output, corrupt(image, corruption, severity, key=Key("a")))


@pytest.mark.parametrize("corruption", NOISES)
def test_other_keys_seeds_and_severities_make_independent_noise(corruption):
    flat = np.full((224, 224, 3), 128, np.uint8)
    base = corrupt(flat, corruption, 3, key=Key("a")).astype(float).ravel()
    others = (
        corrupt(flat, corruption, 3, key=Key("b")),
        corrupt(flat, corruption, 3, key=Key("a", seed=1)),
        corrupt(flat, corruption, 4, key=Key("a")),
    )
    for other in others:
        assert abs(np.corrcoef(base, other.ravel())[0, 1]) < 4 / np.sqrt(base.size)


@pytest.mark.parametrize("corruption", NOISES)
def test_noise_of_neighbouring_samples_is_independent(corruption):
    flat = np.full((224, 224, 3), 128, np.uint8)
    noise = corrupt(flat, corruption, 5, key="a").astype(float)
    noise -= noise.mean()
    power = np.abs(np.fft.rfft2(noise[..., 0])) ** 2
    rings = np.hypot(*np.meshgrid(np.fft.rfftfreq(224), np.fft.fftfreq(224))) // 0.05
    means = [power[rings == ring].mean() / power.mean() for ring in range(1, 12)]
    assert max(abs(mean - 1) for mean in means) < 0.1  # white: every ring alike
    for a, b in ((0, 1), (1, 2), (0, 2)):
        correlation = np.corrcoef(noise[..., a].ravel(), noise[..., b].ravel())[0, 1]
        assert abs(correlation) < 4 / 224


@pytest.mark.parametrize("corruption", NOISES)
def test_the_input_is_left_alone_and_any_memory_order_will_do(corruption, image):
    before = image.copy()
    output = corrupt(image, corruption, 2, key="a")
    assert np.array_equal(image, before)
    flipped = np.asfortranarray(image)
    assert np.array_equal(corrupt(flipped, corruption, 2, key="a"), output)
