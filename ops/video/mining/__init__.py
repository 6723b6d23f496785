"""Frame sets out of labelled videos: anchors, the frames around each, and why some lack."""

from typing import TYPE_CHECKING, Any

from ops.video.mining.config import MiningConfig
from ops.video.mining.tables import MINED_TABLES, read_mined

if TYPE_CHECKING:
    from ops.video.mining.mining import mine

__all__ = ["MINED_TABLES", "MiningConfig", "mine", "read_mined"]


def __getattr__(name: str) -> Any:
    # What only reads the tables must not pay for the libraries that make them.
    if name == "mine":
        from ops.video.mining.mining import mine

        return mine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
