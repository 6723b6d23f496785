"""A folder of numbered pictures, as ImageNet-Vid and YTBB-Robust publish their frames."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from ops.pixels import UndecodableImage, decode
from ops.video.decoding.containers import MAX_FRAMES, MAX_PIXELS
from ops.video.decoding.picture import Picture
from ops.video.decoding.rate import frame_rate
from ops.video.decoding.unreadable import UnreadableVideo
from ops.video.decoding.video import Video

_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>[0-9]{1,9})\.jpe?g", re.IGNORECASE)


class FrameFolder(Video):
    """JPEG files whose names end in a number, in the order of these.

    The numbers need not begin at 0. Where some are missing, their frames are: the next file is the
    next frame, and its time tells the gap.

    Parameters
    ----------
    folder : Path
    fps : float, optional
        Frames a second, which pictures do not tell.

    Attributes
    ----------
    numbers : tuple of int
        In the name of every frame.

    Raises
    ------
    UnreadableVideo
        If there are no such files, or two of one number or of different names.
    """

    def __init__(self, folder: Path, *, fps: float | None = None) -> None:
        self.where = folder.name
        self._files = _numbered(folder)
        self.numbers = tuple(self._files)
        self.n_frames = len(self.numbers)
        steps = np.array(self.numbers, np.float64) - self.numbers[0]
        _, self.variable_rate = frame_rate(steps, 0.0)
        self.fps = float("nan") if fps is None else float(fps)
        self.seconds = steps / self.fps
        self.codec, self.color_space, self.problem = "mjpeg", None, None
        self._damaged: set[int] = set()
        self._size: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self._first_size[0]

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return self._first_size[1]

    @property
    def rotation(self) -> int:
        """Always 0: as everywhere else, published pictures are taken as they are stored."""
        return 0

    @property
    def n_damaged(self) -> int:
        """Frames asked for up to now that could not be given, each counted once."""
        return len(self._damaged)

    @property
    def _first_size(self) -> tuple[int, int]:
        """Size of the first picture that has one."""
        if self._size is None:
            self._size = next(filter(None, map(_size, self._files.values())), (0, 0))
        return self._size

    def close(self) -> None:
        """Nothing is held open."""

    def pictures(self, indices: Sequence[int]) -> Iterator[Picture]:
        """Give frames one at a time; see :meth:`Video.pictures`."""
        for index in self._asked(indices):
            picture = self._picture(index)
            if picture.problem is not None:
                self._damaged.add(index)
            yield picture

    def _picture(self, index: int) -> Picture:
        seconds = float(self.seconds[index])
        try:
            data = self._files[self.numbers[index]].read_bytes()
            image = decode(data)
        except UndecodableImage as error:
            return Picture(index, seconds, None, None, str(error.found))
        except OSError as error:
            return Picture(index, seconds, None, None, f"unreadable: {error.strerror}")
        if image.size != self._first_size:
            found = f"of another size: {image.width} x {image.height} pixels"
            return Picture(index, seconds, None, None, found)
        return Picture(index, seconds, None, np.asarray(image), None, data)


def _numbered(folder: Path) -> dict[int, Path]:
    """Files by number, ascending."""
    found: dict[int, Path] = {}
    names: set[str] = set()
    for path in folder.iterdir():
        match = _NUMBERED.fullmatch(path.name)
        if match is None or not path.is_file():
            continue
        number = int(match["number"])
        names.add(match["before"])
        if number in found or len(names) > 1:
            raise UnreadableVideo(
                expected="one series of numbered JPEG files",
                found=f"{found.get(number, sorted(names)[0])!s} and {path.name}".split("/")[-1],
                where=folder.name,
            )
        found[number] = path
    if not 0 < len(found) <= MAX_FRAMES:
        raise UnreadableVideo(
            expected=f"JPEG files named by number, at most {MAX_FRAMES:,}",
            found=f"a folder with {len(found)} of them",
            where=folder.name,
        )
    return dict(sorted(found.items()))


def _size(path: Path) -> tuple[int, int] | None:
    """Width and height by the header of a picture; None where it has none within the limit."""
    try:
        with (
            path.open("rb") as file,
            Image.open(io.BytesIO(file.read()), formats=("JPEG",)) as image,
        ):
            size = image.size
    except Exception:  # what Pillow raises on damaged files is not limited to OSError
        return None
    return size if size[0] * size[1] <= MAX_PIXELS else None
