"""Published frame sets of ImageNet-Vid-Robust, laid over the snippets that are on disk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from ops.errors import ShiftlakeError
from ops.video.frame_set import FrameSet
from ops.video.official import read_pmsets
from ops.video.published import frame_number
from ops.video.sources.clip_key import clip_key

SNIPPET = re.compile(r"[A-Za-z0-9_-]{1,200}")


def by_snippet(pmsets: Path, labels: Path) -> dict[str, list[FrameSet]]:
    """Read published sets, by the clip key of their snippet.

    Raises
    ------
    ShiftlakeError
        If the files are not what they should be, or a set is not of one snippet.
    """
    found: dict[str, list[FrameSet]] = {}
    for each in read_pmsets(pmsets, labels):
        snippet = PurePosixPath(each.anchor).parts[-2]
        seen = {frame_number(each.anchor)}
        for path in (each.anchor, *each.neighbours):
            # Frames are found by the snippet of their anchor and a number of their own.
            if (
                SNIPPET.fullmatch(snippet)
                and PurePosixPath(path).parts[-2:-1] == (snippet,)
                and (path == each.anchor or frame_number(path) not in seen)
            ):
                seen.add(frame_number(path))
                continue
            raise ShiftlakeError(
                "A published frame set is not of one snippet, each frame once.",
                expected="paths as val/<snippet of the anchor>/<frame, 6 digits>.JPEG",
                found=f"{path[:80]} in the set of {each.anchor[:80]}",
                where=pmsets.name,
                remedy="let frame_sets in source.yaml name the published files",
            )
        found.setdefault(clip_key(snippet), []).append(each)
    return found


def incomplete(sets: Sequence[FrameSet], positions: Mapping[int, int]) -> str | None:
    """Which picture of a published set is not there, or lies at another distance, if one does."""
    for each in sets:
        anchor = frame_number(each.anchor)
        for number in (anchor, *map(frame_number, each.neighbours)):
            if number not in positions:
                return f"picture {number} of the published frame set of {anchor} is not there"
            if positions[number] - positions[anchor] != number - anchor:
                return (
                    f"pictures between {anchor} and {number} of a published frame set are not there"
                )
    return None


def placed(each: FrameSet, positions: Mapping[int, int]) -> FrameSet | None:
    """A set whose frames are told by their places; None without its anchor."""
    found = {
        path: f"{path.rpartition('/')[0]}/{positions[frame_number(path)]:06d}.JPEG"
        for path in (each.anchor, *each.neighbours)
        if frame_number(path) in positions
    }
    if each.anchor not in found:
        return None
    labels = {place: each.labels[path] for path, place in found.items()}
    neighbours = tuple(found[path] for path in each.neighbours if path in found)
    return FrameSet(found[each.anchor], neighbours, labels)
