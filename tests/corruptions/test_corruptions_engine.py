"""Many conditions of one image in one go are what each of them is alone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from PIL import Image

from ops.corruptions import CORRUPTIONS, SEVERITIES, Key, corrupt
from ops.corruptions.distortions import distort
from ops.corruptions.encoding import decode_jpeg, encode_jpeg
from ops.corruptions.engine import corrupt_all, render
from ops.errors import ShiftlakeError
from ops.perturbations import sequences

KEY = Key("ILSVRC2012_val_00000007", 3, "imagenet_c")
ALL = [(corruption, severity) for corruption in CORRUPTIONS for severity in SEVERITIES]


@pytest.fixture(scope="module")
def crop() -> np.ndarray:
    rng = np.random.default_rng(7)
    small = Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8))
    return np.asarray(small.resize((224, 224), Image.Resampling.BICUBIC))


@pytest.fixture(scope="module")
def together(crop: np.ndarray) -> dict[tuple[str, int], np.ndarray]:
    return dict(corrupt_all(crop, ALL, KEY))


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_all_severities_together_are_those_asked_for_alone(
    crop: np.ndarray, together: dict[tuple[str, int], np.ndarray], corruption: str
) -> None:
    for severity in SEVERITIES:
        alone = corrupt(crop, corruption, severity, key=KEY)
        assert np.array_equal(together[corruption, severity], alone), severity


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_the_order_and_the_company_of_severities_change_nothing(
    crop: np.ndarray, together: dict[tuple[str, int], np.ndarray], corruption: str
) -> None:
    some = [(corruption, 5), ("contrast", 1), (corruption, 2)]
    found = list(corrupt_all(crop, some, KEY))
    assert sorted(condition for condition, _ in found) == sorted(some)
    for condition, image in found:
        assert np.array_equal(image, together[condition]), condition


def test_every_condition_once_and_none_writes_to_the_source(crop: np.ndarray) -> None:
    source = crop.copy()
    source.flags.writeable = False
    found = list(corrupt_all(source, ALL, KEY))
    assert [condition for condition, _ in found] == ALL
    for _, image in found:
        assert (image.shape, image.dtype) == ((224, 224, 3), np.uint8)
        assert not np.shares_memory(image, source)


def test_exact_mode_is_that_of_a_single_corruption(crop: np.ndarray) -> None:
    some = [("pixelate", 3), ("gaussian_noise", 2), ("contrast", 5), ("gaussian_noise", 4)]
    for (corruption, severity), image in corrupt_all(crop, some, KEY, mode="exact"):
        assert np.array_equal(image, corrupt(crop, corruption, severity, key=KEY, mode="exact"))


@pytest.mark.parametrize("quality", [85, 60])
def test_files_are_those_pillow_writes(crop: np.ndarray, quality: int) -> None:
    some = [("gaussian_noise", 5), ("contrast", 1), ("jpeg_compression", 3)]
    for (corruption, severity), data in render(crop, some, KEY, quality=quality):
        target = io.BytesIO()
        image = Image.fromarray(corrupt(crop, corruption, severity, key=KEY))
        image.save(target, "JPEG", quality=quality)
        assert data == target.getvalue()


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (("fog", 0), "no such severity"),
        (("fog", 6), "no such severity"),
        (("fogg", 1), "Did you mean fog"),
    ],
)
def test_a_condition_that_does_not_exist_stops_before_anything_is_made(
    crop: np.ndarray, condition: tuple[str, int], told: str
) -> None:
    made: Iterator[object] = render(crop, [("contrast", 1), condition], KEY)
    with pytest.raises(ShiftlakeError, match=told):
        next(made)


def test_an_image_that_does_not_fit_the_preset_is_refused(crop: np.ndarray) -> None:
    with pytest.raises(ShiftlakeError, match=r"shape \(224, 224, 3\)"):
        next(render(crop[:200], [("contrast", 1)], KEY))
    with pytest.raises(ShiftlakeError, match="no image of 8-bit samples"):
        next(render(crop / 255, [("contrast", 1)], KEY))


def test_a_mode_that_does_not_exist_is_refused(crop: np.ndarray) -> None:
    with pytest.raises(ShiftlakeError, match="no such mode"):
        next(render(crop, [("contrast", 1)], KEY, mode="quick"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ([("fog", 1), ("contrast", 1), ("fog", 1)], "given twice"),
        ([("fog", 2), ("fog", np.int64(2))], "given twice"),
        (["fog"], "no condition"),
        ([("fog",)], "no condition"),
        ([("fog", 1, 2)], "no condition"),
        ([("fog", "1")], "no condition"),
        ([(np.zeros(3), 1)], "no condition"),
        ("fog", "no condition"),
        (None, "no condition"),
    ],
)
def test_conditions_are_pairs_each_given_once(
    crop: np.ndarray, conditions: list[tuple[str, int]], told: str
) -> None:
    with pytest.raises(ShiftlakeError, match=told):
        next(corrupt_all(crop, conditions, KEY))


def test_a_string_is_the_key_of_the_source_image(crop: np.ndarray) -> None:
    (by_string,) = corrupt_all(crop, [("gaussian_noise", 1)], "a")
    assert np.array_equal(by_string[1], corrupt(crop, "gaussian_noise", 1, key="a"))


@pytest.mark.parametrize("quality", ["85", 0, 101, 85.0, True, None])
def test_a_quality_that_jpeg_does_not_have_is_refused(crop: np.ndarray, quality: int) -> None:
    with pytest.raises(ShiftlakeError, match="quality"):
        next(render(crop, [("contrast", 1)], KEY, quality=quality))
    with pytest.raises(ShiftlakeError, match="quality"):
        encode_jpeg(crop, quality)


def test_optimised_files_are_smaller_and_hold_the_same_pixels(crop: np.ndarray) -> None:
    some = [("gaussian_noise", 1), ("contrast", 3)]
    plain, optimised = (dict(render(crop, some, KEY, optimize=value)) for value in (False, True))
    for condition in some:
        assert len(optimised[condition]) < len(plain[condition])
        assert np.array_equal(decode_jpeg(optimised[condition]), decode_jpeg(plain[condition]))


@pytest.fixture
def threads() -> Iterator[None]:
    before = cv2.getNumThreads()
    yield
    cv2.setNumThreads(before)


@pytest.mark.usefixtures("threads")
def test_the_number_of_opencvs_threads_is_the_callers(crop: np.ndarray) -> None:
    outputs = []
    for count in (3, 1, 2):
        cv2.setNumThreads(count)
        made = corrupt_all(crop, ALL, KEY)
        first = next(made)  # and while the caller has its turn
        assert cv2.getNumThreads() == count
        outputs.append([first[1].tobytes(), *(image.tobytes() for _, image in made)])
        list(render(crop, [("glass_blur", 1), ("fog", 2)], KEY))
        corrupt(crop, "motion_blur", 1, key=KEY)
        with pytest.raises(ShiftlakeError):
            list(render(crop, [("frost", 1)], KEY, textures=[crop] * 5))
        next(sequences(np.zeros((256, 256, 3), np.uint8), [("brightness", 1)], KEY))
        distort(crop, "gaussian_blur", 1, preset="imagenet_published_code")
        assert cv2.getNumThreads() == count
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.usefixtures("threads")
def test_images_in_threads_leave_the_callers_number_too(crop: np.ndarray) -> None:
    cv2.setNumThreads(3)
    some = [("gaussian_noise", 1), ("contrast", 3), ("frost", 2)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda key: list(render(crop, some, str(key))), range(1, 13)))
    assert cv2.getNumThreads() == 3
