"""A synthetic lake of prediction rows in the real layout: no image, no model, only numbers.

Every model has the validation set, the 95 conditions of ImageNet-C and the 10 perturbations of
ImageNet-P, 20.8 million rows, written by the writer of evaluations. Top-5 classes, logits and what
follows from them are drawn with as many digits as real ones have: they compress no better.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ops.inference.parquet import write_rows
from ops.inference.plan import CODE_VERSION, plan_key
from ops.inference.protocol import described
from ops.inference.record import Numerics, RunRecord
from ops.inference.schema import PREDICTIONS, SCHEMA_VERSION
from ops.metrics.corruption import alexnet_errors, corruptions_19
from ops.models import ModelEntry, Transform
from ops.models.entry import WeightsFile
from ops.perturbations.facts import PERTURBATIONS, perturbations
from ops.shards import Manifest, ShardEntry
from ops.storage import Root, open_root, paths

IMAGES = 50_000
PER_SHARD = 2_500
MASKS = ("imagenet_a", "imagenet_o", "imagenet_r")
Columns = dict[str, Any]


def datasets(images: int) -> dict[str, Manifest]:
    """Manifests of everything every model is run on."""
    found = {"imagenet_1k/val": manifest_of("imagenet_1k/val", images, {})}
    for name in corruptions_19():
        for severity in range(1, 6):
            dataset = f"imagenet_c/{name}/{severity}"
            found[dataset] = manifest_of(dataset, images, {"cropped": 224})
    for name in PERTURBATIONS:
        facts = perturbations()[name]
        parameters = {"cropped": 224, "frames": facts.frames, "reference": facts.reference}
        found[f"imagenet_p/{name}"] = manifest_of(f"imagenet_p/{name}", images, parameters)
    return found


def entries(models: int) -> list[ModelEntry]:
    """Entries of made-up models."""
    return [
        ModelEntry(
            name=f"synthetic_{i}",
            kind="callable",
            reference="some.module:Net",
            weights=WeightsFile(sha256=_digest(f"weights {i}"), bytes=1, suffix="safetensors"),
            transform=Transform(),
            synthetic=True,
        )
        for i in range(models)
    ]


def make(folder: Path, models: int, images: int = IMAGES, workers: int = 2) -> int:
    """Make the lake below `folder`, or add what is missing; return how many rows it has."""
    root = open_root(folder)
    manifests = datasets(images)
    for name, manifest in manifests.items():
        root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    tasks = []
    for i, entry in enumerate(entries(models)):
        root.write_json(paths.model(entry.name), entry.model_dump(mode="json"))
        tasks += [(str(folder), i, entry, manifest) for manifest in manifests.values()]
    with get_context("spawn").Pool(workers) as pool:
        return sum(pool.imap_unordered(_made, tasks))


def _made(task: tuple[str, int, ModelEntry, Manifest]) -> int:
    folder, number, entry, manifest = task
    root = open_root(folder)
    numerics = Numerics(dtype=entry.precision, device="cuda")
    key = plan_key(entry, manifest, numerics)
    frames = manifest.parameters.get("frames", 1)
    if not root.exists(paths.run_record(entry.name, manifest.name, key)):
        files = _write(root, number, entry, manifest, key)
        record = record_of(entry, manifest, numerics, key, files)
        root.write_json(paths.run_record(entry.name, manifest.name, key), record)
    return manifest.n_samples * frames


def _write(
    root: Root, number: int, entry: ModelEntry, manifest: Manifest, key: str
) -> list[dict[str, Any]]:
    files = []
    fixed = {
        "run_id": key,
        "model": entry.name,
        "benchmark": manifest.benchmark,
        "condition": manifest.condition,
        "dataset_version": manifest.version,
        "status": "ok",
    }
    for shard, columns in zip(manifest.shards, _columns(number, manifest), strict=True):
        n = len(columns["pred"])
        constant = {name: pa.repeat(value, n) for name, value in fixed.items()}
        columns |= {"shard": pa.repeat(shard.name, n), **constant}
        table = pa.table(
            {
                field.name: pa.array(columns[field.name], field.type)
                if field.name in columns
                else pa.nulls(n, field.type)
                for field in PREDICTIONS
            },
            schema=PREDICTIONS,
        )
        buffer = io.BytesIO()
        write_rows(table, buffer, {b"shiftlake.rows": str(n).encode()})
        data = buffer.getvalue()
        name = shard.name.replace(".tar", ".parquet")
        root.write_bytes(f"{paths.run(entry.name, manifest.name, key)}/{name}", data, durable=False)
        digest = hashlib.sha256(data).hexdigest()
        files.append({"name": name, "rows": n, "sha256": digest, "bytes": len(data)})
    return files


def _columns(number: int, manifest: Manifest) -> Iterator[Columns]:
    """Columns of one shard after the other, rows sorted by key."""
    corruption, _, severity = manifest.condition.partition("/")
    error = 0.25 - 0.02 * number
    if severity:
        # As AlexNet on the middle severity; better models have less of it.
        harder = 0.7 + 0.15 * (int(severity) - 1)
        error = min(0.98, alexnet_errors().mean[corruption] * harder * (0.85 - 0.05 * number))
    frames = manifest.parameters.get("frames")
    for i, shard in enumerate(manifest.shards):
        seed = int(_digest(f"{number} {manifest.name} {i}")[:15], 16)
        images = np.arange(i * PER_SHARD, i * PER_SHARD + shard.n_samples)
        rng = np.random.default_rng(seed)
        labels = (images * 1_000 // max(manifest.n_samples, 1_000)).astype(np.int16)
        if frames is None:
            yield _scores(rng, labels, error) | _names(images, labels, manifest, rng)
        else:
            yield _sequences(rng, images, labels, error, manifest)


def _scores(rng: np.random.Generator, labels: Any, error: float) -> Columns:
    """What is kept of the logits of images with these labels, shape (N,)."""
    n = len(labels)
    # The label is first, second, ..., fifth or further down.
    wrong = rng.random(n)
    rank = np.where(wrong > error, 0, np.minimum(5, 1 + (wrong / error * 5).astype(np.int64)))
    steps = rng.integers(1, 190, (n, 5))
    steps[:, 0] = 0
    offsets = np.cumsum(steps, axis=1)
    at_rank = np.where(rank < 5, offsets[np.arange(n), np.minimum(rank, 4)], -7)
    top5 = ((labels[:, None] + offsets - at_rank[:, None]) % 1000).astype(np.int16)
    top = rng.normal(14, 3, n)
    gaps = np.cumsum(np.concatenate([np.zeros((n, 1)), rng.exponential(1.5, (n, 4))], 1), axis=1)
    logits = (top[:, None] - gaps).astype(np.float32)
    rest = logits[:, 4] + rng.normal(0.5, 0.3, n)
    lse = np.logaddexp(np.logaddexp.reduce(logits.astype(np.float64), axis=1), rest)
    p = np.exp(logits - lse[:, None])
    tail = np.maximum(1 - p.sum(axis=1), 1e-9)
    entropy = -(p * (logits - lse[:, None])).sum(axis=1) - tail * np.log(tail / 995)
    return {
        "labels": _lists(labels, 1),
        "pred": top5[:, 0],
        "top5_idx": _lists(top5.ravel(), 5),
        "top5_logit": _lists(logits.ravel(), 5),
        "max_logit": logits[:, 0],
        "p_max": p[:, 0].astype(np.float32),
        "logsumexp": lse.astype(np.float32),
        "entropy": entropy.astype(np.float32),
        "rank_of_label": np.where(rank < 5, rank + 1, rng.integers(6, 1000, n)).astype(np.int16),
        "correct": rank == 0,
        "correct5": rank < 5,
    }


def _names(images: Any, labels: Any, manifest: Manifest, rng: np.random.Generator) -> Columns:
    source = pa.array([f"ILSVRC2012_val_{i + 1:08d}" for i in images])
    columns: Columns = {"source_key": source, "sample_key": source}
    n = len(images)
    masks: list[list[dict[str, Any]]] = [[]] * n
    if manifest.condition == "val":
        values = rng.random((n, len(MASKS), 3)).astype(np.float32)
        masks = [
            [
                {"mask": m, "pred": int(c), "p_max": a, "max_logit": b, "logsumexp": b + d}
                for m, (a, b, d) in zip(MASKS, row, strict=True)
            ]
            for c, row in zip(labels, values.tolist(), strict=True)
        ]
    else:
        columns["sample_key"] = pa.array(_keys(images, labels))
    return columns | {"masks": pa.array(masks, PREDICTIONS.field("masks").type)}


def _sequences(
    rng: np.random.Generator, images: Any, labels: Any, error: float, manifest: Manifest
) -> Columns:
    """Frames that mostly keep the classes of their sequence; some swap the first two."""
    frames = int(manifest.parameters["frames"])
    n = len(images)
    columns = _scores(rng, np.repeat(labels, frames), error)
    still = np.asarray(_scores(rng, labels, error)["top5_idx"].values).reshape(n, 1, 5)
    top5 = np.repeat(still, frames, axis=1)
    swapped = rng.random((n, frames)) < rng.beta(0.3, 3, (n, 1))
    top5[swapped, :2] = top5[swapped, 1::-1]
    pred = top5[..., 0]
    before = pred[:, :1] if manifest.parameters["reference"] == "first" else pred[:, :-1]
    flipped = np.zeros((n, frames), bool)
    flipped[:, 1:] = pred[:, 1:] != before
    first = np.arange(n * frames) % frames == 0
    keys = _keys(images, labels)
    label = np.repeat(labels, frames)
    is_label = top5.reshape(-1, 5) == label[:, None]
    rank = np.where(is_label.any(1), is_label.argmax(1) + 1, 17)
    source = pa.array([f"ILSVRC2012_val_{i + 1:08d}" for i in images])
    each = np.repeat(np.arange(n), frames)
    return columns | {
        "sample_key": pa.array([f"{key}/frame_{f:02d}" for key in keys for f in range(frames)]),
        "source_key": source.take(pa.array(each)),
        "frame_set": pa.array(keys).take(pa.array(each)),
        "frame_offset": np.tile(np.arange(frames, dtype=np.int16), n),
        "pred": pred.ravel(),
        "top5_idx": _lists(top5.ravel(), 5),
        "rank_of_label": rank.astype(np.int16),
        "correct": rank == 1,
        "correct5": rank <= 5,
        "masks": pa.array([[]] * (n * frames), PREDICTIONS.field("masks").type),
        "flipped": pa.array(flipped.ravel(), mask=first),
        "top5_distance": pa.array(
            (flipped.ravel() * 2 + rng.poisson(1.5, n * frames)).astype(np.int8), mask=first
        ),
        "zipf_distance": pa.array(
            rng.lognormal(-1, 0.6, n * frames).astype(np.float32), mask=first
        ),
    }


def _keys(images: Any, labels: Any) -> list[str]:
    pairs = zip(images, labels, strict=True)
    return [f"n{1_440_764 + 977 * int(c):08d}/ILSVRC2012_val_{i + 1:08d}" for i, c in pairs]


def _lists(values: Any, each: int) -> Any:
    offsets = np.arange(0, len(values) + 1, each, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def manifest_of(name: str, images: int, parameters: dict[str, Any]) -> Manifest:
    """Manifest of a made-up dataset in shards of `PER_SHARD` samples."""
    benchmark, _, condition = name.partition("/")
    version = _digest(name)[:16]
    starts = range(0, images, PER_SHARD)
    shards = tuple(
        ShardEntry(
            name=f"{name.replace('/', '-')}-{version[:8]}-{i:06d}.tar",
            n_samples=min(PER_SHARD, images - start),
            bytes=1,
            sha256="0" * 64,
        )
        for i, start in enumerate(starts)
    )
    return Manifest(
        name=name,
        benchmark=benchmark,
        condition=condition,
        version=version,
        n_samples=images,
        n_failed=0,
        failed=(),
        n_classes=1_000,
        class_count_min=images // 1_000,
        class_count_max=images // 1_000,
        label_space="ilsvrc1000",
        label_histogram_sha256="0" * 64,
        mask=None,
        ignored={},
        sources=(),
        parameters=parameters,
        renderer=None,
        licence=None,
        synthetic=True,
        shards=shards,
    )


def record_of(
    entry: ModelEntry, manifest: Manifest, numerics: Numerics, key: str, files: list[dict[str, Any]]
) -> dict[str, Any]:
    """Seal of a made-up run."""
    rows = sum(file["rows"] for file in files)
    record = {
        "run_id": key,
        "key": key,
        "model": entry.name,
        "dataset": manifest.name,
        "benchmark": manifest.benchmark,
        "condition": manifest.condition,
        "dataset_version": manifest.version,
        "weights_sha256": entry.weights.sha256 if entry.weights else None,
        "reference": entry.reference,
        "arguments": entry.kwargs,
        "class_map_sha256": None,
        "model_label_space": entry.label_space,
        "transform": entry.transform.model_dump(mode="json"),
        "transform_hash": entry.transform.hash,
        "protocol": described(entry.transform, manifest.parameters.get("cropped")),
        "cropped": manifest.parameters.get("cropped"),
        "frames": manifest.parameters.get("frames"),
        "frame_reference": manifest.parameters.get("reference"),
        "numerics": numerics.model_dump(mode="json"),
        "code_version": CODE_VERSION,
        "schema_version": SCHEMA_VERSION,
        "label_space": manifest.label_space,
        "mask": manifest.mask,
        "n_expected": rows,
        "n_seen": rows,
        "n_error": 0,
        "started_at": "2026-01-01T00:00:00+00:00",
        "ended_at": "2026-01-01T00:00:10+00:00",
        "seconds": 10.0,
        "images_per_second": rows / 10,
        "device_name": "synthetic",
        "versions": {},
        "synthetic": True,
        "files": files,
    }
    RunRecord.model_validate(record)
    return record


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
