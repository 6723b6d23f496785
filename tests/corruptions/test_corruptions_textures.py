"""The frost photographs are the published ones, wherever they are found."""

import hashlib
import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ops import catalog
from ops.corruptions import corrupt, textures
from ops.corruptions.batched.corrupt import corrupt_batch
from ops.corruptions.engine import corrupt_all
from ops.errors import ShiftlakeError

PACKAGE = find_spec("imagecorruptions")
NAMES = [catalog.load().file("imagenet-c", name).name for name in textures.FILE_IDS]
installed = pytest.mark.skipif(PACKAGE is None, reason="imagecorruptions is not installed")


def published():
    return Path(PACKAGE.submodule_search_locations[0]) / "frost"


@pytest.fixture
def fresh():
    """Forget, before and after, what was found on this machine."""
    textures.found_at.cache_clear()
    yield
    textures.found_at.cache_clear()


def copied(to, names):
    for name in names:
        (to / name).write_bytes((published() / name).read_bytes())
    return to


@installed
def test_an_installed_package_is_looked_into_and_not_imported():
    code = (
        "import sys; from ops.corruptions import textures;"
        "print([texture.shape for texture in textures.found()], 'imagecorruptions' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    shapes = [(600, 900, 3), (315, 560, 3), (315, 560, 3), (350, 527, 3), (495, 660, 3)]
    assert answer.stdout.strip() == f"{shapes} False"


@installed
def test_they_are_what_pillow_decodes_without_the_alpha_channel():
    found = textures.read(published())
    for texture, name in zip(found, NAMES, strict=True):
        with Image.open(published() / name) as image:
            assert np.array_equal(texture, np.asarray(image.convert("RGB")))
    assert np.array_equal(found[1], found[2])  # so published


@installed
def test_a_folder_of_ones_own_comes_first(tmp_path, monkeypatch, fresh):
    monkeypatch.setenv(textures.FOLDER_VARIABLE, str(copied(tmp_path, NAMES[:4])))
    with pytest.raises(ShiftlakeError, match=r"frost5\.jpg"):
        textures.found()
    copied(tmp_path, NAMES[4:])
    assert len(textures.found()) == 5


@installed
def test_another_folder_named_later_is_looked_into(tmp_path, monkeypatch):
    monkeypatch.setenv(textures.FOLDER_VARIABLE, str(published()))
    before = textures.found()
    assert textures.found() is before
    monkeypatch.setenv(textures.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(ShiftlakeError, match="missing") as caught:
        textures.found()
    assert caught.value.where == tmp_path
    monkeypatch.setenv(textures.FOLDER_VARIABLE, str(published()))
    assert textures.found() is before


@installed
def test_a_photograph_with_one_other_byte_is_refused(tmp_path):
    path = copied(tmp_path, NAMES) / NAMES[3]
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ShiftlakeError, match="not the published one") as caught:
        textures.read(tmp_path)
    assert caught.value.where == path
    assert hashlib.sha256(path.read_bytes()).hexdigest() == caught.value.found


def test_without_any_the_error_says_how_to_get_them(monkeypatch, fresh):
    monkeypatch.delenv(textures.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(textures, "find_spec", lambda name: None)
    with pytest.raises(ShiftlakeError) as caught:
        corrupt(np.zeros((224, 224, 3), np.uint8), "frost", 1, key="a")
    for way in ("shiftlake fetch frost_texture_frost1", "$SHIFTLAKE_FROST", "pip"):
        assert way in caught.value.remedy


def test_bytes_that_are_no_photograph_are_refused():
    file = io.BytesIO()
    Image.new("RGB", (3, 2)).save(file, "PNG")
    assert textures.decode([file.getvalue()])[0].shape == (2, 3, 3)
    with pytest.raises(ShiftlakeError, match="cannot be decoded"):
        textures.decode([file.getvalue(), b"no photograph"])


IMAGE = np.zeros((224, 224, 3), np.uint8)
LARGER = np.zeros((240, 240, 3), np.uint8)


def frosted_in_both_ways():
    """Frost of one image by the CPU kernel and by the batched one."""
    batch = torch.zeros(1, 3, 224, 224, dtype=torch.uint8)
    return (
        lambda photographs: corrupt(IMAGE, "frost", 1, key="a", textures=photographs),
        lambda photographs: next(
            corrupt_all(IMAGE, [("contrast", 1), ("frost", 1)], "a", textures=photographs)
        ),
        lambda photographs: corrupt_batch(batch, "frost", 1, ["a"], textures=photographs),
    )


@pytest.mark.parametrize("way", frosted_in_both_ways(), ids=["alone", "many", "batched"])
@pytest.mark.parametrize(
    ("photographs", "told"),
    [
        ([LARGER] * 4, "5 or 6"),
        ([LARGER] * 7, "5 or 6"),
        ([], "5 or 6"),
        ([None] * 5, "NoneType"),
        (3, "photograph 1"),
        ([LARGER] * 4 + [LARGER[..., 0]], r"shape \(240, 240\)"),
        ([LARGER] * 4 + [np.zeros((240, 240, 4), np.uint8)], "photograph 5"),
        ([LARGER / 255] * 5, "float64"),
        ([LARGER.tolist()] * 5, "list"),
    ],
)
def test_photographs_of_another_kind_are_refused(way, photographs, told):
    with pytest.raises(ShiftlakeError, match=told):
        way(photographs)


@pytest.mark.parametrize("number", range(5))
def test_a_photograph_that_cannot_cover_the_picture_is_refused_whichever_is_drawn(number):
    photographs = [LARGER] * 5
    photographs[number] = LARGER[:224]
    told = f"photograph {number + 1}"
    alone, _, batched = frosted_in_both_ways()
    for way in (alone, batched):
        with pytest.raises(ShiftlakeError, match="does not cover") as caught:
            way(photographs)
        assert told in caught.value.where
    small = np.zeros((64, 64, 3), np.uint8)
    for photograph, covers in ((LARGER, True), (LARGER[:214], False)):
        given = {"preset": "tiny_imagenet_64", "textures": [photograph] * 5}
        if covers:
            assert corrupt(small, "frost", 1, key="a", **given).shape == small.shape
        else:  # 0.3 of it is 64 pixels high
            with pytest.raises(ShiftlakeError, match="64 x 72"):
                corrupt(small, "frost", 1, key="a", **given)


def test_a_sixth_photograph_is_never_drawn():
    six = [*[LARGER] * 5, np.full((240, 240, 3), 255, np.uint8)]
    for key in map(str, range(40)):
        assert not corrupt(IMAGE, "frost", 1, key=key, textures=six).any()
