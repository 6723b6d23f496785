"""A lake made by hand: manifests, models and prediction files as the other rooms write them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ops.catalog.classes import subset
from ops.inference import PREDICTIONS, plan_key
from ops.inference.expected import row_key
from ops.inference.parquet import write_rows
from ops.inference.protocol import described
from ops.inference.record import Numerics, RunRecord
from ops.inference.schema import SCHEMA_VERSION
from ops.metrics.corruption import corruptions_15, corruptions_19
from ops.metrics.flips import PERTURBATIONS_10
from ops.metrics.top5_distance import top5_distance
from ops.models import ModelEntry, Transform
from ops.models.entry import WeightsFile
from ops.results.parity_file import PARITY, write_parity
from ops.shards import Manifest, Sample, ShardEntry, write_dataset
from ops.storage import Root, paths

MASKS = ("imagenet_a", "imagenet_o", "imagenet_r")
Row = dict[str, Any]


def model_entry(name: str, weights: str = "w1", **fields: Any) -> ModelEntry:
    digest = hashlib.sha256(weights.encode()).hexdigest()
    return ModelEntry(
        name=name,
        kind="callable",
        reference="some.module:Net",
        weights=WeightsFile(sha256=digest, bytes=10, suffix="safetensors"),
        transform=fields.pop("transform", Transform()),
        **fields,
    )


class Lake:
    """Writes into one root what an evaluation of made-up logits would have written."""

    def __init__(self, root: Root) -> None:
        self.root = root

    def model(self, name: str, weights: str = "w1", **fields: Any) -> ModelEntry:
        entry = model_entry(name, weights, **fields)
        self.root.write_json(paths.model(name), entry.model_dump(mode="json"))
        return entry

    def parity(self, published: str, rendered: str) -> None:
        """A report on one condition, no model having been run on both sets."""
        row = dict.fromkeys(PARITY.names) | {
            "published": published,
            "rendered": rendered,
            "condition": published.partition("/")[2],
            "n_compared": 4,
            "n_identical": 1,
            "mean_abs_difference": 2.5,
            "psnr_db": 31.0,
            "published_bytes": 9_000.0,
            "rendered_bytes": 9_100.0,
        }
        write_parity(self.root, rendered.partition("/")[0], pa.Table.from_pylist([row], PARITY))

    def dataset(
        self,
        name: str,
        n_samples: int = 10,
        *,
        n_shards: int = 2,
        version: str = "v1",
        label_space: str = "ilsvrc1000",
        mask: str | None = None,
        synthetic: bool = False,
        parameters: dict[str, Any] | None = None,
        renderer: dict[str, Any] | None = None,
    ) -> Manifest:
        shards = [
            ShardEntry(name=f"part-{i:06}.tar", n_samples=1, bytes=1, sha256="0" * 64)
            for i in range(n_shards)
        ]
        manifest = Manifest(
            name=name,
            benchmark=name.split("/", 1)[0],
            condition=name.split("/", 1)[1],
            version=hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:16],
            n_samples=n_samples,
            n_failed=0,
            failed=(),
            n_classes=1,
            class_count_min=1,
            class_count_max=1,
            label_space=label_space,
            label_histogram_sha256="0" * 64,
            mask=mask,
            ignored={},
            sources=(),
            parameters=parameters or {},
            renderer=renderer,
            licence=None,
            synthetic=synthetic,
            shards=tuple(shards),
        )
        self.root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
        return manifest

    def run(
        self,
        entry: ModelEntry,
        manifest: Manifest,
        rows: Iterable[Row],
        *,
        sealed: bool = True,
        shards: int | None = None,
        ended_at: str = "2026-01-01T00:00:00+00:00",
        code_version: str | None = None,
        key: str | None = None,
        expected: int | None = None,
        versions: dict[str, str] | None = None,
    ) -> str:
        """Write one run of `rows`; `shards` limits how many files an unsealed run has."""
        from ops.inference.plan import CODE_VERSION, class_map_sha256

        numerics = Numerics(
            dtype=entry.precision,
            device="cpu",
            tf32=entry.tf32,
            deterministic=entry.deterministic,
            compiled=entry.compiled,
        )
        key = key or plan_key(entry, manifest, numerics)
        folder = paths.run(entry.name, manifest.name, key)
        rows = sorted(rows, key=lambda row: row["sample_key"])
        if reference := manifest.parameters.get("reference"):
            rows = compared(rows, reference)
        files = []
        parts = np.array_split(np.arange(len(rows)), len(manifest.shards))
        for part, shard in list(zip(parts, manifest.shards, strict=True))[:shards]:
            full = [
                {
                    **dict.fromkeys(PREDICTIONS.names),
                    "run_id": key,
                    "model": entry.name,
                    "benchmark": manifest.benchmark,
                    "condition": manifest.condition,
                    "dataset_version": manifest.version,
                    "shard": shard.name,
                    "status": "ok",
                    **rows[i],
                }
                for i in part
            ]
            buffer = io.BytesIO()
            write_rows(pa.Table.from_pylist(full, PREDICTIONS), buffer)
            data, name = buffer.getvalue(), shard.name.replace(".tar", ".parquet")
            self.root.write_bytes(f"{folder}/{name}", data)
            digest = hashlib.sha256(data).hexdigest()
            files.append({"name": name, "rows": len(full), "sha256": digest, "bytes": len(data)})
        errors = sum(row.get("status") == "decode_error" for row in rows)
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
            "class_map_sha256": class_map_sha256(entry),
            "model_label_space": entry.label_space,
            "transform": entry.transform.model_dump(mode="json"),
            "transform_hash": entry.transform.hash,
            "protocol": described(entry.transform, manifest.parameters.get("cropped")),
            "cropped": manifest.parameters.get("cropped"),
            "frames": manifest.parameters.get("frames"),
            "frame_reference": manifest.parameters.get("reference"),
            "numerics": numerics.model_dump(mode="json"),
            "code_version": code_version or CODE_VERSION,
            "schema_version": SCHEMA_VERSION,
            "head": entry.head,
            "batch_size": 32,
            "label_space": manifest.label_space,
            "mask": manifest.mask,
            "n_expected": expected or len(rows),
            "n_seen": len(rows) - errors,
            "n_error": errors,
            "started_at": "2026-01-01T00:00:00+00:00",
            "ended_at": ended_at,
            "seconds": 1.0,
            "images_per_second": 10.0,
            "device_name": "cpu",
            "versions": versions or {"torch": "2"},
            "synthetic": manifest.synthetic or entry.synthetic,
            "files": files,
        }
        RunRecord.model_validate(record)  # made-up runs look exactly like real ones
        if sealed:
            self.root.write_json(f"{folder}/run.json", record)
        return key

    def real(self, labels: dict[str, list[int]]) -> Manifest:
        """Seal reassessed labels as the dataset imagenet_real/clean."""
        samples = [
            Sample(
                source,
                None,
                "jpg",
                None,
                {
                    "benchmark": "imagenet_real",
                    "condition": "clean",
                    "source_key": source,
                    "source_file": "real.json",
                    "labels": own,
                },
            )
            for source, own in labels.items()
        ]
        return write_dataset(
            self.root, "imagenet_real/clean", samples, label_space="ilsvrc1000", synthetic=False
        )


def made_logits(labels: list[int], seed: int, skill: float = 3.0, classes: int = 1000) -> Any:
    """Random logits, float32, shape (N, classes), raised at the label by `skill`."""
    logits = np.random.default_rng(seed).normal(size=(len(labels), classes)).astype(np.float32)
    logits[np.arange(len(labels)), labels] += skill
    return logits


def rows_of(
    labels: list[int],
    logits: Any,
    *,
    masks: tuple[str, ...] = (),
    own: str | None = None,
    prefix: str = "s",
    source: Callable[[int], str] | None = None,
    labelled: bool = True,
) -> list[Row]:
    """Prediction rows of `logits`, by plain numpy."""
    rows = []
    for i, (label, row) in enumerate(zip(labels, logits, strict=True)):
        order = np.argsort(-row, kind="stable")[:5]
        share = np.exp(row - row.max())
        masked = {}
        for mask in {*masks, *([own] if own else [])}:
            part = row[list(subset(mask))]
            masked[mask] = {
                "mask": mask,
                "pred": int(subset(mask)[int(part.argmax())]),
                "p_max": float(1 / np.exp(part - part.max()).sum()),
                "max_logit": float(part.max()),
                "logsumexp": float(np.log(np.exp(part - part.max()).sum()) + part.max()),
            }
        key = f"{prefix}{i:08}"
        rows.append(
            {
                "sample_key": key,
                "source_key": source(i) if source else key,
                "labels": [label] if labelled else [],
                "pred": int(order[0]),
                "top5_idx": order.tolist(),
                "top5_logit": row[order].tolist(),
                "p_max": float(1 / share.sum()),
                "logsumexp": float(np.log(share.sum()) + row.max()),
                "entropy": 1.0,
                "rank_of_label": int((row > row[label]).sum()) + 1 if labelled else None,
                "correct": bool(order[0] == label) if labelled else None,
                "correct5": bool(label in order) if labelled else None,
                "masks": list(masked.values()),
            }
        )
        if own:
            rows[-1]["pred_masked"] = masked[own]["pred"]
            rows[-1]["p_max_masked"] = masked[own]["p_max"]
            rows[-1]["correct_masked"] = masked[own]["pred"] == label if labelled else None
    return rows


def decode_error(row: Row) -> Row:
    """`row` as it is where the image could not be read."""
    kept = {name: row[name] for name in ("sample_key", "source_key", "labels")}
    for name in ("frame_set", "frame_offset"):
        kept[name] = row.get(name)
    right = False if row["labels"] else None
    empty = dict.fromkeys(("pred", "p_max", "max_logit", "logsumexp"))
    kept["masks"] = [{"mask": m["mask"], **empty} for m in row.get("masks", [])]
    return {
        **kept,
        "correct": right,
        "correct5": right,
        "correct_masked": right if "pred_masked" in row else None,
        "status": "decode_error",
        "error": "cannot identify image file",
    }


def video_rows(frames: list[tuple[str, int, bool]], label: int = 0) -> list[Row]:
    """Rows of (anchor, offset, correct)."""
    return [
        {
            "sample_key": f"{anchor}/{offset + 100:03}",
            "source_key": anchor,
            "labels": [label],
            "pred": label if right else label + 1,
            "top5_idx": [label, label + 1],
            "top5_logit": [1.0, 0.0],
            "correct": right,
            "correct5": True,
            "frame_set": anchor,
            "frame_offset": offset,
        }
        for anchor, offset, right in frames
    ]


def sequence_rows(sequences: list[list[list[int]]], label: int = 0) -> list[Row]:
    """Rows of sequences whose frames are given by their top 5; an empty one cannot be read."""
    rows = []
    for i, frames in enumerate(sequences):
        key = f"n01440764/{val_name(i)}"
        for frame, top5 in enumerate(frames):
            row = {
                "sample_key": row_key(key, frame),
                "source_key": val_name(i),
                "labels": [label],
                "pred": top5[0] if top5 else None,
                "top5_idx": top5 or None,
                "correct": bool(top5) and top5[0] == label,
                "correct5": label in top5,
                "frame_set": key,
                "frame_offset": frame,
            }
            rows.append(row if top5 else row | {"status": "decode_error", "error": "cut"})
    return rows


def perturbed(name: str, frames: int = 31) -> dict[str, Any]:
    """Parameters of a dataset of sequences."""
    reference = "first" if "noise" in name else "previous"
    return {"cropped": 224, "frames": frames, "reference": reference}


def compared(rows: list[Row], reference: str) -> list[Row]:
    """Rows of sequences, sorted, with what is kept of each frame against its reference frame."""
    found = []
    for i, row in enumerate(rows):
        if row["frame_offset"] == 0:
            first = row
            found.append(row)
            continue
        before = first if reference == "first" else rows[i - 1]
        pair = [each["top5_idx"] or [-1] * 5 for each in (before, row)]
        read = all(each["top5_idx"] for each in (before, row))
        tops = np.array([[(top + [-1] * 5)[:5] for top in pair]])
        distance = int(top5_distance(tops, "previous")[0])
        own = {
            "flipped": not read or before["pred"] != row["pred"],
            "top5_distance": distance,
            "zipf_distance": distance / 8 if read else None,
        }
        # What a test says itself stays.
        found.append(own | row)
    return found


RENDERER = {
    "name": "shiftlake",
    "form": "stored",
    "mode": "fast",
    "version": "1",
    "seed": 0,
}


def val_name(i: int) -> str:
    return f"ILSVRC2012_val_{i + 1:08d}"


def fill(lake: Lake) -> None:
    rng = np.random.default_rng(0)
    clean = rng.integers(0, 1000, 150).tolist() + [
        int(c) for mask in MASKS for c in rng.choice(subset(mask), 60)
    ]
    val = lake.dataset("imagenet_1k/val", len(clean))
    # As in the published file: some images have no label, some a second one.
    also = made_logits(clean, 0, 4.0).argmax(1).tolist()
    lake.real(
        {
            val_name(i): [] if i % 10 == 0 else [c, also[i]] if i % 10 < 4 else [c]
            for i, c in enumerate(clean)
        }
    )
    plain = ["imagenetv2/matched_frequency", "imagenetv2/top_images", "imagenet_sketch/clean"]
    few = rng.integers(0, 1000, 40).tolist()
    small = rng.integers(0, 1000, 12).tolist()
    datasets = {name: lake.dataset(name, len(few)) for name in plain}
    own = {m: [int(c) for c in rng.choice(subset(m), 50)] for m in MASKS}
    for mask in MASKS:
        datasets[mask] = lake.dataset(f"{mask}/clean", 50, mask=mask)
    cells = {
        f"{name}/{s}": lake.dataset(f"imagenet_c/{name}/{s}", 12, n_shards=1, synthetic=True)
        for name in corruptions_19()
        for s in range(1, 6)
    }
    mini = [lake.dataset(f"mini_imagenet_c/{n}/5", 12, n_shards=1) for n in corruptions_15()]
    fog = lake.dataset(
        "imagenet_c_rendered/fog/3",
        12,
        n_shards=1,
        renderer=RENDERER,
        parameters={"cropped": 224},
    )
    sequences = {
        name: lake.dataset(
            f"imagenet_p_rendered/{name}",
            3,
            n_shards=1,
            renderer=RENDERER,
            parameters=perturbed(name, 4),
        )
        for name in PERTURBATIONS_10
    }
    video = lake.dataset("imagenet_vid_robust/clean", 33, label_space="imagenet_vid30")
    frames = [(f"a{i:02}", o, i < 9 - o) for i in range(11) for o in (0, 3, 8)]
    for seed, (name, skill) in enumerate({"resnet50": 4.0, "vit_b_16": 5.0}.items()):
        entry = lake.model(name, weights=name)
        rows = rows_of(clean, made_logits(clean, seed, skill), masks=MASKS, prefix="v")
        rows = [{**row, "source_key": val_name(i)} for i, row in enumerate(rows)]
        rows[7] = decode_error(rows[7])
        lake.run(entry, val, rows)
        for dataset in plain:
            logits = made_logits(few, 10 + seed, skill - 1)
            lake.run(entry, datasets[dataset], rows_of(few, logits))
        for mask, labels in own.items():
            lift = 0.0 if mask == "imagenet_o" else skill - 2
            made = rows_of(
                labels,
                made_logits(labels, 20 + seed, lift),
                own=mask,
                labelled=mask != "imagenet_o",
            )
            lake.run(entry, datasets[mask], made)
        for i, (condition, manifest) in enumerate(cells.items()):
            logits = made_logits(small, 100 + i + 1000 * seed, skill - int(condition[-1]) / 2)
            lake.run(entry, manifest, rows_of(small, logits, source=val_name))
        for i, manifest in enumerate(mini):
            lake.run(entry, manifest, rows_of(small, made_logits(small, 500 + i, skill - 2)))
        lake.run(entry, fog, rows_of(small, made_logits(small, 700, skill - 1), source=val_name))
        for manifest in sequences.values():
            tops = rng.permuted(np.tile(np.arange(6), (3, 4, 1)), axis=-1)[..., :5]
            lake.run(entry, manifest, sequence_rows(tops.tolist()))
        lake.run(entry, video, video_rows(frames))
    cifar = lake.dataset("cifar_100/test", 30, label_space="cifar100")
    labels = rng.integers(0, 100, 30).tolist()
    entry = lake.model("small", label_space="cifar100")
    lake.run(entry, cifar, rows_of(labels, made_logits(labels, 9, 3.0, classes=100)))
    for level in range(1, 7):
        blurred = lake.dataset(
            f"distorted_cifar_100/gaussian_blur/{level}",
            30,
            label_space="cifar100",
            renderer=RENDERER | {"source": "cifar_100/test"},
        )
        logits = made_logits(labels, 9, 3.0 - level / 2, classes=100)
        lake.run(entry, blurred, rows_of(labels, logits))
