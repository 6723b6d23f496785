"""What a JPEG file makes of an image, without the file: libjpeg-turbo's arithmetic on a device.

Here: the lossy half of encoding and decoding, bit for bit (no entropy code is written: it loses
nothing), for the corruption ``jpeg_compression`` and for the quality at which a corrupted image is
stored. Baseline, 4:2:0, "ISLOW" transform, "fancy" upsampling: what Pillow and OpenCV use unless
told otherwise. Files: :mod:`ops.corruptions.encoding`.
"""

from __future__ import annotations

import io
from functools import lru_cache

import torch
from PIL import Image
from torch import Tensor

from ops.corruptions.batched import dct
from ops.corruptions.batched.level import BatchLevel

# ITU-R BT.601 in 16 binary places, as JFIF has it: RGB to luma, blue and red difference, and back.
_PLACES = 16
_HALF = 1 << (_PLACES - 1)
_CENTRE = 128
_LUMA = (19595, 38470, 7471)
_BLUE_DIFFERENCE = (-11059, -21709, 32768)
_RED_DIFFERENCE = (32768, -27439, -5329)
_RED_FROM_RED = 91881
_GREEN_FROM_BLUE = -22554
_GREEN_FROM_RED = -46802
_BLUE_FROM_BLUE = 116130


def round_trip(images: Tensor, quality: int) -> Tensor:
    """Images as they come back from a JPEG file.

    Parameters
    ----------
    images : uint8 tensor, shape (images, 3, height, width)
        RGB, at least five pixels wide (libjpeg upsamples narrower ones in another way).
    quality : int
        1 to 100.

    Returns
    -------
    uint8 tensor, shape (images, 3, height, width)
        What Pillow's ``save(..., "JPEG", quality=quality)`` and a reload give.
    """
    height, width = images.shape[2:]
    luma, chroma = _luma_and_chroma(images)
    luma = _padded(luma, 8, 8)
    # Columns are repeated before chroma is halved, rows after.
    chroma = _padded(_halved(_padded(chroma, 2, 16)), 8, 8)
    blocks = torch.cat((_blocks(luma), _blocks(chroma)), 2)
    n_luma = luma.numel() // 64
    coefficients = dct.forward(blocks)
    for part, steps in zip(
        (coefficients[:, :, :n_luma], coefficients[:, :, n_luma:]),
        _steps(quality, images.device),
        strict=True,
    ):
        _quantise(part, steps)
    samples = dct.backward(coefficients).clamp_(-_CENTRE, _CENTRE - 1)
    luma = _plane(samples[:, :, :n_luma], luma.shape)[:, 0, :height, :width]
    chroma = _plane(samples[:, :, n_luma:], chroma.shape)[:, :, : -(-height // 2), : -(-width // 2)]
    return _colours(luma, _doubled(chroma)[:, :, :height, :width])


def jpeg_compression(images: Tensor, level: BatchLevel) -> Tensor:
    """Strong compression: the round trip at a low quality."""
    return round_trip(images, level.parameters["quality"])


@lru_cache(maxsize=32)
def _steps(quality: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Quantisation steps for luma and chroma, float32 of shape (8, 8, 1), from the codec itself."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", quality=quality)
    with Image.open(file) as picture:
        tables: dict[int, list[int]] = picture.quantization  # type: ignore[attr-defined]
    luma, chroma = (
        torch.tensor(tables[i], dtype=torch.float32).reshape(8, 8, 1).to(device) for i in (0, 1)
    )
    return luma, chroma


def _luma_and_chroma(images: Tensor) -> tuple[Tensor, Tensor]:
    """RGB to luma (N, 1, H, W) and both differences (N, 2, H, W), int32 about zero."""
    wide = images.to(torch.int32)
    luma = _mixed(wide, _LUMA, _HALF - (_CENTRE << _PLACES))
    differences = [_mixed(wide, w, _HALF - 1) for w in (_BLUE_DIFFERENCE, _RED_DIFFERENCE)]
    return luma[:, None], torch.stack(differences, 1)


def _mixed(wide: Tensor, weights: tuple[int, int, int], rounding: int) -> Tensor:
    red, green, blue = wide.unbind(1)
    mixed = (red * weights[0]).add_(green, alpha=weights[1]).add_(blue, alpha=weights[2])
    return mixed.add_(rounding).bitwise_right_shift_(_PLACES)


def _padded(planes: Tensor, rows: int, columns: int) -> Tensor:
    """The last column and the last row repeated up to multiples of the two numbers."""
    height, width = planes.shape[2:]
    if missing := -width % columns:
        planes = torch.cat((planes, planes[..., -1:].expand(-1, -1, -1, missing)), 3)
    if missing := -height % rows:
        planes = torch.cat((planes, planes[..., -1:, :].expand(-1, -1, missing, -1)), 2)
    return planes


def _halved(planes: Tensor) -> Tensor:
    """Means of 2 x 2 pixels, rounded down and up in turn along a row."""
    rows = planes[:, :, 0::2] + planes[:, :, 1::2]
    sums = rows[..., 0::2] + rows[..., 1::2]
    odd = torch.arange(sums.shape[3], dtype=torch.int32, device=planes.device) % 2
    return sums.add_(odd + 1).bitwise_right_shift_(2)


def _blocks(planes: Tensor) -> Tensor:
    """Planes (N, C, H, W) to blocks (8 rows, 8 columns, N * C * H/8 * W/8)."""
    count, channels, height, width = planes.shape
    tiles = planes.reshape(count, channels, height // 8, 8, width // 8, 8)
    return tiles.permute(3, 5, 0, 1, 2, 4).reshape(8, 8, -1)


def _plane(blocks: Tensor, shape: torch.Size) -> Tensor:
    """Blocks (8 columns, 8 rows, ...) to planes of a shape (N, C, H, W)."""
    count, channels, height, width = shape
    tiles = blocks.reshape(8, 8, count, channels, height // 8, width // 8)
    return tiles.permute(2, 3, 4, 1, 5, 0).reshape(shape)


def _quantise(coefficients: Tensor, steps: Tensor) -> None:
    """Replace coefficients, eight times too large, by the nearest multiples of their steps.

    Ties go away from zero. A quotient is a multiple of 1/(8 step); a quarter of that added to the
    half keeps single precision from missing a tie, and is too little to make one.
    """
    quotients = coefficients * (0.125 / steps)
    quotients += torch.copysign(0.5 + 1 / (32 * steps), quotients)
    coefficients.copy_(quotients.trunc_().mul_(steps))


def _doubled(planes: Tensor) -> Tensor:
    """Chroma (N, 2, h, w) at twice the size: the nearer sample counts three times, both ways."""
    above = torch.cat((planes[:, :, :1], planes[:, :, :-1]), 2)
    below = torch.cat((planes[:, :, 1:], planes[:, :, -1:]), 2)
    rows = torch.stack((above.add_(planes, alpha=3), below.add_(planes, alpha=3)), 3).flatten(2, 3)
    left = torch.cat((rows[..., :1], rows[..., :-1]), 3).add_(8)
    right = torch.cat((rows[..., 1:], rows[..., -1:]), 3).add_(7)
    both = torch.stack((left.add_(rows, alpha=3), right.add_(rows, alpha=3)), 4).flatten(3, 4)
    return both.bitwise_right_shift_(4)


def _colours(luma: Tensor, chroma: Tensor) -> Tensor:
    """Luma (N, H, W) and both differences (N, 2, H, W) to uint8 RGB (N, 3, H, W)."""
    blue, red = chroma.unbind(1)
    out = torch.empty((len(luma), 3, *luma.shape[1:]), dtype=torch.int32, device=luma.device)
    torch.mul(red, _RED_FROM_RED, out=out[:, 0])
    torch.mul(blue, _GREEN_FROM_BLUE, out=out[:, 1])
    out[:, 1].add_(red, alpha=_GREEN_FROM_RED)
    torch.mul(blue, _BLUE_FROM_BLUE, out=out[:, 2])
    out += _HALF + (_CENTRE << _PLACES)
    out >>= _PLACES
    out += luma[:, None]
    return out.clamp_(0, 255).to(torch.uint8)
