"""Sheets of pictures: the right picture in the right place, and nothing where nothing is stored."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
import report_parts
from PIL import Image
from report_parts import flat

from ops.perturbations.video import decode, encode
from ops.report import corruption_sheet, sequence_sheet, severity_sheet
from ops.shards import Manifest
from ops.storage import Root, open_root

TILE = 40


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


def seal(root: Root, name: str, files: dict[str, bytes], extension: str = "jpg") -> Manifest:
    source = None if name.startswith("imagenet_1k/") else {"source": "imagenet_1k/val"}
    return report_parts.seal(root, name, files, extension, source)


def drawn(sheet: str | None) -> np.ndarray:
    assert sheet is not None
    return np.asarray(
        Image.open(io.BytesIO(base64.b64decode(sheet.partition(",")[2]))).convert("L")
    )


def middle(sheet: np.ndarray, row: int, column: int, left: int = 0) -> int:
    y, x = 14 + row * TILE + TILE // 2, left + column * TILE + TILE // 2
    return int(sheet[y, x])


def test_severities_stand_side_by_side_behind_their_source(root: Root) -> None:
    seal(root, "imagenet_1k/val", {"a": flat(10), "b": flat(200)})
    levels = [
        seal(root, f"imagenet_c_rendered/fog/{n}", {"a": flat(40 * n), "b": flat(20 * n)})
        for n in (1, 2, 3)
    ]
    sheet = drawn(severity_sheet(root, levels, rows=2, tile=TILE))
    assert sheet.shape == (14 + 2 * TILE, 4 * TILE)
    found = [[middle(sheet, row, column) for column in range(4)] for row in range(2)]
    assert np.abs(np.array(found) - [[10, 40, 80, 120], [200, 20, 40, 60]]).max() < 12


def test_a_corruption_a_row_and_a_severity_a_column(root: Root) -> None:
    by_name = {
        name: [seal(root, f"imagenet_c_rendered/{name}/{n}", {"a": flat(base + 30 * n)})
               for n in (1, 2)]
        for name, base in (("fog", 20), ("snow", 120))
    }  # fmt: skip
    sheet = drawn(corruption_sheet(root, by_name, tile=TILE))
    left = sheet.shape[1] - 2 * TILE
    found = [[middle(sheet, row, column, left) for column in range(2)] for row in range(2)]
    assert np.abs(np.array(found) - [[50, 80], [150, 180]]).max() < 12


def test_frames_run_from_the_first_to_the_last_and_broken_videos_are_left_out(root: Root) -> None:
    frames = np.repeat(np.arange(31, dtype=np.uint8)[:, None, None, None] * 8, 32, axis=1)
    frames = np.ascontiguousarray(np.broadcast_to(frames, (31, 32, 32, 3)))
    files = {"a": encode(frames), "b": encode(frames)[:200]}
    manifest = seal(root, "imagenet_p_rendered/tilt", files, "mp4")
    sheet = drawn(sequence_sheet(root, manifest, decode, rows=2, columns=3, tile=TILE))
    assert sheet.shape == (14 + TILE, 3 * TILE)
    found = [middle(sheet, 0, column) for column in range(3)]
    assert np.abs(np.array(found) - [0, 120, 240]).max() < 12


def test_nothing_is_drawn_where_nothing_is_stored(root: Root) -> None:
    made = seal(root, "imagenet_c_on_the_fly/fog/1", {"a": flat(10)})
    fly = made.model_copy(update={"renderer": {"form": "on_the_fly", "source": "imagenet_1k/val"}})
    assert severity_sheet(root, [fly]) is None
    assert corruption_sheet(root, {}) is None
