"""Frames through a detector: equal sizes together, and a frame that fails by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from ops import pixels
from ops.errors import ShiftlakeError
from ops.metrics.detection.boxes import FARTHEST
from ops.shards.sample import Sample


@dataclass(frozen=True)
class Found:
    """What a detector found in one frame, or why it could not look.

    Attributes
    ----------
    key : str
    status : {"ok", "decode_error", "detector_error"}
    reason : str or None
    category : ndarray of int64, shape (N,)
        As the detector numbers them.
    score : ndarray of float64, shape (N,)
    box : ndarray of float64, shape (N, 4)
        xmin, ymin, xmax, ymax in pixels of the frame.
    """

    key: str
    status: str
    reason: str | None
    category: NDArray[np.int64]
    score: NDArray[np.float64]
    box: NDArray[np.float64]


def detect(
    network: torch.nn.Module,
    samples: Iterable[Sample],
    sizes: dict[str, tuple[int, int]],
    *,
    device: str = "cpu",
    batch_size: int = 8,
) -> Iterator[Found]:
    """Detect in frames.

    Parameters
    ----------
    network : torch.nn.Module
        Takes a list of float32 tensors (3, H, W) in [0, 1] and gives for each ``boxes``,
        ``labels`` and ``scores``, as torchvision's detectors do.
    samples : iterable of Sample
    sizes : dict of str to (int, int)
        Width and height of every frame, by key, as its boxes mean them.
    device : str
    batch_size : int
        Frames of one size that follow each other go through together: padding, which a detector
        sees at the borders, is then of the frame's own making.

    Yields
    ------
    Found
        One a sample, in order.

    Raises
    ------
    ShiftlakeError
        If the device has too little memory for a single frame.
    """
    decoded = (_decoded(sample, sizes.get(sample.key)) for sample in samples)
    for together, run in groupby(decoded, key=lambda each: _size(each[1])):
        held = []
        for key, picture in run:
            if together is None or isinstance(picture, str):
                yield _failed(key, "decode_error", str(picture))
                continue
            held.append((key, picture))
            if len(held) == batch_size:
                yield from _batch(network, held, device)
                held = []
        if held:
            yield from _batch(network, held, device)


def _decoded(sample: Sample, size: tuple[int, int] | None) -> tuple[str, Image.Image | str]:
    """The picture of a sample, or why there is none."""
    try:
        picture = pixels.decode(sample.image or b"")
    except pixels.UndecodableImage as error:
        return sample.key, str(error.found)
    if size is not None and picture.size != size:
        # Its true boxes are of a picture of that size.
        return (
            sample.key,
            f"{picture.size[0]} x {picture.size[1]} pixels, not {size[0]} x {size[1]}",
        )
    return sample.key, picture


def _size(picture: Image.Image | str) -> tuple[int, int] | None:
    return None if isinstance(picture, str) else picture.size


def _batch(
    network: torch.nn.Module, held: list[tuple[str, Image.Image]], device: str
) -> Iterator[Found]:
    try:
        outputs = _outputs(network, [picture for _, picture in held], device)
    except (RuntimeError, ValueError, AssertionError, IndexError) as error:
        if len(held) > 1:
            # One of them, or all of them together, are too much.
            for one in held:
                yield from _batch(network, [one], device)
            return
        if isinstance(error, torch.OutOfMemoryError):
            raise ShiftlakeError(
                "The device has too little memory for one frame.",
                expected="room for the detector and a frame",
                found=str(error).splitlines()[0],
                where=held[0][0],
                remedy="use another device, or give the builder a smaller max_size",
            ) from error
        said = str(error).splitlines() or [""]
        yield _failed(held[0][0], "detector_error", f"{type(error).__name__}: {said[0]}")
        return
    for (key, _), output in zip(held, outputs, strict=True):
        yield _found(key, output)


def _outputs(
    network: torch.nn.Module, pictures: list[Image.Image], device: str
) -> list[dict[str, torch.Tensor]]:
    tensors = [
        torch.from_numpy(np.array(picture)).to(device).permute(2, 0, 1).float().div(255)
        for picture in pictures
    ]
    with torch.inference_mode():
        outputs: list[dict[str, torch.Tensor]] = network(tensors)
    if len(outputs) != len(tensors):
        raise ValueError(f"{len(outputs)} answers to {len(tensors)} frames")
    return outputs


def _found(key: str, output: dict[str, torch.Tensor]) -> Found:
    category, score, box = (
        output[name].detach().cpu().numpy() for name in ("labels", "scores", "boxes")
    )
    found = Found(
        key, "ok", None, category.astype(np.int64), score.astype(np.float64), box.astype(np.float64)
    )
    # Also false where a number is NaN.
    sane = (np.abs(found.box) <= FARTHEST).all() and (found.box[:, 2:] >= found.box[:, :2]).all()
    if not (sane and (found.score >= 0).all() and (found.score <= 1).all()):
        return _failed(key, "detector_error", "boxes or scores that are no numbers in range")
    return found


def _failed(key: str, status: str, reason: str) -> Found:
    empty = np.empty(0)
    return Found(key, status, reason, empty.astype(np.int64), empty, empty.reshape(0, 4))
