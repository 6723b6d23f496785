"""Evaluation input beside torch's: decode, resize, crop and batch, with the same workers.

The peer is ``torch.utils.data.DataLoader`` over ``torchvision.datasets.ImageFolder`` with
torchvision's Resize, CenterCrop, ToTensor and Normalize, its workers started and warm. Both sides
end with the same float32 batch on the CPU, and every pixel is compared before anything is timed.
Rounds alternate between the two sides; the median is reported. A second figure for Shiftlake stops
at the 8-bit batch, which is what is copied to a GPU (normalisation then runs there). Beside the
speed stands the CPU time of all processes for one image, which other load on the machine moves
less.

    python -m benchmarks.evaluation_input [--images FOLDER] [--workers 1 2] [--rounds 5]

Where the time goes, in CPU ms an image (bilinear, one core): Pillow's decoder 1.05, the resampler
0.26, hashing and reading the shard 0.1, normalising 0.15. What was tried, by its gain:

- Pillow's own resize of the part that is needed (rows and columns cropped between its two passes):
  1.09 instead of 1.24, which gave 1.2 to 1.7 times the peer.
- :mod:`ops.pixels.resample`: 0.26 (bicubic 0.32 instead of 1.99). Its horizontal pass without
  turning blocks of rows stays scalar in LLVM, at 0.55 (bicubic 0.85).
- Pixels read from Pillow's memory through Arrow instead of ``np.asarray``: 0.09 less.
- simplejpeg instead of Pillow's decoder, same pixels: 0.15 to 0.25 less; left out, since damaged
  files, CMYK and all other formats would still need Pillow's path beside it.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from benchmarks.report import machine, show, write
from benchmarks.torch_input import FOUND, NAME, torch_input
from ops.inference.batches import Batch, batches
from ops.inference.forward import Forward
from ops.inference.inputs import StoredImages
from ops.inference.record import Numerics
from ops.models import Transform
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, open_root

BAR = 1.5
DATASET = "imagenet_1k/val"
SIZES = ((500, 375), (500, 375), (500, 375), (500, 333), (375, 500), (333, 500))
BATCH_SIZE = 64


def photograph(index: int) -> bytes:
    """A JPEG of the size and weight of an ILSVRC photograph: octaves of smooth noise, and grain."""
    rng = np.random.default_rng(index)
    width, height = SIZES[index % len(SIZES)]
    pixels = np.zeros((height, width, 3), np.float32) + rng.uniform(90, 160, 3)
    for octave in range(1, 8):
        grid = rng.normal(0, 1, (2**octave + 1, 2**octave + 1, 3)).astype(np.float32)
        layer = np.stack(
            [
                np.asarray(Image.fromarray(grid[..., c]).resize((width, height), Image.BICUBIC))
                for c in range(3)
            ],
            axis=-1,
        )
        brightness = layer.mean(axis=-1, keepdims=True)
        pixels += (brightness * 0.8 + layer * 0.35) * 70 / 1.6**octave
    pixels += rng.normal(0, 12, (height, width, 1))
    buffer = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=93)
    return buffer.getvalue()


def images_of(folder: Path | None, count: int) -> Iterator[bytes]:
    if folder is None:
        yield from (photograph(index) for index in range(count))
        return
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    if not found:
        raise SystemExit(f"no .jpg or .jpeg below {folder}")
    yield from (found[index % len(found)].read_bytes() for index in range(count))


def store(
    folder: Path, images: Iterator[bytes], per_shard: int = 256
) -> tuple[Root, Manifest, Path]:
    """The same images twice: as sealed shards, and as a folder of files."""
    files = folder / "files" / "class"
    files.mkdir(parents=True)
    samples = []
    benchmark, condition = DATASET.split("/")
    for index, data in enumerate(images):
        (files / f"{index:06d}.JPEG").write_bytes(data)
        meta = {"benchmark": benchmark, "condition": condition, "labels": [0], "format": "jpeg"}
        samples.append(Sample(f"{index:06d}", data, "jpg", 0, meta))
    root = open_root(folder / "lake")
    manifest = write_dataset(root, DATASET, samples, label_space="ilsvrc1000", per_shard=per_shard)
    return root, manifest, files.parent


def ours(
    root: Root, manifest: Manifest, transform: Transform, workers: int, normalised: bool
) -> Iterator[torch.Tensor]:
    numerics = Numerics(dtype="fp32", device="cpu")
    forward = Forward(torch.nn.Identity(), transform, numerics, "none")
    given = StoredImages(root, manifest, transform)
    for item in batches(manifest.shards, given, batch_size=BATCH_SIZE, workers=workers):
        if isinstance(item, Batch):
            yield forward.normalise(item.pixels) if normalised else item.pixels


def pixels_of(loader: torch.utils.data.DataLoader) -> Iterator[torch.Tensor]:
    return (pixels for pixels, _ in loader)


def identical(mine: Iterator[torch.Tensor], theirs: Iterator[torch.Tensor]) -> int:
    """Number of images, all of them equal to the last bit."""
    # Batches end at shards on one side only, so images are compared one by one.
    pairs = zip(
        (image for batch in mine for image in batch),
        (image for batch in theirs for image in batch),
        strict=True,
    )
    count = 0
    for count, (left, right) in enumerate(pairs, 1):
        if not torch.equal(left, right):
            raise SystemExit(f"image {count - 1} differs from the peer's")
    return count


def measure(make: Callable[[], Iterator[torch.Tensor]]) -> tuple[float, float]:
    """Images a second, and CPU milliseconds an image, of one pass from first request to last."""
    start, spent = time.perf_counter(), cpu_seconds()
    count = sum(len(batch) for batch in make())
    return count / (time.perf_counter() - start), (cpu_seconds() - spent) / count * 1e3


def cpu_seconds() -> float:
    """CPU time of this process and of the workers it has now."""
    ticks = 0
    for worker in [os.getpid(), *(child.pid for child in multiprocessing.active_children())]:
        fields = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, help="folder of JPEG files to take instead")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        images = images_of(arguments.images, arguments.count)
        root, manifest, files = store(Path(folder), images)
        kilobytes = manifest.bytes / manifest.n_samples / 1000
        for interpolation in ("bilinear", "bicubic"):
            transform = Transform(interpolation=interpolation)
            for workers in dict.fromkeys(arguments.workers):
                loader = torch_input(files, transform, BATCH_SIZE, workers)
                compared = identical(
                    ours(root, manifest, transform, workers, True), pixels_of(loader)
                )
                sides: dict[str, Callable[[], Iterator[torch.Tensor]]] = {
                    "peer": partial(pixels_of, loader),
                    "shiftlake": partial(ours, root, manifest, transform, workers, True),
                    "shiftlake_uint8": partial(ours, root, manifest, transform, workers, False),
                }
                found: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
                for _ in range(arguments.rounds):
                    for side, make in sides.items():
                        found[side].append(measure(make))
                rows.append(summary(interpolation, workers, compared, found))
                del loader, sides
    report(rows, kilobytes, arguments)


def summary(
    interpolation: str, workers: int, compared: int, found: dict[str, list[tuple[float, float]]]
) -> dict[str, Any]:
    speed = {k: statistics.median(rate for rate, _ in v) for k, v in found.items()}
    cpu = {k: statistics.median(spent for _, spent in v) for k, v in found.items()}
    return {
        "interpolation": interpolation,
        "workers": workers,
        "images_compared_identical": compared,
        "images_per_second": {k: round(v, 1) for k, v in speed.items()},
        "cpu_ms_per_image": {k: round(v, 3) for k, v in cpu.items()},
        "rounds": {k: [round(rate, 1) for rate, _ in v] for k, v in found.items()},
        "ratio": round(speed["shiftlake"] / speed["peer"], 2),
        "ratio_uint8": round(speed["shiftlake_uint8"] / speed["peer"], 2),
        "cpu_ratio": round(cpu["peer"] / cpu["shiftlake"], 2),
    }


def report(rows: list[dict[str, Any]], kilobytes: float, arguments: argparse.Namespace) -> None:
    count, rounds = arguments.count, arguments.rounds
    shown = [
        {
            "filter": row["interpolation"],
            "workers": row["workers"],
            "torch": round(row["images_per_second"]["peer"]),
            "Shiftlake": round(row["images_per_second"]["shiftlake"]),
            "ratio": row["ratio"],
            "8-bit": round(row["images_per_second"]["shiftlake_uint8"]),
            "8-bit ratio": row["ratio_uint8"],
            "CPU ms torch": row["cpu_ms_per_image"]["peer"],
            "CPU ms Shiftlake": row["cpu_ms_per_image"]["shiftlake"],
            "CPU ratio": row["cpu_ratio"],
        }
        for row in rows
    ]
    show(f"Images/s, {count} JPEGs of {kilobytes:.0f} kB, {rounds} rounds, peer: {NAME}", shown)
    lowest = min(row["ratio"] for row in rows)
    print(f"pixels identical to the peer's in every case; lowest ratio {lowest}, bar {BAR}")
    versions = {name: version(name) for name in ("torch", "pillow", "numpy", "numba")}
    if FOUND:
        versions["torchvision"] = version("torchvision")
    found = {
        "what": "evaluation input: decode, resize, crop, normalise, batch",
        "peer": f"torch DataLoader + {NAME} + PIL",
        "bar": BAR,
        "images": {"count": count, "mean_kilobytes": round(kilobytes, 1)},
        "rows": rows,
        "machine": machine(),
        "versions": versions,
    }
    write("evaluation_input", found)


if __name__ == "__main__":
    main()
