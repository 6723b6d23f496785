"""What a sample is, its key, and what its bytes are by their magic."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample as it lies in a shard.

    Parameters
    ----------
    key : str
        Unique in its dataset; holds no dot, so that every WebDataset reader splits it alike.
    image : bytes or None
        The published bytes of the image or video; None in a dataset of labels alone.
    extension : str
        ``jpg`` for every published image whatever its content is (`meta["format"]` says what it
        is), ``png`` for pixels that came without a file format, ``mp4`` for sequences.
    cls : int or None
        The label, where a sample has exactly one in the dataset's label space.
    meta : dict
        The ``json`` member: benchmark, condition, source_key, source_file, labels, format, and
        whatever the benchmark adds.
    """

    key: str
    image: bytes | None
    extension: str
    cls: int | None
    meta: dict[str, Any] = field(default_factory=dict)

    def members(self) -> list[tuple[str, bytes]]:
        """Tar members of the sample, in their fixed order."""
        found = [] if self.image is None else [(f"{self.key}.{self.extension}", self.image)]
        if self.cls is not None:
            found.append((f"{self.key}.cls", str(self.cls).encode()))
        text = json.dumps(self.meta, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        found.append((f"{self.key}.json", text.encode()))
        return found


def safe_key(name: str) -> str:
    """Key made of a path: dots, and the escape sign itself, are percent-encoded, reversibly.

    Examples
    --------
    >>> safe_key("n01443537/benthos_0.9994893")
    'n01443537/benthos_0%2E9994893'
    """
    return name.replace("%", "%25").replace(".", "%2E")


def media_format(data: bytes) -> str | None:
    """Format of an image or video by its first bytes; None if it is none we know.

    Returns
    -------
    str or None
        One of jpeg, png, gif, bmp, tiff, webp, mp4.
    """
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return "mp4" if data[4:8] == b"ftyp" else None
