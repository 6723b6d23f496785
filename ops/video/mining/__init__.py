"""Frame sets out of labelled videos: anchors, the frames around each, and why some lack."""

from ops.video.mining.config import MiningConfig
from ops.video.mining.mining import mine
from ops.video.mining.tables import MINED_TABLES, read_mined

__all__ = ["MINED_TABLES", "MiningConfig", "mine", "read_mined"]
