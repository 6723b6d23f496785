"""Video frame sets: decode, mine anchors and neighbours, have people review them, freeze."""

from ops.video.frame_set import FrameSet

__all__ = ["FrameSet"]
