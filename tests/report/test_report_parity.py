"""The parity report: distances that can be worked out by hand, and shifts paired by image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bright_network import Bright
from report_parts import flat, seal

from ops.catalog import load as load_catalog
from ops.inference import evaluate
from ops.models import ModelEntry, Transform, register
from ops.models.weights import canonical_bytes
from ops.perturbations.video import encode
from ops.report import parity_report
from ops.results import query
from ops.results.parity_file import read_parity
from ops.storage import Root, open_root

PUBLISHED, RENDERED = "imagenet_c/fog/1", "imagenet_c_rendered/fog/1"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "lake")


def test_distances_are_those_of_the_pixels(root: Root) -> None:
    seal(root, PUBLISHED, {"a": flat(100), "b": flat(50), "only here": flat(0)})
    seal(root, RENDERED, {"a": flat(104), "b": flat(50)})
    (row,) = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).to_pylist()
    assert (row["n_common"], row["n_compared"], row["n_same_size"]) == (2, 2, 2)
    assert row["n_identical"] == 1
    assert row["mean_abs_difference"] == pytest.approx(2.0)
    # The mean squared error is (16 + 0) / 2 = 8.
    assert row["psnr_db"] == pytest.approx(10 * np.log10(255**2 / 8))
    assert row["rendered_bytes"] == pytest.approx((len(flat(104)) + len(flat(50))) / 2)
    assert row["model"] is None
    assert row["synthetic"] is True


def test_identical_pictures_have_no_psnr(root: Root) -> None:
    seal(root, PUBLISHED, {"a": flat(100)})
    seal(root, RENDERED, {"a": flat(100)})
    (row,) = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).to_pylist()
    assert row["mean_abs_difference"] == 0
    assert row["psnr_db"] is None
    assert row["n_identical"] == 1


def test_pictures_of_another_size_are_counted_and_not_compared(root: Root) -> None:
    seal(root, PUBLISHED, {"a": flat(100, side=16)})
    seal(root, RENDERED, {"a": flat(100)})
    (row,) = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).to_pylist()
    assert (row["n_compared"], row["n_same_size"]) == (1, 0)
    assert row["mean_abs_difference"] is None


def test_sets_with_nothing_in_common_are_a_row_without_numbers(root: Root) -> None:
    seal(root, PUBLISHED, {"a": flat(100)})
    seal(root, RENDERED, {"b": flat(100)})
    (row,) = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).to_pylist()
    assert (row["n_common"], row["n_compared"]) == (0, 0)
    assert row["mean_abs_difference"] is row["psnr_db"] is row["published_bytes"] is None


def test_sequences_are_compared_frame_by_frame(root: Root) -> None:
    frames = np.zeros((31, 32, 32, 3), np.uint8)
    other = frames.copy()
    other[30] = 31
    published, rendered = "imagenet_p/tilt", "imagenet_p_rendered/tilt"
    seal(root, published, {"a": encode(frames)}, "mp4")
    seal(root, rendered, {"a": encode(other)}, "mp4")
    (row,) = parity_report(root, "imagenet_p_rendered", [(published, rendered)]).to_pylist()
    assert (row["n_same_size"], row["n_identical"]) == (1, 0)
    # One frame of 31 differs, by 31 in every sample.
    assert row["mean_abs_difference"] == pytest.approx(1.0)


def test_of_many_images_both_sets_give_the_same_ones(root: Root) -> None:
    seal(root, PUBLISHED, {f"k{n:03}": flat(n) for n in range(40)})
    seal(root, RENDERED, {f"k{n:03}": flat(n) for n in range(40)})
    pairs = [(PUBLISHED, RENDERED)]
    (row,) = parity_report(root, "imagenet_c_rendered", pairs, sample=4).to_pylist()
    assert (row["n_common"], row["n_compared"], row["n_identical"]) == (40, 4, 4)


def test_what_is_not_sealed_is_left_out_and_the_table_is_stored(root: Root) -> None:
    seal(root, PUBLISHED, {"a": flat(100)})
    assert read_parity(root).num_rows == 0
    assert parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).num_rows == 0
    seal(root, RENDERED, {"a": flat(90)})
    made = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)])
    assert read_parity(root).equals(made)
    asked = query(root, "SELECT mean_abs_difference FROM parity", format="csv")
    assert asked.split() == ["mean_abs_difference", "10.0"]


def test_accuracy_shift_is_paired_by_image(root: Root, tmp_path: Path) -> None:
    seal(root, PUBLISHED, {f"k{n:02}": flat(10 * n) for n in range(20)})
    seal(root, RENDERED, {f"k{n:02}": flat(255 - 10 * n) for n in range(20)})
    weights = tmp_path / "bright.safetensors"
    weights.write_bytes(canonical_bytes(Bright()))
    entry = ModelEntry(
        name="bright",
        kind="callable",
        reference="bright_network:Bright",
        transform=Transform(resize=32, crop=32, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)),
        class_map=[0, 1],
    )
    register(root, entry, weights)
    catalog = load_catalog()
    for name in (PUBLISHED, RENDERED):
        evaluate(root, catalog, "bright", name)
    (row,) = parity_report(root, "imagenet_c_rendered", [(PUBLISHED, RENDERED)]).to_pylist()
    # Brighter than 127.5: n from 13 to 19 in the first set, from 0 to 12 in the second.
    assert (row["model"], row["n_paired"]) == ("bright", 20)
    assert row["published_top1"] == pytest.approx(7 / 20)
    assert row["rendered_top1"] == pytest.approx(13 / 20)
    assert row["top1_shift"] == pytest.approx(0.3)
    assert row["ci_lo"] < 0.3 < row["ci_hi"]
