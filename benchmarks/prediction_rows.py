"""What a prediction row costs: to make, one core, and on disk, column by column.

Logits are those of a linear head over made features, in which classes are alike in groups of ten,
as a network's are; half of the C-like images are recognised, with confidences as on ImageNet-C.
Beside Shiftlake's writer stand PyArrow's own defaults with the same compression.

    python -m benchmarks.prediction_rows [--rows 50000] [--rounds 9]
"""

from __future__ import annotations

import argparse
import io
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from benchmarks.report import machine, show, write
from ops.catalog import classes
from ops.inference.batches import Batch
from ops.inference.parquet import write_rows
from ops.inference.projection import Projection
from ops.inference.rows import RowMaker
from ops.inference.scores import Logits
from ops.metrics.zipf_distance import zipf_distance
from ops.shards import Sample

CLASSES, GROUP, WIDTH = 1000, 10, 64
PER_SHARD = 2500


@dataclass(frozen=True)
class Kind:
    """A kind of dataset: its masks, frames of a sequence, and how hard its images are."""

    name: str
    masks: tuple[str, ...] = ()
    frames: int = 1
    strength: float = 2.0
    noise: float = 1.6
    by_class: bool = True

    def batch(self, count: int, seed: int) -> tuple[Batch, Logits]:
        """Some samples, and what the network says of each of their rows."""
        rng = np.random.default_rng(0)
        head = rng.normal(0, 0.28, (WIDTH, CLASSES))
        head += rng.normal(0, 0.28, (WIDTH, CLASSES // GROUP)).repeat(GROUP, axis=1)
        rng = np.random.default_rng([1, seed])
        # Renderings are sorted by class, 50 images each; the validation images are not.
        numbers = np.arange(seed * count, (seed + 1) * count)
        labels = numbers // 50 % CLASSES if self.by_class else rng.integers(0, CLASSES, count)
        numbers = (
            np.random.default_rng(2).permutation(50_000)[numbers] if self.by_class else numbers
        )
        features = head[:, labels].T * self.strength * rng.gamma(8, 1 / 8, (count, 1))
        features += rng.normal(0, self.noise, features.shape)
        features = features.repeat(self.frames, axis=0)
        if self.frames > 1:
            features += rng.normal(0, 0.25, features.shape)
        samples = []
        for label, number in zip(labels.tolist(), numbers.tolist(), strict=True):
            source = f"ILSVRC2012_val_{number + 1:08d}"
            key = f"n{1440764 + 10_007 * label:08d}/{source}" if self.by_class else source
            meta = {"source_key": source, "labels": [label]}
            samples.append(Sample(key, None, "jpg", label, meta))
        shard = cast(Any, SimpleNamespace(name=f"{self.name}-1a2b3c4d-{seed:06d}.tar"))
        batch = Batch(shard, samples, torch.empty(0), [None] * count)
        return batch, (features @ head).astype(np.float32)

    def maker(self) -> RowMaker:
        """What makes its rows."""
        sequences = {"frames": self.frames, "reference": "previous"} if self.frames > 1 else {}
        manifest = SimpleNamespace(
            benchmark=self.name, condition="fog/3", version="0" * 16, parameters=sequences
        )
        masks = {name: classes.subset(name) for name in self.masks}
        projection = Projection("network", self.name, None, CLASSES, None, None, masks)
        entry = SimpleNamespace(name="network", head="softmax")
        return RowMaker("0" * 16, cast(Any, entry), cast(Any, manifest), projection)


KINDS = (
    Kind("imagenet_c"),
    Kind("imagenet_p", frames=31),
    Kind("imagenet_1k", masks=classes.MASKS, strength=3.0, noise=1.0, by_class=False),
)


def microseconds(kind: Kind, images: int, rounds: int) -> float:
    """CPU time of a row, the best of some rounds: other work on the machine only adds."""
    batch, outputs = kind.batch(max(1, images // kind.frames), 0)
    maker, found = kind.maker(), []
    for _ in range(rounds):
        start = time.process_time()
        maker.rows(batch, outputs)
        found.append((time.process_time() - start) / len(outputs) * 1e6)
    return min(found)


def table_of(kind: Kind, rows: int) -> pa.Table:
    maker = kind.maker()
    each = PER_SHARD // kind.frames
    shards = max(1, rows // (each * kind.frames))
    made = [maker.rows(*kind.batch(each, seed)) for seed in range(shards)]
    return pa.Table.from_batches(made).sort_by(
        [("shard", "ascending"), ("sample_key", "ascending")]
    )


def by_column(data: bytes, rows: int) -> dict[str, float]:
    metadata = pq.read_metadata(io.BytesIO(data))
    found: dict[str, float] = {}
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            name = column.path_in_schema.replace(".list.element", "")
            found[name] = found.get(name, 0) + column.total_compressed_size / rows
    return {**found, "whole file": len(data) / rows}


def on_disk(table: pa.Table) -> dict[str, dict[str, float]]:
    ours, usual = io.BytesIO(), io.BytesIO()
    write_rows(table, ours)
    pq.write_table(table, usual, compression="zstd", compression_level=3)
    found = {"shiftlake": ours.getvalue(), "pyarrow defaults": usual.getvalue()}
    return {name: by_column(data, table.num_rows) for name, data in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    costs = [
        {
            "rows of": kind.name,
            **{
                f"µs a row, {images} images a batch": round(
                    microseconds(kind, images, options.rounds), 1
                )
                for images in (64, 256)
            },
        }
        for kind in KINDS
    ]
    frames = KINDS[1].batch(8, 0)[1].reshape(8, 31, CLASSES)
    ranked = []
    for _ in range(options.rounds):
        start = time.process_time()
        zipf_distance(frames, "previous")
        ranked.append((time.process_time() - start) / (8 * 31) * 1e6)
    zipf = round(min(ranked), 1)
    show("Prediction rows, CPU time on one core", costs)
    print(f"of a row of imagenet_p, {zipf} µs are its Zipf distance")
    sizes: dict[str, Any] = {}
    for kind in KINDS:
        table = table_of(kind, options.rows)
        whole = on_disk(table)
        shard = on_disk(table.slice(0, PER_SHARD // kind.frames * kind.frames))
        sizes[kind.name] = {"compacted": whole, "one shard": shard}
        shown = [
            {
                "column": name,
                **{f"{who}, B a row": round(own[name], 2) for who, own in whole.items()},
            }
            for name, size in whole["shiftlake"].items()
            if size >= 0.1
        ]
        show(f"{kind.name}, {table.num_rows:,} rows in a file", shown)
        print(
            "a file of one shard: "
            + ", ".join(f"{who} {own['whole file']:.1f} B a row" for who, own in shard.items())
        )
    write(
        "prediction_rows",
        {"machine": machine(), "microseconds": costs, "zipf_microseconds": zipf, "bytes": sizes},
    )


if __name__ == "__main__":
    main()
