"""Video frame sets: decode, mine anchors and neighbours, have people review them, freeze."""

from ops.video.frame_set import FrameSet
from ops.video.official import Counts, counts, read_pmsets, read_ytbb

__all__ = ["Counts", "FrameSet", "counts", "read_pmsets", "read_ytbb"]
