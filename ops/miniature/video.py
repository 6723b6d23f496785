"""The archive that holds both video benchmarks, and the YouTube-BB tables beside it."""

from __future__ import annotations

from ops.catalog import classes as catalog_classes
from ops.miniature import tars, vid_robust, ytbb_robust
from ops.miniature.publication import Publication


def publish(publication: Publication) -> None:
    """Write the files of imagenet-vid-robust, ytbb-robust and youtube-bb."""
    members = vid_robust.publish(publication) + ytbb_robust.publish(publication)
    content = tars.gzipped(tars.tar(tars.folders(path for path, _ in members) + members))
    publication.put(
        "imagenet-vid-robust",
        "imagenet_vid_ytbb_robust_tar",
        "imagenet_vid_ytbb_robust.tar.gz",
        content,
    )
    _youtube_bb(publication)


def _youtube_bb(publication: Publication) -> None:
    names = catalog_classes.video("ytbb24").names
    for split, first in (("train", 0), ("validation", 3)):
        classification, detection = [], []
        for n in range(first, first + 6):
            label = (5 * n) % 23
            for second in range(3):
                seen = "absent" if second == 2 else "present"
                row = f"mini{n:07d},{1000 * second},{label},{names[label]}"
                box = "0.1,0.8,0.25,0.9" if seen == "present" else "-1.0,-1.0,-1.0,-1.0"
                classification.append(f"{row},{seen}\n")
                detection.append(f"{row},{n % 2},{seen},{box}\n")
        for kind, rows in (("classification", classification), ("detection", detection)):
            publication.put(
                "youtube-bb",
                f"ytbb_{kind}_{split}",
                f"yt_bb_{kind}_{split}.csv.gz",
                tars.gzipped("".join(rows).encode()),
            )
