"""Sources of videos as their makers publish them, in small, and labels files written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ops.miniature import imagenet_vid, labelled_videos, youtube_bb
from ops.video.sources import VideoSource, read_source

VID = "kind: imagenet_vid\nroot: ILSVRC2015\n"
BB = f"kind: youtube_bb\nvideos: videos\nlabels: [{', '.join(youtube_bb.FILES.values())}]\n"


def with_yaml(folder: Path, name: str, text: str) -> Path:
    """A folder of sources with one whose ``source.yaml`` is given; the path of that source."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "source.yaml").write_text(text, "utf-8")
    return place


def imagenet_vid_source(folder: Path, more: str = "") -> VideoSource:
    imagenet_vid.write(with_yaml(folder, "vid", VID + more))
    return read_source(folder, "vid")


def youtube_bb_source(folder: Path, more: str = "") -> VideoSource:
    youtube_bb.write(with_yaml(folder, "bb", BB + more))
    return read_source(folder, "bb")


def demo_source(folder: Path) -> VideoSource:
    labelled_videos.write(folder / "demo")
    return read_source(folder, "demo")


def labelled(folder: Path, labels: bytes | str | list[Any], more: str = "") -> VideoSource:
    """A folder source ``own`` with a labels file: text is CSV, a list is JSON."""
    suffix = "json" if isinstance(labels, list) else "csv"
    data = json.dumps(labels).encode() if isinstance(labels, list) else labels
    text = f"kind: folder\nvideos: videos\nlabels: l.{suffix}\nlabel_space: imagenet_vid30\n{more}"
    place = with_yaml(folder, "own", text)
    (place / "videos").mkdir(exist_ok=True)
    (place / f"l.{suffix}").write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_source(folder, "own")
