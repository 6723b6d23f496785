"""Small sealed sources to render, and a catalog that expects whatever they hold."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from PIL import Image

from ops.catalog import Catalog, classes, load
from ops.shards import Manifest, Sample, read_manifest, read_shard, write_dataset
from ops.storage import Root, open_root, paths

VAL = "imagenet_1k/val"
RENDER = Path(__file__).with_name("render_in_process.py")
# Cheap to compile, and of every kind: with draws and without, with several levels in one call.
NOISE = [f"imagenet_c_rendered/gaussian_noise/{severity}" for severity in (1, 3, 5)]
CHEAP = [*NOISE, "imagenet_c_rendered/pixelate/2", "imagenet_c_rendered/contrast/4"]


class Lake(NamedTuple):
    """A lake with one sealed source, the catalog that goes with it, and its overlay."""

    root: Root
    catalog: Catalog
    overlay: Path


def photograph(number: int, size: tuple[int, int] = (60, 44), **options: Any) -> bytes:
    """A JPEG that resembles no other one."""
    rng = np.random.default_rng(number)
    small = Image.fromarray(rng.integers(0, 256, (6, 7, 3), dtype=np.uint8))
    return packed(small.resize(size, Image.Resampling.BICUBIC), **options)


def packed(image: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def val_samples(files: Sequence[bytes]) -> list[Sample]:
    """Validation images; the order of their classes is not that of their numbers."""
    wnids = classes.ilsvrc().wnids
    found = []
    for number, data in enumerate(files, 1):
        key, label = f"ILSVRC2012_val_{number:08d}", (37 * number) % 11
        meta = {
            "benchmark": "imagenet_1k",
            "condition": "val",
            "source_key": key,
            "source_file": f"{key}.JPEG",
            "labels": [label],
            "wnid": wnids[label],
            "format": "jpeg",
        }
        found.append(Sample(key, data, "jpg", label, meta))
    return found


def lake_of(
    folder: Path,
    samples: Sequence[Sample],
    *,
    source: str = VAL,
    label_space: str = "ilsvrc1000",
    per_shard: int = 100,
    root: Root | None = None,
    **fields: Any,
) -> Lake:
    """A lake with these samples sealed; `fields` are stated over every dataset rendered."""
    folder.mkdir(parents=True, exist_ok=True)
    root = root or open_root(folder / "lake")
    write_dataset(root, source, samples, label_space=label_space, per_shard=per_shard)
    overlay = folder / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"datasets": {"*": {**NO_COUNTS, **fields}}}))
    return Lake(root, load(str(overlay)), overlay)


def overlaid(lake: Lake, datasets: dict[str, dict[str, Any]]) -> Lake:
    """The same lake under an overlay that states other things of datasets."""
    lake.overlay.write_text(yaml.safe_dump({"datasets": datasets}))
    return lake._replace(catalog=load(str(lake.overlay)))


NO_COUNTS = {"expected": None, "expected_classes": None, "per_class": None}


def samples_of(root: Root, dataset: str) -> list[Sample]:
    manifest = read_manifest(root, dataset)
    return [each for entry in manifest.shards for each in read_shard(root, manifest, entry)]


def files_of(root: Root, dataset: str) -> dict[str, bytes]:
    """Everything of a sealed dataset, by file name."""
    folder = paths.dataset(dataset)
    found = {path.removeprefix(f"{folder}/"): root.read_bytes(path) for path in root.list(folder)}
    manifest = Manifest.model_validate_json(found["manifest.json"])
    assert set(found) == {"manifest.json", *(entry.name for entry in manifest.shards)}
    return found


def images_of(root: Root, dataset: str) -> dict[str, bytes | None]:
    return {sample.key: sample.image for sample in samples_of(root, dataset)}


def pixels(data: bytes | None) -> np.ndarray:
    assert data
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def clean_crop(data: bytes, decode: Callable[[bytes], np.ndarray] = pixels) -> np.ndarray:
    """The crop of the published generator in plain steps, with Pillow alone."""
    image = Image.fromarray(decode(data))
    short, long = sorted(image.size)
    other = int(256 * long / short)
    size = (256, other) if image.width <= image.height else (other, 256)
    whole = image.resize(size, Image.Resampling.BILINEAR)
    left, top = (round((side - 224) / 2) for side in size)
    return np.asarray(whole.crop((left, top, left + 224, top + 224)))


def start_render(lake: Lake, datasets: Sequence[str], *options: str) -> subprocess.Popen[str]:
    """Start a rendering in a process of its own; see `render_in_process.py` for the options."""
    arguments = [lake.root.url, str(lake.overlay), ",".join(datasets), *options]
    return subprocess.Popen(
        [sys.executable, str(RENDER), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(os.environ),
    )
