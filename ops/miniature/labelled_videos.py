"""A folder of short labelled videos, as a person would keep them: what frame sets are mined from.

Twelve clips of drawn things drift, shake, turn, go out of focus, are passed by something and are
cut, so that of every kind of neighbour that a reviewer turns down there are some; beside them lie
a clip of three frames, one of no bytes, one that breaks off, and one that is named and not there.
"""

from __future__ import annotations

import json
from pathlib import Path

from ops.catalog import classes as catalog_classes
from ops.miniature.filming import Film, Shot, Thing, film
from ops.miniature.mp4 import h264

AIRPLANE, BEAR, BIRD, BUS, LION, WATERCRAFT, ZEBRA = 0, 2, 4, 5, 15, 27, 29
_OSTRICH, _ROBIN, _SWAN = 9, 10, 100

CLIPS: dict[str, tuple[int, tuple[Shot, ...]]] = {
    "airplane_drifts": (30, (Shot((Thing(AIRPLANE, 404),), 40, speed=(0.004, 0.001)),)),
    "airplane_leaves": (25, (Shot((Thing(AIRPLANE, 404),), 48, speed=(0.034, -0.004)),)),
    "bear_shakes": (30, (Shot((Thing(BEAR, 295),), 40, shake=0.07, turn=4.0),)),
    "bear_then_zebra": (
        30,
        (Shot((Thing(BEAR, 295),), 22), Shot((Thing(ZEBRA, 340),), 22, growth=0.006)),
    ),
    "bird_blurs": (30, (Shot((Thing(BIRD, _ROBIN),), 40, blurred=range(16, 34)),)),
    "bird_turns": (15, (Shot((Thing(BIRD, _SWAN),), 40, turn=4.5),)),
    "bus_is_passed": (
        30,
        (Shot((Thing(BUS, 779),), 44, speed=(-0.003, 0.0), passing=range(10, 34)),),
    ),
    "lion_and_zebra": (
        30,
        (
            Shot(
                (Thing(LION, 291, -0.5, 0.1, 0.55), Thing(ZEBRA, 340, 0.5, -0.1, 0.55, range(36))),
                44,
                speed=(0.002, 0.0),
            ),
        ),
    ),
    "lion_is_cut": (
        24,
        (Shot((Thing(LION, 291),), 20, turn=0.4), Shot((Thing(LION, 291),), 20, turn=-6.0)),
    ),
    "ostrich_nears": (50, (Shot((Thing(BIRD, _OSTRICH),), 40, growth=0.03),)),
    "watercraft_sails": (30, (Shot((Thing(WATERCRAFT, 833),), 40, speed=(-0.011, 0.0)),)),
    "zebra_stands": (30, (Shot((Thing(ZEBRA, 340),), 40),)),
    "bus_three_frames": (30, (Shot((Thing(BUS, 779),), 3),)),
}
"""Name -> frames a second, and what is filmed."""

EMPTY, BROKEN, ABSENT, WHOLE = "empty.mp4", "breaks_off.mp4", "lost.mp4", "zebra_stands"


def write(folder: Path, *, seed: int = 0) -> Path:
    """Write the videos, their labels and ``source.yaml``.

    Parameters
    ----------
    folder : Path
        Folder of the source, whose name is the source's; made if missing. Below it are
        ``videos/``, ``labels.json``, ``source.yaml``, and ``truth.json`` (by clip the frames out
        of focus, those in which something is partly hidden, and the first ones after a cut), of
        which the project itself reads nothing.
    seed : int
        Key of all randomness: the same seed gives the same bytes.

    Returns
    -------
    Path
        `folder`.
    """
    videos = folder / "videos"
    videos.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    truth: dict[str, object] = {}
    whole = b""
    for name, (fps, shots) in CLIPS.items():
        made = film(shots, seed, "labelled-videos", name)
        whole = h264(made.frames, fps=fps)
        (videos / f"{name}.mp4").write_bytes(whole)
        rows += _rows(name, made)
        truth[name] = {
            "blurred": sorted(made.blurred),
            "occluded": [at for at, seen in enumerate(made.seen) if any(x.occluded for x in seen)],
            "cuts": list(made.cuts),
        }
    (videos / EMPTY).write_bytes(b"")
    # Its index stands at the end of an mp4: a file that breaks off has none.
    (videos / BROKEN).write_bytes(whole[: len(whole) // 2])
    rows += [{"video": name, "labels": ["bus"]} for name in (EMPTY, BROKEN, ABSENT)]
    lines = ",\n".join(json.dumps(row) for row in rows)
    (folder / "labels.json").write_text(f"[\n{lines}\n]\n")
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    (folder / "source.yaml").write_text(SOURCE)
    return folder


SOURCE = """\
# Drawn videos to try the mining and the review of frame sets with; nothing here is a photograph.
kind: folder
videos: videos
labels: labels.json
label_space: imagenet_vid30
dense: true
synthetic: true
licence: drawn by this project, Apache-2.0
mining:
  k: 10
"""


def _rows(name: str, made: Film) -> list[dict[str, object]]:
    """Rows of the labels file: one a frame, or one for the whole video."""
    names = catalog_classes.video("imagenet_vid30").names
    if name == WHOLE:
        return [{"video": f"{name}.mp4", "labels": sorted({names[x.label] for x in made.seen[0]})}]
    return [
        {
            "video": f"{name}.mp4",
            "frame": at,
            "labels": sorted({names[each.label] for each in seen}),
            "boxes": [
                {
                    "label": names[each.label],
                    **dict(zip(("xmin", "ymin", "xmax", "ymax"), each.box, strict=True)),
                    "track": str(each.track),
                    "occluded": each.occluded,
                }
                for each in seen
            ],
        }
        for at, seen in enumerate(made.seen)
    ]
