"""Evaluation input beside torch's: decode, resize, crop and batch, with the same workers.

The peer is ``torch.utils.data.DataLoader`` over ``torchvision.datasets.ImageFolder`` with
torchvision's Resize, CenterCrop, ToTensor and Normalize, its workers started and warm. Both sides
end with the same float32 batch on the CPU, and every pixel is compared before anything is timed.
Rounds alternate between the two sides; the median is reported. A second figure for Shiftlake stops
at the 8-bit batch, which is what is copied to a GPU (normalisation then runs there). Beside the
speed stands the CPU time of all processes for one image, which other load on the machine moves
less.

    python benchmarks/evaluation_input.py [--images FOLDER] [--workers 1 2] [--rounds 5]

Needs torchvision (``pip install torchvision``), for the peer alone.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import PIL
import torch
from PIL import Image
from rich.console import Console
from rich.table import Table

from ops.inference.batches import Batch, batches
from ops.inference.forward import Forward
from ops.inference.record import Numerics
from ops.models import Transform
from ops.shards import Manifest, Sample, read_shard, write_dataset
from ops.storage import Root, open_root

BAR = 1.5
RESULT = Path(__file__).parent / "results" / "evaluation_input.json"
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


def store(folder: Path, images: Iterator[bytes]) -> tuple[Root, Manifest, Path]:
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
    manifest = write_dataset(root, DATASET, samples, label_space="ilsvrc1000", per_shard=256)
    return root, manifest, files.parent


def ours(
    root: Root, manifest: Manifest, transform: Transform, workers: int, normalised: bool
) -> Iterator[torch.Tensor]:
    numerics = Numerics(dtype="fp32", device="cpu")
    forward = Forward(torch.nn.Identity(), transform, numerics, "none")
    for item in batches(
        manifest.shards,
        lambda shard: read_shard(root, manifest, shard, hash=True),
        transform,
        batch_size=BATCH_SIZE,
        workers=workers,
    ):
        if isinstance(item, Batch):
            yield forward.normalise(item.pixels) if normalised else item.pixels


def peer(files: Path, transform: Transform, workers: int) -> torch.utils.data.DataLoader:
    # The wheel of torchvision is built for CUDA; beside a CPU torch its import stops at these two
    # operators, which no image transform uses.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torchvision import datasets, transforms

    filters = transforms.InterpolationMode
    steps = [
        transforms.Resize(transform.resize, filters(transform.interpolation)),
        transforms.CenterCrop(transform.crop),
        transforms.ToTensor(),
        transforms.Normalize(transform.mean, transform.std),
    ]
    dataset = datasets.ImageFolder(str(files), transforms.Compose(steps))
    return torch.utils.data.DataLoader(
        dataset, batch_size=BATCH_SIZE, num_workers=workers, persistent_workers=True
    )


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
            raise SystemExit(f"image {count - 1} differs from torchvision's")
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
                loader = peer(files, transform, workers)
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
    report(rows, kilobytes, arguments.count)


def summary(
    interpolation: str, workers: int, compared: int, found: dict[str, list[tuple[float, float]]]
) -> dict:
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


def report(rows: list[dict], kilobytes: float, count: int) -> None:
    import torchvision

    table = Table(title=f"Evaluation input, images/s ({count} JPEGs, mean {kilobytes:.0f} kB)")
    headings = ("filter", "workers", "DataLoader", "Shiftlake", "ratio", "8-bit", "ratio")
    for heading in (*headings, "CPU ms DataLoader", "CPU ms Shiftlake", "ratio"):
        table.add_column(heading, justify="right")
    for row in rows:
        speed = row["images_per_second"]
        table.add_row(
            row["interpolation"],
            str(row["workers"]),
            f"{speed['peer']:,.0f}",
            f"{speed['shiftlake']:,.0f}",
            f"{row['ratio']:.2f}",
            f"{speed['shiftlake_uint8']:,.0f}",
            f"{row['ratio_uint8']:.2f}",
            f"{row['cpu_ms_per_image']['peer']:.2f}",
            f"{row['cpu_ms_per_image']['shiftlake']:.2f}",
            f"{row['cpu_ratio']:.2f}",
        )
    Console(width=120).print(
        table, f"bar: {BAR} x; pixels identical to torchvision's in every case"
    )
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "what": "evaluation input: decode, resize, crop, batch",
        "peer": "torch DataLoader + torchvision ImageFolder + PIL",
        "bar": BAR,
        "images": {"count": count, "mean_kilobytes": round(kilobytes, 1)},
        "rows": rows,
        "machine": {"cpus": os.cpu_count(), "architecture": platform.machine()},
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            "pillow": PIL.__version__,
        },
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
