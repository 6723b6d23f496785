"""What every video can do, whatever it is stored as."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from ops.errors import ShiftlakeError
from ops.video.decoding.picture import Picture


class Video(ABC):
    """An open video; close it, or use it as a context.

    Attributes
    ----------
    where : str
        Name of its file or folder, for messages.
    n_frames : int
        How many it presents, by its own table; a cut file may promise frames that do not decode.
    seconds : float64 array, shape (n_frames,)
        When each is presented, from the first; ascending. NaN where the rate is unknown.
    fps : float
        Frames a second; of a variable rate that of the median distance, so that a gap shows
        against it. NaN where unknown, as for numbered pictures.
    variable_rate : bool
        Whether frames are not evenly spaced.
    codec : str or None
        FFmpeg's name of the format of the pictures.
    color_space : str or None
        FFmpeg's name of the tagged YUV matrix; None where the file is untagged.
    problem : str or None
        What is wrong with the whole, though some of it can be read.
    n_damaged : int
        Frames asked for up to now that could not be given.
    """

    where: str
    n_frames: int
    seconds: npt.NDArray[np.float64]
    fps: float
    variable_rate: bool
    codec: str | None
    color_space: str | None
    problem: str | None

    @property
    @abstractmethod
    def width(self) -> int:
        """Pixels from left to right, as displayed."""

    @property
    @abstractmethod
    def height(self) -> int:
        """Pixels from top to bottom, as displayed."""

    @property
    @abstractmethod
    def rotation(self) -> int:
        """Degrees, anticlockwise, by which stored pictures were turned: 0, 90, 180 or 270."""

    @property
    @abstractmethod
    def n_damaged(self) -> int:
        """Frames asked for up to now that could not be given, each counted once."""

    @abstractmethod
    def pictures(self, indices: Sequence[int]) -> Iterator[Picture]:
        """Give frames one at a time, as they become ready; at most one is held here.

        Parameters
        ----------
        indices : sequence of int
            In any order; repeats count once.

        Yields
        ------
        Picture
            One for every index: sound ones in the order of presentation, as a rule, and those
            with a `problem` after them.

        Raises
        ------
        ShiftlakeError
            If there is no such frame, or the video was closed.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the file; it cannot be read after that."""

    def read(self, indices: Sequence[int]) -> list[Picture]:
        """Read frames in one pass.

        Parameters
        ----------
        indices : sequence of int
            In any order; repeats count once.

        Returns
        -------
        list of Picture
            In the order of presentation, one for every index that was asked for.

        Raises
        ------
        ShiftlakeError
            If there is no such frame, or the video was closed.
        """
        return sorted(self.pictures(indices), key=lambda picture: picture.index)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _asked(self, indices: Sequence[int]) -> list[int]:
        """Sort indices, each once, and refuse those that are not frames."""
        asked = sorted({int(index) for index in indices})
        if asked and not 0 <= asked[0] <= asked[-1] < self.n_frames:
            raise ShiftlakeError(
                "There is no such frame.",
                expected=f"numbers from 0 to {self.n_frames - 1}",
                found=f"{asked[0]} to {asked[-1]}",
                where=self.where,
                remedy="Ask for frames of the video; their count is n_frames.",
            )
        return asked
