"""Programs that take a fixed number of images: batches are cut and padded for them."""

from __future__ import annotations

from collections.abc import Callable

import torch


def in_batches(
    run: Callable[[torch.Tensor], torch.Tensor],
    images: torch.Tensor,
    *,
    least: int = 1,
    most: int | None = None,
) -> torch.Tensor:
    """Run a program over a batch of any size, in portions it accepts.

    Parameters
    ----------
    run : callable
        Takes `least` to `most` images and returns a row for each, which must not depend on the
        other images.
    images : tensor, shape (images, ...)
        At least one.
    least, most : int
        The bounds of the program's batch dimension; equal where it is fixed.

    Returns
    -------
    tensor, shape (images, outputs)
        A portion that is too short is filled up with copies of its last image, whose rows are
        dropped.
    """
    portions = [images] if most is None else list(torch.split(images, most))
    rows = []
    for portion in portions:
        count = len(portion)
        if count < least:
            copies = portion[-1:].expand(least - count, *portion.shape[1:])
            portion = torch.cat([portion, copies])
        rows.append(run(portion)[:count])
    return rows[0] if len(rows) == 1 else torch.cat(rows)
