"""Sealed datasets of a few pictures, for the reports."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root


def flat(level: int, side: int = 32) -> bytes:
    """A PNG of one grey level."""
    target = io.BytesIO()
    Image.fromarray(np.full((side, side, 3), level, np.uint8)).save(target, "PNG")
    return target.getvalue()


def seal(
    root: Root,
    name: str,
    files: dict[str, bytes],
    extension: str = "jpg",
    renderer: dict[str, Any] | None = None,
) -> Manifest:
    """Seal files, by the keys of their sources, as a dataset of one class."""
    benchmark, _, condition = name.partition("/")
    samples = [
        Sample(
            key,
            data,
            extension,
            0,
            {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": key,
                "source_file": f"{key}.JPEG",
                "labels": [0],
                "format": "mp4" if extension == "mp4" else "png",
            },
        )
        for key, data in files.items()
    ]
    return write_dataset(root, name, samples, label_space="ilsvrc1000", renderer=renderer)
