"""How many rows an evaluation must give: one a sample, or one for each frame of its sequence."""

from __future__ import annotations

from ops.shards import Manifest


def frames(manifest: Manifest) -> int | None:
    """Frames of every sequence of a dataset, or None where a sample is one image."""
    found = manifest.parameters.get("frames")
    return None if found is None else int(found)


def expected_rows(manifest: Manifest) -> int:
    """Rows of a complete evaluation of a dataset.

    Parameters
    ----------
    manifest : Manifest
        Its number of samples, and of frames where they are sequences.
    """
    return manifest.n_samples * (frames(manifest) or 1)


def row_key(sample_key: str, frame: int) -> str:
    """Sample key of one frame's row; keys sort as the frames do.

    Examples
    --------
    >>> row_key("n01443537/ILSVRC2012_val_00000236", 7)
    'n01443537/ILSVRC2012_val_00000236/frame_07'
    """
    return f"{sample_key}/frame_{frame:02d}"
