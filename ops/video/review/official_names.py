"""What the published files call the frames that were mined, and back.

They name a frame by its path, of which the last two parts count: the snippet or segment, and the
number of the frame.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ops.errors import ShiftlakeError
from ops.video.published import frame_number, tail
from ops.video.sources.clip_key import clip_key

if TYPE_CHECKING:
    from ops.video.review.items import AnchorItem
    from ops.video.review.reviewed import Reviewed

_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_SEGMENT = re.compile(r"_\d+$")

Place = tuple[str, int]


class OfficialNames:
    """The frames of a mining by their published names.

    Parameters
    ----------
    review : Review
    """

    def __init__(self, review: Reviewed) -> None:
        self._anchors = {_place_of(item.sample_key): item.frame_set for item in review.anchors}
        self._pairs = {
            (_place_of(item.anchor), _place_of(item.sample_key)): item.sample_key
            for item in review.pairs
        }

    def anchor(self, path: str) -> str | None:
        """Frame set of an anchor; None where it was not mined."""
        found = (self._anchors.get(place) for place in _places(path))
        return next((name for name in found if name is not None), None)

    def pair(self, anchor: str, neighbour: str) -> str | None:
        """Sample key of a neighbour; None where the pair was not mined."""
        pairs = zip(_places(anchor), _places(neighbour), strict=True)
        found = (self._pairs.get(pair) for pair in pairs)
        return next((key for key in found if key is not None), None)


def vid_path(sample_key: str) -> str:
    """``val/<snippet>/<frame, 6 digits>.JPEG``."""
    clip, frame = _place_of(sample_key)
    return f"val/{unquote(clip).split('/')[-1]}/{frame:06d}.JPEG"


def ytbb_path(sample_key: str, anchor: AnchorItem) -> str:
    """``<YouTube id>_<milliseconds of the anchor>/frame-<n>.jpg``.

    A clip that is not named by a YouTube id alone is a segment already, and keeps its name.
    """
    clip, frame = _place_of(sample_key)
    name = unquote(clip).split("/")[-1]
    if _YOUTUBE_ID.fullmatch(name):
        name = f"{name}_{round(anchor.seconds * 1000)}"
    return f"{name}/frame-{frame}.jpg"


def read_json_file(path: str | Path) -> Any:
    """Content of a published annotation file.

    Raises
    ------
    ShiftlakeError
        If it is missing or no JSON.
    """
    path = Path(path)
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ShiftlakeError(
            "A published annotation file cannot be read.",
            expected="a JSON file",
            found=str(error) or type(error).__name__,
            where=path.name,
            remedy="give the path of the file as it was published",
        ) from error


def _place_of(sample_key: str) -> Place:
    clip, _, frame = sample_key.rsplit("/", 2)
    return (clip, int(frame))


def _places(path: str) -> tuple[Place, Place]:
    """Where the frame of a path may lie: in a clip of its segment, or of its whole video."""
    folder, number = tail(path).split("/")[0], frame_number(path)
    return (clip_key(folder), number), (clip_key(_SEGMENT.sub("", folder)), number)
