"""Names of the datasets that a video source becomes."""

from __future__ import annotations

MINED = "frame_sets"
REVIEWED = "reviewed_frame_sets"


def mined_dataset(source: str) -> str:
    """Name of the dataset that holds the mined frames of a source."""
    return f"{MINED}/{source}"


def reviewed_dataset(source: str) -> str:
    """Name of the dataset that holds what was agreed on in a review of a source."""
    return f"{REVIEWED}/{source}"
