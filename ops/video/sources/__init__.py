"""Where videos and their labels come from: ImageNet-Vid, YouTube-BB, or a folder of one's own.

A source is a folder below ``$SHIFTLAKE_VIDEOS`` with a ``source.yaml``, which a person writes. It
gives clips with their labels and finds the videos on disk; it opens none of them and downloads
nothing.
"""

from ops.video.sources.entry import (
    FolderEntry,
    FrameSetFiles,
    ImagenetVidEntry,
    SourceEntry,
    YoutubeBbEntry,
)
from ops.video.sources.reading import (
    SOURCE_FILE,
    VIDEOS_VARIABLE,
    list_sources,
    open_source,
    parse_entry,
    read_source,
    source_folder,
)
from ops.video.sources.source import VideoSource

__all__ = [
    "SOURCE_FILE",
    "VIDEOS_VARIABLE",
    "FolderEntry",
    "FrameSetFiles",
    "ImagenetVidEntry",
    "SourceEntry",
    "VideoSource",
    "YoutubeBbEntry",
    "list_sources",
    "open_source",
    "parse_entry",
    "read_source",
    "source_folder",
]
