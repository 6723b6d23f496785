"""The frames of a mined dataset as detection needs them: keys, sizes, true boxes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ops.errors import ShiftlakeError
from ops.shards.manifest import Manifest, read_manifest
from ops.storage import Root
from ops.video.datasets import MINED, mined_dataset


@dataclass(frozen=True)
class Framed:
    """A sealed dataset of frame sets, and the table of its frames sorted by key."""

    manifest: Manifest
    frames: pa.Table

    @property
    def keys(self) -> list[str]:
        """Keys of all frames, ascending."""
        keys: list[str] = self.frames["sample_key"].to_pylist()
        return keys


def read_framed(root: Root, dataset: str) -> Framed:
    """Read the frames of a mined dataset.

    Parameters
    ----------
    root : Root
    dataset : str
        ``frame_sets/<source>``, or the source alone.

    Raises
    ------
    DatasetMissing
        If it is not sealed.
    ShiftlakeError
        If it is another kind of dataset, or its table is damaged.
    """
    # The room of mining brings decoders with it, which nobody needs who only scores.
    from ops.video.mining.tables import read_mined

    benchmark, _, source = dataset.rpartition("/")
    if benchmark not in ("", MINED):
        raise ShiftlakeError(
            "Boxes are known of mined frame sets alone.",
            expected=f"{MINED}/<source>",
            found=dataset,
            where="detections",
            remedy="mine the videos with their annotations: shiftlake video mine",
        )
    manifest = read_manifest(root, mined_dataset(source))
    frames = read_mined(root, source, "frames").sort_by("sample_key").combine_chunks()
    if frames.num_rows != manifest.n_samples:
        raise ShiftlakeError(
            "The table of frames contradicts the shards.",
            expected=f"{manifest.n_samples:,} frames",
            found=f"{frames.num_rows:,} frames",
            where=manifest.name,
            remedy="mine the source again",
        )
    return Framed(manifest, frames)
