"""The exact frames are those of the official script; the fast ones are the exact ones."""

import numpy as np
import pytest
import torch

from ops.perturbations import perturbations, sequence
from tests.parity import fixtures
from tests.perturbations.perturbation_parts import CONDITIONS, generator, hard, made

# The fixtures were drawn with AVX-512, whose torch.randn is that of AVX2.
SAME_RANDN = torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def test_every_condition_has_stored_frames_of_the_official_script():
    folders = [folder for known in perturbations().values() for folder in known.conditions]
    assert sorted(folders) == fixtures.sequence_names()


@pytest.mark.parametrize(("name", "difficulty"), CONDITIONS)
def test_exact_frames_are_the_official_scripts_to_the_bit(name, difficulty):
    folder = perturbations()[name].conditions[difficulty - 1]
    for stored in fixtures.sequences(folder):
        frames = sequence(
            fixtures.picture(stored.input_name),
            name,
            rng=generator(name),
            mode="exact",
            difficulty=difficulty,
        )
        assert len(frames) == len(stored.frames)
        for frame, reference in zip(frames, stored.frames, strict=True):
            if name != "gaussian_noise" or SAME_RANDN:
                assert reference.same(frame)
            elif reference.values is not None:
                assert reference.apart(frame).max() <= 1


@pytest.mark.parametrize("picture", ["hard", "wide"])
@pytest.mark.parametrize(("name", "difficulty"), CONDITIONS)
def test_fast_is_exact_to_one_level_on_one_sample_in_10_000(name, difficulty, picture):
    image = hard() if picture == "hard" else fixtures.picture("wide")
    exact = made(image, name, difficulty, mode="exact").astype(np.int16)
    apart = np.abs(made(image, name, difficulty) - exact)
    assert apart.max() <= 1
    assert (apart > 0).mean() <= 1e-4


@pytest.mark.parametrize(
    "name", ["gaussian_noise", "shot_noise", "snow", "speckle_noise", "spatter"]
)
def test_fast_replays_a_generator_too(name):
    image = fixtures.picture("square")
    exact = sequence(image, name, rng=generator(name, 5), mode="exact").astype(np.int16)
    apart = np.abs(sequence(image, name, rng=generator(name, 5)) - exact)
    assert apart.max() <= 1
    assert (apart > 0).mean() <= 1e-4
