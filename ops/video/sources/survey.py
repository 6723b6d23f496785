"""Looking a source through before anything is made of it: what is there, and what it shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ops.video.clip import Clip
from ops.video.decoding import UnreadableVideo, open_video
from ops.video.mining.seen import SeenFrames
from ops.video.sources.source import VideoSource


@dataclass
class Survey:
    """What is there of a source.

    Attributes
    ----------
    clips, there : int
        Clips that the labels name, and those whose video is there and, as far as one looked, can
        be used.
    missing : dict of str to str
        Why videos that are not there are said to be missing, by their names.
    unusable : list of str
        Files that are, with the reason why they cannot be used.
    remarks : list of str
        Files that can be used, and what is odd of them: they break off, labelled moments lie behind
        their end, boxes leave their picture by more than a pixel. Known of videos that were opened.
    moments, boxes : int
        Labelled moments, and their boxes.
    clips_of, moments_of : Counter of int
        By class: clips that show it anywhere, labelled moments that do.
    """

    clips: int = 0
    there: int = 0
    missing: dict[str, str] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
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
        Whether to open every video, too.

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
            found.missing[clip.video] = clip.problem or "not on disk"
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
            seen = SeenFrames(clip, video.seconds, width, height)
            odd = [video.problem, seen.beyond]
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
        odd.append(f"{leaving:,} of {len(boxes):,} boxes leave its {width} x {height} pixels")
    found.remarks += [f"{clip.file}: {each}" for each in odd if each]
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
