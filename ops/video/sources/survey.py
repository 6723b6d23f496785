"""Looking a source through before anything is made of it: what is there, and what it shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ops.video.clip import Clip
from ops.video.decoding import UnreadableVideo, open_video
from ops.video.sources.source import VideoSource


@dataclass
class Survey:
    """What is there of a source.

    Attributes
    ----------
    clips, there : int
        Clips that the labels name, and those whose video is there and, as far as one looked, can
        be used.
    missing : list of str
        Names of videos that are not there.
    unusable : list of str
        Files that are, with the reason why they cannot be used.
    outside : list of str
        Files with boxes that leave their picture by more than a pixel, and how many; known of
        videos that were opened.
    moments, boxes : int
        Labelled moments, and their boxes.
    clips_of, moments_of : Counter of int
        By class: clips that show it anywhere, labelled moments that do.
    """

    clips: int = 0
    there: int = 0
    missing: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    moments: int = 0
    boxes: int = 0
    clips_of: Counter[int] = field(default_factory=Counter)
    moments_of: Counter[int] = field(default_factory=Counter)


def survey(source: VideoSource, *, open_videos: bool = False) -> Survey:
    """Look at every clip of a source.

    Parameters
    ----------
    source : VideoSource
    open_videos : bool
        Whether to open every video, too: it finds those that break off, and boxes of other pixels
        than theirs.

    Raises
    ------
    ShiftlakeError
        If the labels cannot be read.
    """
    found = Survey()
    for key in source.keys():  # noqa: SIM118
        clip = source.clip(key)
        found.clips += 1
        if clip.path is None:
            found.missing.append(clip.video)
        elif problem := clip.problem or _problem(clip, found, opened=open_videos):
            found.unusable.append(f"{clip.file}: {problem}")
        else:
            found.there += 1
        _count(clip, found)
    return found


def _problem(clip: Clip, found: Survey, *, opened: bool) -> str | None:
    assert clip.path is not None, f"{clip.file} has no path"
    if clip.path.is_file() and not clip.path.stat().st_size:
        return "0 bytes"
    if not opened:
        return None
    try:
        with open_video(clip.path, fps=clip.fps) as video:
            width, height = video.width, video.height
    except UnreadableVideo as error:
        return str(error.found)
    boxes = [
        box
        for segment in clip.segments
        for annotation in segment.annotations
        if not annotation.relative
        for box in annotation.boxes or ()
    ]
    leaving = sum(
        min(box.xmin, box.ymin) < -1 or box.xmax > width + 1 or box.ymax > height + 1
        for box in boxes
    )
    if leaving:
        found.outside.append(
            f"{clip.file}: {leaving:,} of {len(boxes):,} boxes leave its {width} x {height} pixels"
        )
    return None


def _count(clip: Clip, found: Survey) -> None:
    seen: set[int] = set()
    for segment in clip.segments:
        seen.update(segment.labels)
        for annotation in segment.annotations:
            found.moments += 1
            found.boxes += len(annotation.boxes or ())
            found.moments_of.update(annotation.labels)
            seen.update(annotation.labels)
    found.clips_of.update(seen)
