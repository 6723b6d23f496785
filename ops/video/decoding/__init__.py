"""From a video to exact frames: which frame a number means, and its pixels or why there are none.

What belongs here: opening video files and folders of numbered pictures, the table that says when
every frame is presented, decoding, orientation, colour, and the JPEG of a frame. What does not:
which frames are wanted (:mod:`ops.video.mining`) and what they show (:mod:`ops.video.sources`).
"""

from ops.video.decoding.opening import open_video
from ops.video.decoding.picture import Picture, frame_jpeg
from ops.video.decoding.unreadable import UnreadableVideo
from ops.video.decoding.video import Video

__all__ = ["Picture", "UnreadableVideo", "Video", "frame_jpeg", "open_video"]
