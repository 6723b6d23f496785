"""YouTube-BB on disk in small: its four tables, and some of the videos.

The tables have no head; a video has several segments, of several objects and classes; objects go
and come back. Of the videos that the tables name one was never there, and one has no
bytes. Times are whole seconds and a fifteenth: at 30 frames a second they fall on
no round frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ops.catalog import classes as catalog_classes
from ops.miniature import tars
from ops.miniature.filming import SIDE, Film, Shot, Thing, film
from ops.miniature.mp4 import h264

_BIRD, _BUS, _BEAR, _AIRPLANE, _ZEBRA = 1, 4, 5, 13, 17
FILES = {
    "classification_train": "yt_bb_classification_train.csv.gz",
    "classification_validation": "yt_bb_classification_validation.csv.gz",
    "detection_train": "yt_bb_detection_train.csv.gz",
    "detection_validation": "yt_bb_detection_validation.csv.gz",
}


@dataclass(frozen=True)
class Video:
    """One video: frames a second, what is filmed, when it is looked at, and where it lies."""

    fps: int
    shots: tuple[Shot, ...]
    times_ms: tuple[int, ...]
    suffix: str | None = ".mp4"
    empty: bool = False


VIDEOS: dict[str, Video] = {
    "-miniAirpl1": Video(
        30, (Shot((Thing(_AIRPLANE, 404),), 90, speed=(0.001, 0.0)),), (67, 1067, 2067)
    ),
    "mini_Birds2": Video(
        25,
        (
            Shot(
                (
                    Thing(_BIRD, 10, -0.5, 0.1, 0.55),
                    Thing(_BIRD, 100, 0.5, -0.1, 0.55, range(40)),
                ),
                75,
            ),
        ),
        (0, 1000, 2000),
    ),
    "miniBusZeb3": Video(
        15,
        (Shot((Thing(_BUS, 779),), 24), Shot((Thing(_ZEBRA, 340),), 24)),
        (133, 1133, 2133),
    ),
    "miniGone004": Video(30, (Shot((Thing(_BEAR, 295),), 60),), (0, 1000), suffix=None),
    "miniEmpty05": Video(30, (Shot((Thing(_BEAR, 295),), 60),), (0, 1000), empty=True),
}


def write(folder: Path, *, seed: int = 0) -> Path:
    """Write the tables, and the videos that there are below ``videos/``.

    Parameters
    ----------
    folder : Path
        Made if missing.
    seed : int
        Key of all randomness: the same seed gives the same bytes.

    Returns
    -------
    Path
        `folder`.
    """
    videos = folder / "videos"
    videos.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[str]] = {name: [] for name in FILES}
    for rank, (youtube_id, video) in enumerate(VIDEOS.items()):
        split = "validation" if rank == 2 else "train"
        made = film(video.shots, seed, "youtube-bb", youtube_id)
        rows[f"detection_{split}"] += _detection(youtube_id, video, made)
        rows[f"classification_{split}"] += _classification(youtube_id, video, made)
        if video.suffix is not None:
            content = b"" if video.empty else h264(made.frames, fps=video.fps)
            (videos / f"{youtube_id}{video.suffix}").write_bytes(content)
    # Two classes whose numbers are told apart by their names alone.
    rows["classification_train"] += [
        "miniCarCar6,0,23,car,present\n",
        "miniNoneNo7,0,22,none,present\n",
    ]
    for name, file in FILES.items():
        (folder / file).write_bytes(tars.gzipped("".join(rows[name]).encode()))
    return folder


def _detection(youtube_id: str, video: Video, made: Film) -> list[str]:
    """A row for each thing and time; the box is -1 where the thing is absent."""
    names = catalog_classes.video("ytbb24").names
    things = [thing for shot in video.shots for thing in shot.things]
    rows = []
    for number, thing in enumerate(things):
        for time in video.times_ms:
            seen = {each.track: each for each in made.seen[_frame(time, video.fps)]}
            where, box = "absent", "-1.0,-1.0,-1.0,-1.0"
            if number in seen:
                xmin, ymin, xmax, ymax = (value / SIDE for value in seen[number].box)
                where, box = "present", f"{xmin:.4g},{xmax:.4g},{ymin:.4g},{ymax:.4g}"
            row = f"{youtube_id},{time},{thing.label},{names[thing.label]},{number}"
            rows.append(f"{row},{where},{box}\n")
    return rows


def _classification(youtube_id: str, video: Video, made: Film) -> list[str]:
    names = catalog_classes.video("ytbb24").names
    rows = []
    for label in sorted({thing.label for shot in video.shots for thing in shot.things}):
        for time in video.times_ms:
            there = any(each.label == label for each in made.seen[_frame(time, video.fps)])
            where = "present" if there else "absent"
            rows.append(f"{youtube_id},{time},{label},{names[label]},{where}\n")
    return rows


def _frame(time_ms: int, fps: int) -> int:
    """The first frame at or after a time, which is rounded to milliseconds."""
    return -(-(time_ms - 1) * fps // 1000)
