"""A lake with mined and reviewed frame sets that have pictures, and models that flicker."""

from __future__ import annotations

import hashlib
import io

import numpy as np
from made_lake import Lake
from made_video import answers, frame, mined, reviewed
from PIL import Image, ImageDraw

from ops.catalog import load
from ops.results import compute_metrics
from ops.shards import Manifest, Sample
from ops.shards.manifest import histogram_hash
from ops.shards.write import publish_shard
from ops.storage import Root, paths
from ops.video.cataloguing import catalogued

SOURCE = "street_scenes"
MODELS = ("resnet50", "vit_b_16", "alexnet")
CLIPS, REACH, ANCHOR = 8, 3, 50
# Frames that reviewers reject, and an anchor that is bad.
DISSIMILAR = ("clip1/000050/000053", "clip2/000050/000047")
BAD = ("clip7/000050",)


def picture(clip: int, offset: int, size: tuple[int, int] = (96, 64)) -> bytes:
    """A disc that moves over stripes."""
    image = Image.new("RGB", size, (40 + 20 * clip, 90, 160 - 15 * clip))
    pen = ImageDraw.Draw(image)
    for x in range(0, size[0], 12):
        pen.line((x, 0, x, size[1]), fill=(70, 110, 120))
    x, y = size[0] // 2 + 6 * offset, size[1] // 2 + clip
    pen.ellipse((x - 14, y - 14, x + 14, y + 14), fill=(230, 60 + 20 * clip, 40))
    target = io.BytesIO()
    image.save(target, "JPEG", quality=90)
    return target.getvalue()


def fill_video(
    root: Root, models: tuple[str, ...] = MODELS, pictures: dict[str, bytes] | None = None
) -> Manifest:
    """Mine, review and freeze a source, evaluate models on it, and measure them."""
    lake = Lake(root)
    pictures = dict(pictures or {})
    frames = []
    for clip in range(CLIPS):
        # Frames that are missing at the end of a video.
        for offset in range(-REACH, REACH + 1 - 2 * (clip == 3)):
            made = frame(f"clip{clip}", ANCHOR, offset, [clip % 4])
            data = pictures.setdefault(made["sample_key"], picture(clip, offset))
            frames.append(made | {"sha256": hashlib.sha256(data).hexdigest()})
    manifest = with_shard(root, mined(lake, SOURCE, frames), frames, pictures)
    for rank, name in enumerate(models):
        rng = np.random.default_rng(rank)
        preds, sure = [], []
        for each in frames:
            far = abs(each["frame_offset"]) / REACH
            wrong = rng.random() < 0.1 + (0.15 + 0.2 * rank) * far
            preds.append((each["labels"][0] + 5 + rank) % 30 if wrong else each["labels"][0])
            sure.append(float(rng.uniform(0.4, 0.99)))
        # An anchor that is right beside a frame that is wrong, whatever was drawn.
        preds[REACH], preds[REACH + 1] = 0, 5 + rank
        rows = answers(frames, preds)
        rows = [row | {"p_max": p} for row, p in zip(rows, sure, strict=True)]
        lake.run(lake.model(name, weights=name, label_space="imagenet_vid30"), manifest, rows)
    catalog = catalogued(root, load())
    reviewed(lake, catalog, SOURCE, bad=BAD, dissimilar=DISSIMILAR)
    compute_metrics(root, catalogued(root, load()))
    return manifest


def with_shard(
    root: Root, manifest: Manifest, frames: list, pictures: dict[str, bytes]
) -> Manifest:
    """The manifest of a mining with a shard that is really there."""
    samples = [
        Sample(
            each["sample_key"],
            pictures[each["sample_key"]],
            "jpg",
            None,
            {
                "benchmark": manifest.benchmark,
                "condition": manifest.condition,
                "source_key": each["video"],
                "source_file": f"{each['clip']}.mp4",
                "labels": each["labels"],
                "format": "jpeg",
                "frame_set": each["frame_set"],
                "frame_offset": each["frame_offset"],
            },
        )
        for each in sorted(frames, key=lambda each: each["sample_key"])
    ]
    shard = publish_shard(root, manifest.name, manifest.version, "part-000000.tar", samples)
    labels = histogram_hash(shard.labels)
    update = {"shards": (shard.entry,), "label_histogram_sha256": labels}
    manifest = manifest.model_copy(update=update)
    root.write_json(paths.manifest(manifest.name), manifest.model_dump(mode="json"))
    return manifest
