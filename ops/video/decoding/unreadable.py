"""The one error of a video that cannot be read at all."""

from __future__ import annotations

from ops.errors import ShiftlakeError


class UnreadableVideo(ShiftlakeError):
    """A file or folder that gives no frames; `found` is the reason, in one line."""

    def __init__(
        self,
        what: str = "A video cannot be read.",
        *,
        expected: object = "a video file, or a folder of numbered JPEG frames",
        found: object,
        where: object,
        remedy: str = "fetch it again, or leave it out; every other video is still mined",
    ) -> None:
        super().__init__(what, expected=expected, found=found, where=where, remedy=remedy)
