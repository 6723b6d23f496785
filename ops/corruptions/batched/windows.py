"""Cut-outs of a batch that begin elsewhere in each image."""

from __future__ import annotations

import torch
from torch import Tensor


def padded(images: Tensor, margin: int) -> Tensor:
    """Images with their edge pixels repeated around them.

    Parameters
    ----------
    images : tensor, shape (images, channels, height, width)
        Of any type.
    margin : int
        Pixels added on each side.

    Returns
    -------
    tensor, shape (images, channels, height + 2 * margin, width + 2 * margin)
    """
    rows, columns = (
        torch.arange(-margin, size + margin, device=images.device).clamp_(0, size - 1)
        for size in images.shape[2:]
    )
    return images.index_select(2, rows).index_select(3, columns)


def windows(
    images: Tensor, which: Tensor, rows: Tensor, columns: Tensor, size: tuple[int, int]
) -> Tensor:
    """Cut a window of one size from images, at a place of its own each.

    Parameters
    ----------
    images : tensor, shape (images, channels, height, width)
        Of any type, contiguous.
    which, rows, columns : int64 tensors, shape (windows,)
        Image, first row and first column of each window; the window must lie in the image.
    size : tuple of 2 int
        Height and width of the windows.

    Returns
    -------
    tensor, shape (windows, channels, height, width)
    """
    count, channels, height, width = images.shape
    # One kernel copies all windows: no index is made for each pixel.
    places = (height - size[0] + 1, width - size[1] + 1)
    image, plane, row, column = images.stride()
    every = images.as_strided(
        (count, *places, channels, *size), (image, row, column, plane, row, column)
    )
    return every[which, rows, columns]
