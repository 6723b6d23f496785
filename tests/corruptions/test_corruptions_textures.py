"""The frost photographs are the published ones, wherever they are found."""

import hashlib
import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ops import catalog
from ops.corruptions import corrupt, textures
from ops.errors import ShiftlakeError

PACKAGE = find_spec("imagecorruptions")
NAMES = [catalog.load().file("imagenet-c", name).name for name in textures.FILE_IDS]
installed = pytest.mark.skipif(PACKAGE is None, reason="imagecorruptions is not installed")


def published():
    return Path(PACKAGE.submodule_search_locations[0]) / "frost"


@pytest.fixture
def fresh():
    """Forget, before and after, what was found on this machine."""
    textures.found.cache_clear()
    yield
    textures.found.cache_clear()


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
    for way in ("shiftlake fetch imagenet-c frost_texture_frost1", "$SHIFTLAKE_FROST", "pip"):
        assert way in caught.value.remedy


def test_bytes_that_are_no_photograph_are_refused():
    file = io.BytesIO()
    Image.new("RGB", (3, 2)).save(file, "PNG")
    assert textures.decode([file.getvalue()])[0].shape == (2, 3, 3)
    with pytest.raises(ShiftlakeError, match="cannot be decoded"):
        textures.decode([file.getvalue(), b"no photograph"])


def test_photographs_that_cannot_cover_a_picture_are_refused():
    image = np.zeros((224, 224, 3), np.uint8)
    with pytest.raises(ShiftlakeError, match="does not cover"):
        corrupt(image, "frost", 1, key="a", textures=[image] * 5)
    with pytest.raises(ShiftlakeError, match="more photographs"):
        corrupt(image, "frost", 1, key="a", textures=[np.zeros((300, 300, 3), np.uint8)] * 4)
