"""A mined source without a video: pictures with a number each, sealed as mining seals them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

from mined_tables import seal_tables
from PIL import Image, ImageDraw

from ops.shards.manifest import Manifest
from ops.shards.sample import Sample
from ops.shards.write_dataset import write_dataset
from ops.storage import Root
from ops.video.datasets import mined_dataset


def picture(number: int, offset: int, size: tuple[int, int]) -> bytes:
    """A JPEG with a coloured ground, a disc that moves with the offset, and both numbers."""
    colour = tuple(60 + (number * step) % 120 for step in (37, 71, 113))
    image = Image.new("RGB", size, colour)
    draw = ImageDraw.Draw(image)
    for line in range(0, size[0], max(4, size[0] // 60)):
        draw.line([(line, 0), (size[0] - line, size[1])], fill=(colour[1], colour[2], line % 255))
    x, y, r = size[0] // 2 + offset * size[0] // 40, size[1] // 2, size[1] // 4
    draw.ellipse([x - r, y - r, x + r, y + r], fill=(220, 200, 140))
    draw.text((8, 8), f"{number} / {offset}", fill="white")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


def mined_by_hand(
    root: Root,
    source: str = "clips",
    *,
    n_sets: int = 4,
    k: int = 2,
    size: tuple[int, int] = (96, 54),
    label_space: str = "imagenet_vid30",
    clips: Sequence[str] = (),
    file: str = "clip.mp4",
    per_shard: int = 2_500,
    salt: int = 0,
) -> Manifest:
    """Seal frame sets of `n_sets` clips, of 2 `k` + 1 frames each, with the tables beside them."""
    name = mined_dataset(source)
    benchmark, condition = name.split("/")
    samples, frames, pairs = [], [], []
    for number in range(n_sets):
        clip = clips[number] if number < len(clips) else f"clip{number:04d}"
        for offset in range(-k, k + 1):
            key = f"{clip}/{100:06d}/{100 + offset:06d}"
            data = picture(number + salt, offset, size)
            sha256 = hashlib.sha256(data).hexdigest()
            about = {
                "frame_set": f"{clip}/{100:06d}",
                "frame_offset": offset,
                "frame": 100 + offset,
                "seconds": 4 + offset / 25,
                "dt": offset / 25,
                "pict_type": "P",
                "label_source": "annotated",
                "width": size[0],
                "height": size[1],
                "fps": 25.0,
                "sha256": sha256,
            }
            labels = [number % 30]
            meta = {
                **about,
                "benchmark": benchmark,
                "condition": condition,
                "source_key": clip,
                "source_file": file,
                "labels": labels,
                "format": "jpeg",
            }
            samples.append(Sample(key, data, "jpg", labels[0], meta))
            row = {"source": source, "sample_key": key, "clip": clip, "video": clip, **about}
            frames.append({**row, "labels": labels, "annotated": True, "boxes": None})
            if offset:
                suspicion = min(1.0, abs(offset) / (k + 1) + number % 7 / 50)
                reason = ("motion", "background", "blur", "other")[number % 4]
                pairs.append({**row, "suspicion": suspicion, "suggested": reason})
    first = write_dataset(root, name, samples, label_space=label_space, per_shard=per_shard)
    seals = seal_tables(root, source, first.version, {"frames": frames, "pairs": pairs})
    renderer = {"name": "mining", "version": 1, "parameters": {}, "seed": 0, "tables": seals}
    return write_dataset(
        root, name, samples, label_space=label_space, renderer=renderer, per_shard=per_shard
    )
