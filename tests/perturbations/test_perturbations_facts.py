"""The table of perturbations says what the paper and the published script say."""

import pytest

from ops.perturbations import PERTURBATIONS, VALIDATION_PERTURBATIONS, perturbations

NOISES = {"gaussian_noise", "shot_noise", "speckle_noise"}


def test_ten_perturbations_enter_the_mean_and_four_do_not():
    assert PERTURBATIONS == (
        "gaussian_noise", "shot_noise", "motion_blur", "zoom_blur", "snow", "brightness",
        "translate", "rotate", "tilt", "scale",
    )  # fmt: skip
    assert VALIDATION_PERTURBATIONS == ("speckle_noise", "gaussian_blur", "spatter", "shear")
    assert tuple(perturbations()) == PERTURBATIONS + VALIDATION_PERTURBATIONS


def test_only_noise_is_compared_with_the_first_frame_and_has_levels():
    for name, known in perturbations().items():
        assert known.name == name
        assert known.reference == ("first" if name in NOISES else "previous")
        assert len(known.levels) == (3 if name in NOISES else 1)
        assert known.frames == (41 if name == "translate" else 31)
        assert known.validation == (name in VALIDATION_PERTURBATIONS)


def test_folders_are_named_as_published():
    known = perturbations()
    assert known["shot_noise"].conditions == ("shot_noise", "shot_noise_2", "shot_noise_3")
    assert known["tilt"].conditions == ("tilt",)
    assert sum(len(one.conditions) for one in known.values()) == 20


@pytest.mark.parametrize(
    ("name", "parameter", "first", "last"),
    [
        ("motion_blur", "angle", -120, 0),
        ("zoom_blur", "factor", 1, 1.12),
        ("snow", "angle", -150, -30),
        ("brightness", "percent", -30, 30),
        ("translate", "pixels", -20, 20),
        ("rotate", "angle", -15, 15),
        ("tilt", "angle", -15, 15),
        ("scale", "percent", 40, 115),
        ("gaussian_blur", "sigma", 0.25, 1.3),
        ("shear", "angle", -15, 15),
    ],
)
def test_parameters_sweep_from_end_to_end(name, parameter, first, last):
    known = perturbations()[name]
    sweep = known.levels[0][parameter]
    assert sweep["start"] == first
    assert sweep["start"] + sweep["step"] * (known.frames - 1) == pytest.approx(last)
