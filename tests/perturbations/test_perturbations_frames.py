"""What each perturbation does from frame to frame."""

import numpy as np
import pytest

from ops.perturbations import perturbations, sequence
from tests.parity import fixtures
from tests.perturbations.perturbation_parts import hard, made


@pytest.fixture(scope="module")
def image():
    return fixtures.picture("wide")


@pytest.fixture(scope="module")
def clean(image):
    # 341 pixels wide: torchvision rounds the margin of 58.5 to the even number.
    return image[16:240, 58:282]


@pytest.mark.parametrize("name", perturbations())
def test_a_sequence_has_its_frames(image, name):
    frames = made(image, name)
    assert frames.shape == (41 if name == "translate" else 31, 224, 224, 3)
    assert frames.dtype == np.uint8
    moved = (frames[1:] != frames[:-1]).any(axis=(1, 2, 3))
    assert moved.all()


@pytest.mark.parametrize("name", ["gaussian_noise", "shot_noise", "speckle_noise", "zoom_blur"])
def test_the_first_frame_is_clean_where_all_begins_there(image, clean, name):
    frames = made(image, name)
    assert np.array_equal(frames[0], clean)
    assert perturbations()[name].reference == ("previous" if name == "zoom_blur" else "first")


@pytest.mark.parametrize(
    ("name", "frame"), [("brightness", 15), ("translate", 20), ("rotate", 15), ("shear", 15)]
)
def test_the_middle_frame_is_clean_where_it_lies_between_two_ends(image, clean, name, frame):
    apart = np.abs(made(image, name)[frame].astype(int) - clean)
    # Through hue and back, a whole level can come out just below itself.
    assert apart.max() <= (1 if name == "brightness" else 0)


def test_scale_passes_the_original_size_and_starts_small_on_black(image, clean):
    frames = made(image, "scale")
    assert np.array_equal(frames[24], clean)
    # 0.4 of 256 rows is 102: the picture ends 61 rows from the frame's edge.
    assert not frames[0, :60].any()
    assert not frames[0, -60:].any()
    assert frames[0, 62:-62, 60:-60].any()


def test_brightness_only_rises(image):
    frames = made(image, "brightness")
    assert (np.diff(frames.astype(int), axis=0) >= 0).all()
    means = frames.mean(axis=(1, 2, 3))
    assert (np.diff(means) > 2).all()


def test_translate_moves_the_picture_by_a_pixel_a_frame(image):
    frames = made(image, "translate")
    assert np.array_equal(frames[1:, :, 1:], frames[:-1, :, :-1])


def test_black_enters_only_beyond_the_margin_of_16_pixels():
    white = np.full((256, 256, 3), 255, np.uint8)
    frames = made(white, "translate")
    for shift, frame in zip(range(-20, 21), frames, strict=True):
        black = ~frame.any(axis=(0, 2))
        expected = np.zeros(224, bool)
        if shift > 16:
            expected[: shift - 16] = True
        elif shift < -16:
            expected[shift + 16 :] = True
        assert np.array_equal(black, expected)


@pytest.mark.parametrize("name", ["rotate", "shear"])
def test_opposite_angles_are_mirror_images_of_a_mirrored_picture(name):
    image = hard(256)
    frames, mirrored = made(image, name), made(image[:, ::-1].copy(), name)
    apart = np.abs(frames.astype(int) - mirrored[::-1, :, ::-1])
    assert (apart > 1).mean() < 1e-3


def test_motion_blur_ends_along_the_rows(image):
    frames = made(image, "motion_blur").astype(int)
    assert np.abs(np.diff(frames[30], axis=1)).mean() < np.abs(np.diff(frames[30], axis=0)).mean()


def test_zoom_blur_and_gaussian_blur_only_grow_smoother(image):
    for name in ("zoom_blur", "gaussian_blur"):
        steps = np.abs(np.diff(made(image, name).astype(int), axis=2)).mean(axis=(1, 2, 3))
        assert (np.diff(steps) < 0).all()


def test_the_snow_is_one_fall_in_all_frames(image):
    frames = made(image, "snow")
    assert frames.mean() > image.mean()
    near = np.abs(frames[1:].astype(int) - frames[:-1]).mean()
    assert near < np.abs(frames[:15].astype(int) - frames[16:]).mean() / 2
    other = sequence(image, "snow", key="b")
    assert near < np.abs(frames.astype(int) - other).mean() / 2


def test_spatter_runs_down(image):
    wet = np.abs(made(image, "spatter").astype(int) - image[16:240, 58:282]).sum(axis=-1)
    rows = np.arange(224)[:, None]
    middle = [(rows * layer).sum() / layer.sum() for layer in wet[[0, 10, 20, 30]]]
    # A pixel a frame at most, and what leaves at the bottom does not come back.
    first, last = wet[0] > 30, wet[30] > 30
    assert middle[0] != middle[-1]
    drops = (first[:-12] & last[12:]).sum() / last[12:].sum()
    stayed = (first & last).sum() / last.sum()
    assert drops > stayed


@pytest.mark.parametrize("name", perturbations())
def test_the_picture_is_not_written_to_and_may_lie_anywhere_in_memory(name):
    image = hard(256)
    turned = np.asfortranarray(image)
    turned.flags.writeable = False
    assert np.array_equal(made(turned, name), made(image, name))


@pytest.mark.parametrize("shape", [(256, 256), (256, 1000), (700, 256)])
def test_any_aspect_is_taken_and_the_centre_shown(shape):
    image = np.zeros((*shape, 3), np.uint8)
    top, left = (shape[0] - 224) // 2, (shape[1] - 224) // 2
    image[top : top + 224, left : left + 224] = 200
    assert (made(image, "zoom_blur")[0] == 200).all()
    assert made(image, "tilt").any(axis=(1, 2, 3)).all()
