"""The first look at every video: which it is, how it is timed, and where its anchors lie.

No pixel is decoded here, so that the shards can be laid out before the costly part begins.
"""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.video.clip import Clip
from ops.video.decoding import UnreadableVideo, open_video
from ops.video.mining.anchors import draw_anchors
from ops.video.mining.examined import ExaminedClip
from ops.video.mining.identity import sha256_of, stamp_of
from ops.video.mining.published import published_anchors
from ops.video.mining.seen import SeenFrames, finite
from ops.video.mining.tables import Status

if TYPE_CHECKING:
    from ops.video.sources import VideoSource

# The only signs that are safe in the name of a tar member and in a URL, and hold no dot.
_KEY = re.compile(r"[A-Za-z0-9_%-]+")


@dataclass(frozen=True)
class ExamineTask:
    """Some clips of a source; the source is pickled, to be opened once in a process."""

    source: bytes
    keys: tuple[str, ...]
    n_classes: int


@lru_cache(maxsize=2)
def opened(source: bytes) -> VideoSource:
    """The source of a task: its labels are read once in each process, and not for each task."""
    found: VideoSource = pickle.loads(source)
    return found


def examine(task: ExamineTask) -> list[ExaminedClip]:
    """Examine some clips; what is wrong with one of them becomes its row."""
    source = opened(task.source)
    return [_examined(source, key, task.n_classes) for key in task.keys]


def _examined(source: VideoSource, key: str, n_classes: int) -> ExaminedClip:
    if not _KEY.fullmatch(key):
        raise ShiftlakeError(
            "The key of a clip cannot be a name in a tar.",
            expected="letters, digits, _, - and %",
            found=repr(key[:200]),
            where=f"source {source.name}",
            remedy="this is a fault of the kind of source; percent-encode the key",
        )
    try:
        clip = source.clip(key)
    except ShiftlakeError as error:
        row = {"clip": key, "video": key, "file": key}
        return ExaminedClip(key, row | _state("failed", error.found))
    row = {"clip": key, "video": clip.video, "file": clip.file}
    if clip.path is None or not clip.path.exists():
        return ExaminedClip(key, row | _state("missing", clip.problem or "not on disk"))
    if problem := clip.problem or _wrong_labels(clip, n_classes):
        return ExaminedClip(key, row | _state("failed", _without(clip.path, clip, problem)))
    return _opened(source, clip, clip.path, row)


def _opened(source: VideoSource, clip: Clip, path: Path, row: dict[str, Any]) -> ExaminedClip:
    config = source.entry.mining
    try:
        stamp = stamp_of(path)
        row = row | {"sha256": sha256_of(path)}
        hd_is_bt709 = config.untagged_hd_is_bt709
        with open_video(path, fps=clip.fps, untagged_hd_is_bt709=hd_is_bt709) as video:
            row |= {
                "n_frames": video.n_frames,
                "fps": finite(video.fps),
                "variable_rate": video.variable_rate,
                "codec": video.codec,
                "width": video.width,
                "height": video.height,
                "rotation": video.rotation,
                "color_space": video.color_space,
                "seconds": finite(video.seconds[-1]) if video.n_frames else None,
            }
            problem = video.problem
            seen = SeenFrames(clip, video.seconds, video.width, video.height)
            published = source.frame_sets(clip.key)
            if published is None:
                anchors = draw_anchors(source.name, clip, seen, config)
            else:
                anchors = published_anchors(published, clip, config)
            pixels = video.width * video.height
    except UnreadableVideo as error:
        return ExaminedClip(clip.key, row | _state("failed", _without(path, clip, error.found)))
    except OSError as error:
        return ExaminedClip(clip.key, row | _state("failed", f"unreadable: {error.strerror}"))
    if not row["n_frames"]:
        return ExaminedClip(clip.key, row | _state("failed", "a video without a frame"))
    if not anchors:
        why = "no frame shows a wanted class" if published is None else "in no published frame set"
        return ExaminedClip(clip.key, row | _state("no_label", _notes(why, seen, problem)))
    row |= _state("ok", _notes(None, seen, problem))
    return ExaminedClip(clip.key, row, tuple(anchors), pixels, stamp, decoded=path.is_file())


def _state(status: Status, reason: object) -> dict[str, Any]:
    return {"status": status, "reason": None if reason is None else str(reason)}


def _notes(why: str | None, seen: SeenFrames, problem: str | None) -> str | None:
    """What there is to say of a clip that can be opened."""
    return "; ".join(filter(None, (why, problem, seen.beyond))) or None


def _without(path: Path, clip: Clip, reason: object) -> str:
    """A reason that names no path of this machine."""
    text = str(reason)
    for place in (path, path.resolve()):
        text = text.replace(str(place), PurePosixPath(clip.file).name)
    return text


def _wrong_labels(clip: Clip, n_classes: int) -> str | None:
    """Why the labels of a clip cannot be stored, if they cannot."""
    for segment in clip.segments:
        labels = [*segment.labels, *(at for each in segment.annotations for at in each.labels)]
        boxes = [box for each in segment.annotations for box in each.boxes or ()]
        labels += [box.label for box in boxes]
        wrong = [label for label in labels if not 0 <= label < n_classes]
        if wrong:
            return f"label {wrong[0]} of a label space of {n_classes} classes"
        for box in boxes:
            sides = (box.xmin, box.ymin, box.xmax, box.ymax)
            if not all(map(math.isfinite, sides)):
                return f"a box without a place: {sides}"
    return None
