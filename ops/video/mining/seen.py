"""What the labels say of each frame of a clip: annotated moments put where they are presented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ops.video.clip import Annotation, Box, Clip
from ops.video.mining.config import MiningConfig

# A label file has its times in milliseconds, some containers have theirs as well: a frame this
# little before an annotated time is the frame meant. Frames lie at least four times as far apart.
_TOLERANCE = 0.001


@dataclass(frozen=True)
class Seen:
    """What is annotated in one frame: labels, ascending, and boxes in pixels as displayed."""

    labels: tuple[int, ...]
    boxes: tuple[Box, ...] | None = None


class SeenFrames:
    """The labels of a clip, frame by frame.

    Parameters
    ----------
    clip : Clip
    seconds : float array, shape (n_frames,)
        When each frame is presented, from the first; NaN where the rate is unknown.
    width, height : int
        Of the picture as displayed.

    Attributes
    ----------
    n_frames : int
    beyond : str or None
        That some labelled moments lie behind the last frame, or their place cannot be known.
    """

    def __init__(
        self, clip: Clip, seconds: npt.NDArray[np.float64], width: int, height: int
    ) -> None:
        self.n_frames = len(seconds)
        self._dense = clip.dense
        self._short_side = min(width, height)
        self._whole = [segment.labels for segment in clip.segments]
        self._by_segment: list[dict[int, Seen]] = []
        beyond = 0
        for segment in clip.segments:
            found: dict[int, Seen] = {}
            for annotation in segment.annotations:
                frame = _frame(annotation, seconds)
                if 0 <= frame < self.n_frames:
                    found[frame] = _joined(found.get(frame), _seen(annotation, width, height))
                else:
                    beyond += 1
            self._by_segment.append(found)
        self.beyond = _beyond(beyond, clip, seconds) if beyond else None
        self._all: dict[int, Seen] = {}
        for found in self._by_segment:
            for frame, seen in found.items():
                self._all[frame] = _joined(self._all.get(frame), seen)
        self._always = _union(*self._whole)

    def annotated(self, frame: int) -> Seen | None:
        """What was annotated in this very frame; None where nobody looked."""
        return self._all.get(frame)

    def labels(self, frame: int, as_at: int | None = None) -> tuple[int, ...] | None:
        """Classes known to be seen in a frame; None where nothing is known of it.

        Parameters
        ----------
        frame : int
        as_at : int, optional
            Ask only the segments that are annotated in that other frame. A segment follows one
            object: where another one is annotated, nothing is said of it.
        """
        seen = self._all.get(frame)
        if as_at is not None:
            both = [of for of in self._by_segment if as_at in of and frame in of]
            seen = Seen(_union(*(of[frame].labels for of in both))) if both else None
        if seen is None and not self._always:
            return () if self._dense else None
        return _union(seen.labels if seen else (), self._always)

    def eligible(self, segment: int, config: MiningConfig) -> Sequence[int]:
        """Frames of a segment that can be anchors, ascending: they show a wanted class."""
        whole = _wanted(self._whole[segment], config)
        if whole and not config.min_object_size:
            return range(self.n_frames)
        least = config.min_object_size * self._short_side
        return sorted(
            frame
            for frame, seen in self._by_segment[segment].items()
            if (whole or _wanted(seen.labels, config)) and _largest(seen, config) >= least
        )


def finite(value: float) -> float | None:
    """A time or rate to six digits as it is stored: None where it is unknown."""
    return round(float(value), 6) if np.isfinite(value) else None


def _frame(annotation: Annotation, seconds: npt.NDArray[np.float64]) -> int:
    """The first frame presented at or after the annotated time; -1 where that is not known."""
    if annotation.seconds is None:
        return -1 if annotation.frame is None else annotation.frame
    if not len(seconds) or np.isnan(seconds[-1]):
        return -1
    return int(np.searchsorted(seconds, annotation.seconds - _TOLERANCE, side="left"))


def _beyond(count: int, clip: Clip, seconds: npt.NDArray[np.float64]) -> str:
    moments = sum(len(segment.annotations) for segment in clip.segments)
    last = f"its last frame, {len(seconds) - 1}"
    if len(seconds) and np.isfinite(seconds[-1]):
        last += f" at {seconds[-1]:.3f} s"
    lie = "lies" if count == 1 else "lie"
    return f"{count:,} of {moments:,} labelled moments {lie} behind {last}"


def _seen(annotation: Annotation, width: int, height: int) -> Seen:
    boxes = annotation.boxes
    if boxes is not None and annotation.relative:
        boxes = tuple(
            replace(
                box,
                xmin=box.xmin * width,
                ymin=box.ymin * height,
                xmax=box.xmax * width,
                ymax=box.ymax * height,
            )
            for box in boxes
        )
    return Seen(_union(annotation.labels), boxes)


def _joined(first: Seen | None, second: Seen) -> Seen:
    """What two annotations of one frame say together."""
    if first is None:
        return second
    labels = _union(first.labels, second.labels)
    if first.boxes is None or second.boxes is None:
        return Seen(labels, first.boxes if second.boxes is None else second.boxes)
    return Seen(labels, first.boxes + second.boxes)


def _union(*labels: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({label for some in labels for label in some}))


def _wanted(labels: tuple[int, ...], config: MiningConfig) -> tuple[int, ...]:
    if config.classes is None:
        return labels
    return tuple(label for label in labels if label in config.classes)


def _largest(seen: Seen, config: MiningConfig) -> float:
    """Shorter side, in pixels, of the box of a wanted class with the longest one."""
    sides = (
        min(box.xmax - box.xmin, box.ymax - box.ymin)
        for box in seen.boxes or ()
        if config.classes is None or box.label in config.classes
    )
    return max(sides, default=0.0)
