"""Frame sets at a glance: the anchor in the middle, its neighbours around, decisions on them."""

from __future__ import annotations

import base64
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from PIL import Image

from ops.shards import Sample, has_manifest, read_manifest, read_shard
from ops.storage import Root, open_root
from ops.video.datasets import mined_dataset
from ops.video.frame_images import FrameImages
from ops.video.strip_drawing import StripFrame, StripSet, draw_strips, shown_offsets

if TYPE_CHECKING:
    from ops.video.review import Decisions

# Dagster keeps metadata in its event log.
MAX_BYTES = 90_000
SETS = 5
_T = TypeVar("_T")


class _Frame(NamedTuple):
    """A frame of a reviewed source, and what was decided about it."""

    offset: int
    key: str
    state: str


def contact_strip(
    root: Root | str,
    source: str,
    *,
    reviewed: bool = False,
    decisions: Decisions | None = None,
    sets: int = SETS,
    max_bytes: int = MAX_BYTES,
) -> str | None:
    """Strips of some mined frame sets of a source, with what reviewers decided if asked.

    Parameters
    ----------
    root : Root or str
    source : str
        A mined source.
    reviewed : bool
        Colour the frames by the review that is frozen now; half of the sets shown, if there are
        so many, have a frame that was rejected.
    decisions : Decisions, optional
        Of a review that goes on, in place of the frozen one.
    sets : int
        Strips at most.
    max_bytes : int
        Of the picture; the address is a third longer.

    Returns
    -------
    str or None
        ``data:image/webp;base64,...``: of the same frames and decisions the same; None where
        nothing is mined, or nothing frozen.
    """
    root = open_root(root)
    dataset = mined_dataset(source)
    if not has_manifest(root, dataset):
        return None
    if decisions is not None:
        by_set = _decided(root, source, decisions)
    elif reviewed:
        by_set = _frozen(root, source)
    else:
        return contact_strip_of(root, dataset, sets=sets, max_bytes=max_bytes)
    if not by_set:
        return None
    objected = [
        name for name, frames in by_set.items() if any(f.state == "rejected" for f in frames)
    ]
    others = [name for name in by_set if name not in set(objected)]
    few = min(len(objected), max(sets - sets // 2, sets - len(others)))
    shown = sorted([*evenly(objected, few), *evenly(others, sets - few)])
    images = FrameImages(root, dataset)
    strips = [
        StripSet(
            name,
            tuple(StripFrame(f.offset, _read(images, f.key), f.state) for f in by_set[name]),
        )
        for name in shown
    ]
    reach = max(abs(frame.offset) for frames in by_set.values() for frame in frames)
    return as_data_uri(strips, reach, max_bytes)


def _frozen(root: Root, source: str) -> dict[str, list[_Frame]]:
    """Frames by set as they were frozen; none where nothing of this mining is."""
    # Reviews bring more than a strip without them needs.
    from ops.video.review.tables import reviewed_frames

    table = reviewed_frames(root)
    table = table.filter(pc.and_(pc.equal(table["source"], source), table["current"]))
    return _by_set(table, lambda row: str(row["state"]))


def _decided(root: Root, source: str, decisions: Decisions) -> dict[str, list[_Frame]]:
    """Frames by set as they are decided now."""
    from ops.video.mining.tables import read_mined

    anchors = {"usable": "accepted", "bad": "rejected"}

    def state(row: dict[str, object]) -> str:
        if row["frame_offset"] == 0:
            return anchors.get(decisions.anchor(str(row["frame_set"])).state, "pending")
        return decisions.pair(str(row["sample_key"])).state

    return _by_set(read_mined(root, source, "frames"), state)


def _by_set(table: pa.Table, state: Callable[[dict[str, object]], str]) -> dict[str, list[_Frame]]:
    found: dict[str, list[_Frame]] = defaultdict(list)
    columns = table.select(["sample_key", "frame_set", "frame_offset"])
    if "state" in table.column_names:
        columns = columns.append_column("state", table["state"])
    for row in columns.sort_by("sample_key").to_pylist():
        # What is contested is not decided yet.
        known = state(row) if state(row) in ("accepted", "rejected") else "pending"
        found[row["frame_set"]].append(_Frame(row["frame_offset"], row["sample_key"], known))
    return dict(found)


def contact_strip_of(
    root: Root | str, dataset: str, *, sets: int = SETS, max_bytes: int = MAX_BYTES
) -> str | None:
    """Strips of some frame sets of any sealed dataset of video frames, from its middle shard.

    Parameters
    ----------
    root : Root or str
    dataset : str
        ``<benchmark>/<condition>``.
    sets, max_bytes : int
        As in :func:`contact_strip`.

    Returns
    -------
    str or None
        As :func:`contact_strip`; None where the dataset holds no frame sets, or labels alone.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    if not manifest.shards or manifest.joined_to is not None:
        return None
    entry = manifest.shards[len(manifest.shards) // 2]
    names = {str(sample.meta.get("frame_set")) for sample in read_shard(root, manifest, entry)}
    if names == {"None"}:
        return None
    shown = set(evenly(sorted(names), sets))
    reach = 0
    strips = []

    def frames_of(samples: Iterable[Sample]) -> tuple[StripFrame, ...]:
        found = [StripFrame(int(s.meta["frame_offset"]), s.image, None) for s in samples]
        return tuple(sorted(found, key=lambda frame: frame.offset))

    grouped = groupby(read_shard(root, manifest, entry), lambda s: str(s.meta["frame_set"]))
    for name, samples in grouped:
        if name in shown:
            strips.append(StripSet(name, frames_of(samples)))
            reach = max(reach, *(abs(frame.offset) for frame in strips[-1].frames))
    return as_data_uri(strips, reach, max_bytes)


def as_data_uri(strips: Sequence[StripSet], reach: int, max_bytes: int = MAX_BYTES) -> str:
    """Strips as a WebP picture inside an address, as large and as good as fits.

    Parameters
    ----------
    strips : sequence of StripSet
    reach : int
        The largest offset a frame can have; places without a frame are hatched.
    max_bytes : int
        Of the picture.
    """
    data = b""
    # As wide as the window in which Dagster shows a picture, and no smaller than can be seen.
    widest = min(132, max(44, 1060 // len(shown_offsets(reach)) - 4))
    for tile in (widest, 3 * widest // 4, widest // 2, 26):
        sheet: Image.Image = draw_strips(strips, reach, tile)
        for quality in (82, 62, 42):
            packed = io.BytesIO()
            sheet.save(packed, "webp", quality=quality, method=4)
            data = packed.getvalue()
            if len(data) <= max_bytes:
                return "data:image/webp;base64," + base64.b64encode(data).decode()
    # No picture at all would be worse than one with fewer strips.
    if len(strips) > 1:
        return as_data_uri(strips[: len(strips) // 2], reach, max_bytes)
    return "data:image/webp;base64," + base64.b64encode(data).decode()


def evenly(items: Sequence[_T], count: int) -> list[_T]:
    """Some items, evenly from all over a sequence."""
    if count >= len(items):
        return list(items)
    return [items[(2 * place + 1) * len(items) // (2 * count)] for place in range(count)]


def _read(images: FrameImages, key: str) -> bytes | None:
    try:
        return images.read(key)[0]
    except KeyError:
        return None
