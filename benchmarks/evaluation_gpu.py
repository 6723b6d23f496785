"""Evaluation on a GPU: from shards beside the model alone, and ImageNet-C made on the fly.

First, ResNet-50 and ViT-B/16 in bf16, from shards of JPEG files to published rows, beside the same
network on float32 tensors that are on the device already, with the same batch size and settings.
Beside both stands the input alone, read, hashed, decoded and cropped by the same threads: where it
is below the network, no evaluation on this machine can be faster. A rate is that of the images
after the first batch, so that loading the model is not in it, and before the last few, which are
told together when the input has ended; the rate of the whole call stands beside it.

Second, conditions of ImageNet-C made on the fly, through the same `evaluate`, and what all 75 of
50,000 images would take at their rates.

Weights are random and photographs generated: nothing is downloaded. The networks are timm's, or
torchvision's where there is no timm.

    python -m benchmarks.evaluation_gpu [--images 32768] [--workers N] [--rounds 3]

Without a CUDA device it says so and measures nothing. ``--device cpu --small`` runs all of it on a
few images, which shows that it works and measures nothing that matters.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.evaluation_input import photograph
from benchmarks.report import machine, show, write
from benchmarks.torch_input import FOUND
from ops import catalog as catalogs
from ops import rendering
from ops.catalog import Catalog
from ops.corruptions import BENCHMARK_CORRUPTIONS, SEVERITIES
from ops.inference import RunRecord, evaluate, plan_numerics
from ops.inference.batches import Batch, batches
from ops.inference.computing import OnGpu
from ops.inference.forward import AUTOCAST, Forward
from ops.inference.inputs import StoredImages
from ops.inference.reproducible import reproducible
from ops.models import ModelEntry, Transform, load, register
from ops.rendering import FrostUnavailable
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, open_root

BAR = 0.9
DATASET = "imagenet_1k/val"
ALL = 75 * 50_000
DIFFERENT = 256
LAST = OnGpu.ahead + 1
# By what is installed: timm's name, or torchvision's function.
NETWORKS = {
    "resnet50": ("resnet50", "torchvision.models.resnet:resnet50"),
    "vit_b_16": ("vit_base_patch16_224", "torchvision.models.vision_transformer:vit_b_16"),
}


def free_catalog() -> Catalog:
    """The catalog without its counts, since there are fewer images than 50,000."""
    catalog = catalogs.load()
    free = {"expected": None, "expected_classes": None, "per_class": None}
    datasets = {name: spec.model_copy(update=free) for name, spec in catalog.datasets.items()}
    return catalog.model_copy(update={"datasets": datasets})


def store(root: Root, count: int) -> Manifest:
    """Generated photographs as the validation set: a few different ones again and again."""
    different = [photograph(index) for index in range(min(count, DIFFERENT))]
    benchmark, condition = DATASET.split("/")

    def samples() -> Iterator[Sample]:
        for index in range(count):
            key = f"ILSVRC2012_val_{index + 1:08d}"
            meta = {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": key,
                "source_file": f"{key}.JPEG",
                "labels": [index % 1000],
                "wnid": "n01440764",
                "format": "jpeg",
            }
            yield Sample(key, different[index % len(different)], "jpg", index % 1000, meta)

    # A shard is what a run may lose; 1,250 images are 40 of them in the real set.
    return write_dataset(
        root, DATASET, list(samples()), label_space="ilsvrc1000", per_shard=min(1_250, count)
    )


def network(root: Root, name: str, deterministic: bool) -> ModelEntry:
    """A registered network with random weights."""
    by_timm, by_torchvision = NETWORKS[name]
    torch.manual_seed(0)
    shared: dict[str, Any] = {
        "name": name,
        "transform": Transform(resize=256, crop=224, interpolation="bicubic"),
        "precision": "bf16",
        "deterministic": deterministic,
    }
    if importlib.util.find_spec("timm") is not None:
        kwargs = {"pretrained": False}
        entry = ModelEntry(kind="timm", reference=by_timm, kwargs=kwargs, **shared)
    elif FOUND:
        entry = ModelEntry(kind="callable", reference=by_torchvision, **shared)
    else:
        raise SystemExit("neither timm nor torchvision can be imported: no network to measure")
    return register(root, entry)


def wait(device: torch.device) -> None:
    """Return when the device has nothing left to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def alone(root: Root, entry: ModelEntry, options: argparse.Namespace) -> float:
    """Images a second of the network on tensors that are on its device already."""
    numerics = plan_numerics(entry, options.device)
    forward = Forward(load(root, entry), entry.transform, numerics, entry.name)
    size = (options.batch_size, 3, *entry.transform.output_size)
    images = torch.randn(size, device=forward.device)
    images = images.contiguous(memory_format=torch.channels_last)
    autocast = AUTOCAST[numerics.dtype]
    times = []
    with (
        reproducible(numerics),
        torch.inference_mode(),
        torch.autocast(forward.device.type, dtype=autocast),
    ):
        for _ in range(options.rounds + 1):
            wait(forward.device)
            started = time.perf_counter()
            for _ in range(options.repeats):
                forward.model(images)
            wait(forward.device)
            times.append(time.perf_counter() - started)
    return options.batch_size * options.repeats / statistics.median(times[1:])


def fed(root: Root, manifest: Manifest, entry: ModelEntry, options: argparse.Namespace) -> float:
    """Images a second of the input alone."""
    given = StoredImages(root, manifest, entry.transform)
    source = batches(
        manifest.shards,
        given,
        batch_size=options.batch_size,
        workers=options.workers,
        pinned=options.device == "cuda",
    )
    stamps = [
        (time.perf_counter(), len(item.samples)) for item in source if isinstance(item, Batch)
    ]
    return between(stamps)


def between(stamps: list[tuple[float, int]]) -> float:
    """Images a second after the first batch, up to the last few, of a time and a count for each."""
    # Batches under way when the input ends are told in one go, however long each of them took.
    steady = stamps[:-LAST] if len(stamps) > LAST + 1 else stamps
    seconds = steady[-1][0] - steady[0][0]
    return sum(count for _, count in steady[1:]) / seconds if seconds else float("nan")


def evaluated(
    root: Root, catalog: Catalog, entry: ModelEntry, dataset: str, options: argparse.Namespace
) -> tuple[float, RunRecord]:
    """Images a second of an evaluation under way, and its record."""
    shutil.rmtree(root.local_path("predictions"), ignore_errors=True)
    done: list[tuple[float, int]] = []
    record = evaluate(
        root,
        catalog,
        entry.name,
        dataset,
        batch_size=options.batch_size,
        workers=options.workers,
        device=options.device,
        progress=lambda images, _: done.append((time.perf_counter(), images)),
    )
    counts = [later[1] - former[1] for former, later in zip([(0.0, 0), *done], done, strict=False)]
    rate = between([(at, count) for (at, _), count in zip(done, counts, strict=True)])
    return rate, record


def from_shards(
    root: Root, manifest: Manifest, catalog: Catalog, name: str, options: argparse.Namespace
) -> dict[str, Any]:
    """One network: alone, its input alone, and both together."""
    entry = network(root, name, options.deterministic)
    synthetic = alone(root, entry, options)
    found = [evaluated(root, catalog, entry, DATASET, options) for _ in range(options.rounds + 1)]
    rates = [rate for rate, _ in found[1:]]
    record = found[-1][1]
    if record.n_seen != manifest.n_samples:
        raise SystemExit(f"{record.n_seen} of {manifest.n_samples} images were seen")
    together = statistics.median(rates)
    return {
        "model": name,
        "kind": entry.kind,
        "batch_size": options.batch_size,
        "deterministic": options.deterministic,
        "images_per_second_synthetic": round(synthetic, 1),
        "images_per_second_input": round(fed(root, manifest, entry, options), 1),
        "images_per_second": round(together, 1),
        "images_per_second_whole_call": round(
            statistics.median(each.images_per_second for _, each in found[1:]), 1
        ),
        "share": round(together / synthetic, 3),
        "rounds": [round(rate, 1) for rate in rates],
    }


def on_the_fly(root: Root, catalog: Catalog, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Rates of the corruptions over their severities, with ResNet-50 behind them."""
    entry = network(root, "resnet50", options.deterministic)
    rows = []
    for corruption in options.corruptions:
        names = [f"imagenet_c_on_the_fly/{corruption}/{s}" for s in options.severities]
        try:
            rendering.render(root, catalog, names)
        except FrostUnavailable:
            print(f"{corruption}: its photographs are not here, left out")
            continue
        # The first evaluation of a corruption is there to compile and to fill caches.
        evaluated(root, catalog, entry, names[0], options)
        found = [evaluated(root, catalog, entry, name, options) for name in names]
        rows.append(
            {
                "corruption": corruption,
                "images_per_second": [round(rate, 1) for rate, _ in found],
                "seconds_per_image": sum(1 / rate for rate, _ in found) / len(found),
                "whole_call": [record.images_per_second for _, record in found],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=32_768)
    parser.add_argument("--images-on-the-fly", type=int, default=8_192)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=30, help="batches of a synthetic round")
    parser.add_argument("--models", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--corruptions", nargs="*", default=list(BENCHMARK_CORRUPTIONS))
    parser.add_argument("--severities", type=int, nargs="+", default=list(SEVERITIES))
    parser.add_argument("--not-deterministic", dest="deterministic", action="store_false")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="a few images of everything")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("There is no CUDA device here: nothing was measured.")
        return
    if options.small:
        options.images = options.images_on_the_fly = 24
        options.batch_size, options.rounds, options.repeats = 8, 1, 1
        options.corruptions = options.corruptions[:2]
        options.severities = options.severities[:2]
    catalog = free_catalog()
    with tempfile.TemporaryDirectory() as folder:
        stored = open_root(Path(folder) / "stored")
        manifest = store(stored, options.images)
        rows = [from_shards(stored, manifest, catalog, name, options) for name in options.models]
        small = open_root(Path(folder) / "source")
        store(small, options.images_on_the_fly)
        made = on_the_fly(small, catalog, options)
    report(rows, made, options)


def report(
    rows: list[dict[str, Any]], made: list[dict[str, Any]], options: argparse.Namespace
) -> None:
    gpu = options.device == "cuda"
    name = torch.cuda.get_device_name() if gpu else "CPU"
    show(
        f"Images/s in bf16 on {name}, {options.workers} decoding threads",
        [
            {
                "model": row["model"],
                "synthetic": row["images_per_second_synthetic"],
                "input alone": row["images_per_second_input"],
                "from shards": row["images_per_second"],
                "whole call": row["images_per_second_whole_call"],
                "share": row["share"],
            }
            for row in rows
        ],
    )
    found: dict[str, Any] = {
        "what": "evaluation on one GPU in bf16 with random weights, from shards and on the fly",
        "bar": BAR,
        "rows": rows,
        "workers": options.workers,
        "device": name,
        "machine": machine(),
        "versions": {each: version(each) for each in ("torch", "numpy", "pillow")},
    }
    if made:
        show(
            f"ImageNet-C on the fly with ResNet-50 in bf16 on {name}",
            [
                {
                    "corruption": row["corruption"],
                    "images/s by severity": " ".join(f"{r:.0f}" for r in row["images_per_second"]),
                }
                for row in made
            ],
        )
        seconds = sum(row["seconds_per_image"] for row in made) / len(made)
        rate, hours = 1 / seconds, seconds * ALL / 3600
        print(f"over these {rate:,.0f} images/s: all {ALL:,} would take {hours:.1f} hours")
        found["on_the_fly"] = {
            "rows": made,
            "images_per_second": round(rate, 1),
            "projected_hours_of_3_750_000": round(hours, 2),
        }
    if gpu and not options.small:
        write("evaluation_gpu", found)


if __name__ == "__main__":
    main()
