"""Where each pixel of a glass blur ends up coming from, without walking over the pixels.

Here: the offsets of one pass to the map of its sources. The blur around it:
:mod:`ops.corruptions.batched.glass_blur`.

A pass visits the inner pixels from the last to the first in raster order and overwrites each by
the pixel at an offset. A source after the pixel in raster order, and inner, was itself overwritten
earlier in the pass; any other still has its old value. So a pixel's value is found at the end of a
chain: from pixel to source for as long as the source was overwritten before, and one step more.
Raster order grows along a chain, so it has fewer links than there are inner pixels, and they can
be followed by doubling: when every pixel takes over the pointer of the pixel it points to, k times
over, each pointer spans 2**k links. That is exact, and the same work for every image.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sources(dx: Tensor, dy: Tensor, first: int, height: int, width: int) -> Tensor:
    """The pixel whose value before a pass each pixel has after it.

    Parameters
    ----------
    dx, dy : int64 tensors, shape (images, inner height, inner width)
        From each inner pixel to the one that overwrites it, in raster order.
    first : int
        Row and column of the first inner pixel.
    height, width : int
        Of the images.

    Returns
    -------
    int64 tensor, shape (images, height * width)
        Indices in raster order. A pixel that is not an inner one keeps its own.
    """
    count, rows, columns = dx.shape
    inner = (slice(None), slice(first, first + rows), slice(first, first + columns))
    place = torch.arange(height * width, device=dx.device)
    source = place.repeat(count, 1)
    source.view(count, height, width)[inner] += dy * width + dx

    is_inner = torch.zeros(height, width, dtype=torch.bool, device=dx.device)
    is_inner[inner[1:]] = True
    overwritten = (source > place) & is_inner.flatten()[source]
    # The last pixel of each chain: it points to itself, and its source was not overwritten.
    last = torch.where(overwritten, source, place)
    for _ in range((rows * columns - 1).bit_length()):
        further = last.gather(1, last)
        # Chains are short but in theory; to ask costs nothing where there is no device to wait for.
        if last.device.type == "cpu" and torch.equal(further, last):
            break
        last = further
    return source.gather(1, last)
