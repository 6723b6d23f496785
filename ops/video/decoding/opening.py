"""One way into every kind of video."""

from __future__ import annotations

from pathlib import Path

from ops.video.decoding.frame_folder import FrameFolder
from ops.video.decoding.video import Video
from ops.video.decoding.video_file import VideoFile


def open_video(
    path: Path, *, fps: float | None = None, untagged_hd_is_bt709: bool = False
) -> Video:
    """Open a video.

    Parameters
    ----------
    path : Path
        A file of a container with times (MP4, MOV, Matroska, WebM, AVI, MPEG-TS and others), or a
        folder of numbered JPEG frames.
    fps : float, optional
        Frames a second of numbered frames; files tell theirs.
    untagged_hd_is_bt709 : bool
        Take untagged pictures of 720 rows and more for BT.709. By default they are taken for
        BT.601, as every reader does.

    Returns
    -------
    Video
        Open; use it as a context.

    Raises
    ------
    UnreadableVideo
        If it gives no frames; `found` says why.

    Examples
    --------
    >>> with open_video(path) as video:  # doctest: +SKIP
    ...     pictures = video.read(range(100, 121))
    """
    if path.is_dir():
        return FrameFolder(path, fps=fps)
    return VideoFile(path, untagged_hd_is_bt709=untagged_hd_is_bt709)
