"""Annotation files of both video benchmarks, made up, of exactly the published shape.

What is known of the published ones was counted by others: the numbers here are those, what they
are about is drawn.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from ops.catalog import classes

VID_SETS, VID_PAIRS, VID_FULL = 1109, 21070, 889
YTBB_ROWS, YTBB_ANNOTATED, YTBB_GOOD, YTBB_SETS, YTBB_PAIRS = 2529, 2467, 2169, 2030, 36827
YTBB_BAD, YTBB_VIDEOS, YTBB_CARS, YTBB_ABSOLUTE = 291, 2072, 87, 1946
PAIR_FLAGS = [
    *("correct", "problematic", "incorrect", "dont know", "similar", "dissimilar"),
    *("deformation", "background-change", "occlusion-increased", "blur-increase", "bad-anchor"),
]
ALL = [*range(-10, 0), *range(1, 11)]


def vid_robust(folder: Path) -> tuple[Path, Path]:
    """``pmsets.json`` and ``labels.json``: one anchor a snippet, one set without a neighbour."""
    rng = random.Random(1)
    sizes = [20] * VID_FULL + [0, 1, 2, 2, 2]
    rest = VID_SETS - len(sizes)
    left = VID_PAIRS - sum(sizes)
    for at in range(rest):
        # As even as they come: all between 3 and 19, and together what is left.
        size = -(-left // (rest - at))
        sizes.append(size)
        left -= size
    pmsets, labels = {}, {}
    many = [1] * 1030 + [2] * 76 + [3] * 3
    for number, (size, how_many) in enumerate(zip(sizes, many, strict=True)):
        year = 2015 if number < 487 else 2017
        snippet = f"val/ILSVRC{year}_val_{number:08d}"
        anchor = rng.randrange(10, 400)
        chosen = sorted(rng.sample(ALL, size))
        key = f"{snippet}/{anchor:06d}.JPEG"
        pmsets[key] = [f"{snippet}/{anchor + offset:06d}.JPEG" for offset in chosen]
        own = sorted(rng.sample(range(30), how_many))
        for path in (key, *pmsets[key]):
            labels[path] = own
    (folder / "pmsets.json").write_text(json.dumps(pmsets))
    (folder / "labels.json").write_text(json.dumps(labels))
    return folder / "pmsets.json", folder / "labels.json"


def ytbb_robust(folder: Path) -> tuple[Path, Path, Path]:
    """``anchor_labels.json``, ``pmk_labels.json`` and the table of anchors."""
    rng = random.Random(2)
    names = list(classes.video("ytbb24").names)
    words = ["good", "unsure", "bad", *names]
    folders, rows = [], ["ytid,time_ms,label"]
    for number in range(YTBB_ROWS):
        video = number % YTBB_VIDEOS
        time = 1000 * (number // YTBB_VIDEOS) * 60 + rng.randrange(0, 900) * 1000 // 15
        # In the table 22 is car; of the class none there is no anchor.
        label = 22 if number < YTBB_CARS else rng.randrange(22)
        folders.append((f"yt_{video:08d}_{time}", time))
        rows.append(f"yt_{video:08d},{time},{label}")
    anchors, pairs = [], []
    missing = YTBB_SETS * 20 - YTBB_PAIRS
    for number, (name, time) in enumerate(folders[:YTBB_ANNOTATED]):
        home = "/home/ubuntu/data/ytbb_videos/" if number < YTBB_ABSOLUTE else ""
        frame = -(-time * 30 // 1000) + 10
        key = f"{home}{name}/frame-{frame}.jpg"
        said = ["good"]
        if number >= YTBB_GOOD:
            said = (
                ["bad"]
                if number < YTBB_GOOD + YTBB_BAD
                else [["unsure"], ["good", "unsure"], []][number % 3]
            )
        if number % 50 == 0:
            # Said before and taken back: the last entry of a key is the one.
            anchors.append({"key": key, "labels": [words.index("unsure")], "notes": "?"})
        added = [names[number % 22]] if number % 3 == 0 else []
        marks = [words.index(word) for word in (*said, *added)]
        anchors.append({"key": key, "labels": marks, "notes": ""})
        if number >= YTBB_GOOD:
            continue
        bad = number >= YTBB_SETS
        # Spread over the sets: as many pairs are turned down as the published ones lack.
        turned_down = (
            0 if bad else missing * (number + 1) // YTBB_SETS - missing * number // YTBB_SETS
        )
        for at, offset in enumerate(ALL):
            flags = (
                ["similar"]
                if at >= turned_down
                else [["dissimilar"], ["similar", "deformation"], []][at % 3]
            )
            if bad and at == 7:
                flags = ["bad-anchor"]
            where = f"{home}{name}/frame-{frame + offset}.jpg"
            pairs.append({"key": f"{key},{where}", "labels": [PAIR_FLAGS.index(f) for f in flags]})
    rng.shuffle(pairs)
    made = folder / "anchor_labels.json", folder / "pmk_labels.json", folder / "anchors.csv"
    made[0].write_text(json.dumps({"labels": words, "annotations": anchors}))
    made[1].write_text(json.dumps({"labels": PAIR_FLAGS, "annotations": pairs}))
    made[2].write_bytes("".join(f"{row}\r\n" for row in rows).encode())
    return made
