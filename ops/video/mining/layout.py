"""Which sets go into which shard, before a picture is decoded; and the version of it all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.shards.manifest import version_of
from ops.video.datasets import mined_dataset
from ops.video.mining.examined import ExaminedClip
from ops.video.mining.rows import frame_set_key
from ops.video.mining.tables import SEPARATOR

if TYPE_CHECKING:
    from ops.video.sources import VideoSource

# Raised when the same videos and labels give other frames, labels or scores.
RULES = 2
# A shard is full with as many sets, or with sets of as many pixels: about 65 MB of JPEG files of
# any size. A shard is also what one process makes in one piece: a thousand videos keep 16 busy.
SETS_A_SHARD = 25
PIXELS_A_SHARD = 500_000_000


@dataclass(frozen=True)
class ShardLayout:
    """Sets of one shard, each a clip and the frame of its anchor, in the order of their keys."""

    name: str
    sets: tuple[tuple[str, int], ...]


def mined_version(source: VideoSource, labels: str, clips: Sequence[ExaminedClip]) -> str:
    """Version of a mining: of the labels, the choices, and every video by its content.

    A video that is missing is part of it as well, for it is a row of the tables.

    Parameters
    ----------
    source : VideoSource
    labels : str
        Its fingerprint.
    clips : sequence of ExaminedClip
        In the order of their keys.
    """
    return version_of(
        {
            "name": mined_dataset(source.name),
            "rules": RULES,
            "labels": labels,
            "rule": source.rule,
            "label_space": source.label_space,
            "mining": source.entry.mining.model_dump(mode="json"),
            "clips": [[clip.key, clip.row["status"], clip.row.get("sha256")] for clip in clips],
            "size": [SETS_A_SHARD, PIXELS_A_SHARD],
            "decoder": _decoder(clips),
        }
    )


def libraries() -> dict[str, str]:
    """Versions of what decodes, scales and encodes."""
    import av
    import cv2

    found = {"opencv": cv2.__version__, "pyav": av.__version__}
    for name in ("libavcodec", "libavformat", "libswscale"):
        found[name] = ".".join(map(str, av.library_versions[name]))
    return found


def lay_out(
    clips: Sequence[ExaminedClip], places: int, version: str, source: str
) -> list[ShardLayout]:
    """Divide the sets among shards, by the order of their keys.

    Parameters
    ----------
    clips : sequence of ExaminedClip
    places : int
        Frames of a full set, ``2k + 1``.
    version, source : str
    """
    sets = sorted(
        # With what comes behind it in the key of a sample: the order is then that of the samples.
        (frame_set_key(clip.key, anchor) + SEPARATOR, clip.key, anchor, clip.pixels * places)
        for clip in clips
        for anchor in clip.anchors
    )
    shards: list[list[tuple[str, int]]] = []
    filled = 0
    for _, key, anchor, pixels in sets:
        if not shards or len(shards[-1]) >= SETS_A_SHARD or filled + pixels > PIXELS_A_SHARD:
            shards.append([])
            filled = 0
        shards[-1].append((key, anchor))
        filled += pixels
    slug = mined_dataset(source).replace("/", "-")
    return [
        ShardLayout(f"{slug}-{version[:8]}-{number:06d}.tar", tuple(shard))
        for number, shard in enumerate(shards)
    ]


def _decoder(clips: Sequence[ExaminedClip]) -> dict[str, Any] | None:
    """What decides the pixels of a video; frames that were published as JPEG keep their bytes."""
    if not any(clip.decoded for clip in clips):
        return None
    known = libraries()
    return {name: known[name] for name in ("libavcodec", "libswscale", "opencv")}
