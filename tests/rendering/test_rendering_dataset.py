"""One way to open them all: a dataset made on the fly gives what its stored twin gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rendering_parts import lake_of, photograph, val_samples
from torch.utils.data import DataLoader

from ops.errors import ShiftlakeError
from ops.rendering import open_dataset, render

TWINS = [
    ("imagenet_c_rendered/frost/2", "imagenet_c_on_the_fly/frost/2"),
    ("imagenet_c_rendered/gaussian_noise/4", "imagenet_c_on_the_fly/gaussian_noise/4"),
    ("imagenet_p_rendered/translate", "imagenet_p_on_the_fly/translate"),
]


@pytest.mark.parametrize(("stored", "made"), TWINS)
def test_keys_labels_and_pixels_are_those_of_the_stored_twin(
    tmp_path: Path, stored: str, made: str
) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(n) for n in range(3)]), per_shard=2)
    render(lake.root, lake.catalog, [stored, made])
    first = list(open_dataset(lake.root, stored, catalog=lake.catalog))
    loader = DataLoader(
        open_dataset(lake.root, made, catalog=lake.catalog, verify="hash"), batch_size=None
    )
    second = list(loader)
    assert len(first) == len(second) == 3
    for one, other in zip(first, second, strict=True):
        assert (one["key"], one["labels"]) == (other["key"], other["labels"])
        assert torch.equal(one["image"], other["image"])


def test_a_sequence_is_a_stack_of_frames_and_a_transform_sees_each(tmp_path: Path) -> None:
    name = "imagenet_p_on_the_fly/brightness"
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    render(lake.root, lake.catalog, [name])
    (row,) = open_dataset(lake.root, name, catalog=lake.catalog)
    assert row["image"].shape == (31, 3, 224, 224)
    (sizes,) = open_dataset(
        lake.root, name, catalog=lake.catalog, transform=lambda image: np.asarray(image).mean()
    )
    assert len(sizes["image"]) == 31
    # From -.30 to +.30 in brightness.
    assert sizes["image"] == sorted(sizes["image"])


def test_an_image_that_does_not_decode_is_named(tmp_path: Path) -> None:
    name = "imagenet_c_on_the_fly/contrast/1"
    lake = lake_of(tmp_path, val_samples([photograph(1), b"no image"]))
    render(lake.root, lake.catalog, [name])
    with pytest.raises(ShiftlakeError, match="ILSVRC2012_val_"):
        list(open_dataset(lake.root, name, catalog=lake.catalog))
