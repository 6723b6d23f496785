"""From the published bytes of an image to 8-bit RGB, whatever its name claims it is."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from ops.errors import ShiftlakeError

# Only formats that benchmarks use; ops.shards.sample knows their magic. Pillow would also open EPS,
# which starts a PostScript interpreter on the file's content.
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "WEBP", "TIFF")
# Four times the largest ILSVRC photograph; a few kilobytes of PNG can claim gigabytes of pixels.
MAX_PIXELS = 89_478_485


class UndecodableImage(ShiftlakeError):
    """The bytes of a sample are no image; `found` is the reason, in one line."""

    def __init__(
        self,
        what: str = "An image cannot be decoded.",
        *,
        expected: object = f"one of {', '.join(FORMATS)}",
        found: object,
        where: object = "a sample",
        remedy: str = "nothing, if it was published so: it counts as a wrong prediction",
    ) -> None:
        super().__init__(what, expected=expected, found=found, where=where, remedy=remedy)


def decode(data: bytes | None) -> Image.Image:
    """Decode an image to 8-bit RGB.

    The format is told by content, never by name. Transparency is dropped, not composed, and CMYK
    is converted without a profile, as ``PIL.Image.convert("RGB")`` does and thus torchvision and
    timm. EXIF orientation is *not* applied, for the same reason: the published results of every
    benchmark were computed without it. Sixteen-bit samples keep their high byte. Of an animation
    the first frame is taken.

    Parameters
    ----------
    data : bytes or None
        The bytes of the image file.

    Returns
    -------
    PIL.Image.Image
        Mode RGB.

    Raises
    ------
    UndecodableImage
        If the content is missing, cut, of no known format, or over `MAX_PIXELS` pixels.
    """
    if not data:
        raise UndecodableImage(found="no bytes")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        if image.width * image.height > MAX_PIXELS:
            raise UndecodableImage(
                expected=f"at most {MAX_PIXELS:,} pixels",
                found=f"{image.width} x {image.height} pixels, over the limit of {MAX_PIXELS:,}",
            )
        if image.format == "JPEG":
            # In one piece: by default the decoder is fed, and stopped, every 64 KiB.
            image.decodermaxblock = len(data)
        image.load()
        return image if image.mode == "RGB" else _to_rgb(image)
    except UndecodableImage:
        raise
    except UnidentifiedImageError as error:
        raise UndecodableImage(found=f"content of no known format ({len(data)} bytes)") from error
    # What Pillow's format plugins raise on damaged files is not limited to OSError.
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UndecodableImage(found=reason) from error


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F":
        raise UndecodableImage(found="floating-point pixels, which have no defined 8-bit value")
    if image.mode == "I" or image.mode.startswith("I;16"):
        # Pillow's own conversion of mode I clips everything above 255 to white.
        wide = np.asarray(image)
        if wide.min() < 0 or wide.max() > 0xFFFF:
            raise UndecodableImage(found="integer pixels outside 0..65535")
        image = Image.fromarray((wide >> 8).astype(np.uint8))
    return image.convert("RGB")
