"""What a source says of one video: where it lies, and what is seen in it when."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Box:
    """One object in a picture.

    Attributes
    ----------
    label : int
        In the source's label space.
    xmin, ymin, xmax, ymax : float
        Continuous coordinates: pixels of the picture as it is displayed, or shares of its width
        and height where the annotation is `relative`.
    track : str or None
        Names the object through the video.
    occluded, generated : bool or None
        Whether it is partly hidden; whether the box was interpolated and not drawn by a person.
    """

    label: int
    xmin: float
    ymin: float
    xmax: float
    ymax: float
    track: str | None = None
    occluded: bool | None = None
    generated: bool | None = None


@dataclass(frozen=True)
class Annotation:
    """What is seen at one moment; exactly one of `frame` and `seconds` is given.

    Attributes
    ----------
    labels : tuple of int
        Ascending, each once; empty where it is known that no class is seen.
    frame : int or None
        In the order of presentation, from 0.
    seconds : float or None
        The first frame presented at or after this time is meant.
    boxes : tuple of Box or None
        None where boxes are not annotated, empty where there are none to draw.
    relative : bool
        Whether boxes are shares of width and height.
    """

    labels: tuple[int, ...]
    frame: int | None = None
    seconds: float | None = None
    boxes: tuple[Box, ...] | None = None
    relative: bool = False


@dataclass(frozen=True)
class Segment:
    """A stretch of a video that anchors are drawn from on its own.

    Attributes
    ----------
    key : str
        Unique in its clip; empty where the clip is one segment.
    annotations : tuple of Annotation
        In the order of presentation.
    labels : tuple of int
        Of every frame, where the source labels whole videos and no moments; else empty.
    """

    key: str
    annotations: tuple[Annotation, ...] = ()
    labels: tuple[int, ...] = ()


@dataclass(frozen=True)
class Clip:
    """A video with its labels.

    Attributes
    ----------
    key : str
        Of letters, digits, ``_``, ``-`` and ``%`` only; unique in the source.
    video : str
        Name of the video it is from: sets of one video are not independent.
    file : str
        Name of the file or folder below the source's own, for people.
    path : Path or None
        A video file or a folder of numbered frames on this machine; None where it is missing.
    segments : tuple of Segment
    dense : bool
        Whether every frame is annotated, so that one without an annotation shows no class.
    problem : str or None
        Why it cannot be mined, where that is known without opening it.
    fps : float or None
        Frames a second of a folder of frames, which does not tell it itself.
    """

    key: str
    video: str
    file: str
    path: Path | None
    segments: tuple[Segment, ...]
    dense: bool
    problem: str | None = None
    fps: float | None = None
