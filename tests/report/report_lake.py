"""A lake with something of everything that the report shows: pictures, sequences, metrics."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from ops.catalog.classes import subset
from ops.metrics import clopper_pearson
from ops.metrics.corruption import corruptions_19
from ops.metrics.flips import PERTURBATIONS_10
from ops.perturbations.video import encode
from ops.results.gates.file import GATE, write_gate
from ops.results.metrics_file import METRICS, Measured, write_metrics
from ops.results.reference import REFERENCE, write_reference
from ops.shards import Manifest, Sample, write_dataset
from ops.storage import Root, paths
from tests.results.made_lake import (
    MASKS,
    RENDERER,
    Lake,
    made_logits,
    perturbed,
    rows_of,
    sequence_rows,
)

MODELS = ("resnet50", "vit_b_16")
HOSTILE = '<script>alert("model")</script>'
HOSTILE_KEY = "\"><img src='x' onerror='alert(1)'>"
PER_CLASS = 4
CORRUPTIONS = ("shot_noise", "fog", "pixelate", "saturate")


def fill(root: Root, models: tuple[str, ...] = MODELS) -> Lake:
    """Predictions of the first two models on sealed pictures, metrics of all of `models`."""
    lake = Lake(root)
    labels = [c for c in subset("imagenet_o")[:10] for _ in range(PER_CLASS)]
    val = seal(root, "imagenet_1k/val", labels)
    few = [int(c) for c in subset("imagenet_a")[:12]]
    a = seal(root, "imagenet_a/clean", few, mask="imagenet_a")
    o = seal(root, "imagenet_o/clean", [0] * 12, mask="imagenet_o")
    turned = videos(root, "imagenet_p_rendered/rotate", 3)
    # Of this one the manifest is there and the shard is not.
    lost = seal(root, "imagenetv2/matched_frequency", few[:8])
    root.remove(paths.shard(lost.name, lost.shards[0].name))
    for seed, name in enumerate(MODELS):
        entry = lake.model(name, weights=name)
        rows = rows_of(labels, made_logits(labels, seed, 3.0), masks=MASKS)
        lake.run(entry, val, rows)
        lake.run(entry, a, rows_of(few, made_logits(few, 9 + seed, 2.0), own="imagenet_a"))
        made = rows_of([0] * 12, made_logits([0] * 12, 5 + seed, 0.0), own="imagenet_o",
                       labelled=False)  # fmt: skip
        lake.run(entry, o, made)
        tops = [[[(i + f // 2 + seed) % 7, 11, 12, 13, 14] for f in range(6)] for i in range(3)]
        lake.run(entry, turned, [
            row | {"sample_key": f"s{i // 6:08}/frame_{i % 6:02}", "frame_set": f"s{i // 6:08}",
                   "p_max": 0.5}
            for i, row in enumerate(sequence_rows(tops))
        ])  # fmt: skip
        # The first is sure and right, the second sure and wrong.
        rows = rows_of(few[:8], made_logits(few[:8], 30 + seed, 20.0 - 40.0 * seed))
        rows[0]["sample_key"] = HOSTILE_KEY
        lake.run(entry, lost, rows)
    made_metrics(root, models)
    made_reference(root)
    made_gate(root)
    return lake


def picture(number: int, side: int = 32) -> bytes:
    """A JPEG of one colour, another for every number."""
    colour = np.array([40 + number * 53 % 200, 40 + number * 97 % 200, 40 + number * 31 % 200])
    target = io.BytesIO()
    pixels = np.broadcast_to(colour, (side, side, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(target, "JPEG", quality=95)
    return target.getvalue()


def seal(root: Root, name: str, labels: list[int], mask: str | None = None) -> Manifest:
    """Seal one picture a label, keyed as `rows_of` keys its rows."""
    benchmark, _, condition = name.partition("/")
    samples = [
        Sample(
            f"s{i:08}",
            picture(i),
            "jpg",
            label,
            {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": f"s{i:08}",
                "source_file": f"{i}.JPEG",
                "labels": [label],
                "format": "jpeg",
            },
        )
        for i, label in enumerate(labels)
    ]
    return write_dataset(root, name, samples, label_space="ilsvrc1000", mask=mask)


def videos(root: Root, name: str, count: int, frames: int = 6) -> Manifest:
    """Seal sequences whose frames get brighter."""
    benchmark, _, condition = name.partition("/")
    levels = np.linspace(20, 220, frames).astype(np.uint8)
    clip = np.broadcast_to(levels[:, None, None, None], (frames, 32, 32, 3)).copy()
    samples = [
        Sample(
            f"s{i:08}",
            encode(clip),
            "mp4",
            0,
            {
                "benchmark": benchmark,
                "condition": condition,
                "source_key": f"s{i:08}",
                "source_file": f"{i}.mp4",
                "labels": [0],
                "format": "mp4",
            },
        )
        for i in range(count)
    ]
    sealed = write_dataset(root, name, samples, label_space="ilsvrc1000", renderer=RENDERER)
    manifest = sealed.model_copy(update={"parameters": perturbed(condition, frames)})
    root.write_json(paths.manifest(name), manifest.model_dump(mode="json"))
    return manifest


def made_metrics(root: Root, models: tuple[str, ...], synthetic: bool = False) -> None:
    """The table of metrics, of made-up numbers: the first model is best everywhere."""
    table = [row for i, model in enumerate(models) for row in _metrics(model, i, len(models))]
    filled = [dict.fromkeys(METRICS.names) | {"synthetic": synthetic} | row for row in table]
    write_metrics(root, Measured(pa.Table.from_pylist(filled, METRICS)))


def _metrics(model: str, rank: int, of: int) -> list[dict[str, Any]]:
    skill = 0.85 - 0.35 * rank / of
    rows: list[dict[str, Any]] = []

    def add(benchmark: str, condition: str, metric: str, variant: str, value: float,
            n: int = 1000, spread: float = 0.01) -> None:  # fmt: skip
        row = {"benchmark": benchmark, "condition": condition, "metric": metric}
        rows.append(row | {
            "model": model, "variant": variant, "value": value, "n": n, "ci_lo": value - spread,
            "ci_hi": value + spread, "ci_method": "made up", "alpha": 0.05, "run_ids": [],
            "inputs": "made up", "run_id": "0",
        })  # fmt: skip

    def accuracy(benchmark: str, condition: str, variant: str, value: float, n: int) -> None:
        add(benchmark, condition, "top1", variant, value, n)
        if of > 10:
            return  # exact intervals of thousands take their time
        lo, hi = clopper_pearson(round(value * n), n)
        rows[-1] |= {"k": round(value * n), "value": round(value * n) / n, "ci_lo": float(lo),
                     "ci_hi": float(hi)}  # fmt: skip

    accuracy("imagenet_1k", "val", "unmasked", skill, 50_000)
    for mask in MASKS:
        accuracy("imagenet_1k", "val", f"clean_200/{mask}", skill + 0.1, 10_000)
    for metric in ("rms_calib", "ece"):
        add("imagenet_1k", "val", metric, "unmasked", 0.1 - 0.05 * skill, spread=0.001)
    for condition, drop in (("matched_frequency", 0.12), ("threshold07", 0.04), ("top_images", 0)):
        accuracy("imagenetv2", condition, "unmasked", skill - drop, 10_000)
    accuracy("imagenet_real", "clean", "real", skill + 0.05, 46_837)
    accuracy("imagenet_sketch", "clean", "unmasked", skill - 0.4, 50_889)
    accuracy("imagenet_a", "clean", "masked", skill - 0.45, 7_500)
    accuracy("imagenet_r", "clean", "masked", skill - 0.3, 30_000)
    for variant in ("max softmax", "energy"):
        add("imagenet_o", "clean", "aupr", variant, skill / 3, 12_000)
    add("imagenet_o", "clean", "aupr", "chance", 1 / 6, 12_000)
    if of <= 10:
        for name in CORRUPTIONS:
            for severity in range(1, 6):
                accuracy("imagenet_c", f"{name}/{severity}", "unmasked",
                         skill - 0.09 * severity, 50_000)  # fmt: skip
    for name in corruptions_19() if of <= 10 else CORRUPTIONS:
        add("imagenet_c", name, "ce_alexnet_pct", "alexnet", 120 - 80 * skill, 50_000, 1.0)
    for metric, variant in (("mce_alexnet_pct", "alexnet"), ("mean_err_15_pct", "unnormalised")):
        add("imagenet_c", "all", metric, variant, 120 - 80 * skill, 50_000, 0.5)
    for name in PERTURBATIONS_10[:3]:
        to = "relative to first" if name.endswith("noise") else "relative to previous"
        add("imagenet_p", name, "flip_probability", to, 0.3 * (1 - skill), 1000, 0.002)
    add("imagenet_p", "all", "mean_flip_probability_10", "unnormalised", 0.3 * (1 - skill))
    for k in (0, 5, 10):
        add("imagenet_vid_robust", "clean", f"pm{k}", "with anchor", skill - k / 60, 1109, 0.03)
    return rows


def made_reference(root: Root) -> None:
    """Twenty published models of standard training, on a line."""
    rows = []
    for i in range(20):
        for benchmark, condition, drop in (
            ("imagenet_1k", "val", 0.0),
            ("imagenetv2", "matched_frequency", 0.1 + 0.002 * (i % 3)),
        ):
            row = {"benchmark": benchmark, "condition": condition, "model": f"published {i}"}
            row |= {"metric": "top1", "variant": "unmasked", "value": 0.58 + i / 60 - drop}
            row |= {"source": "testbed", "revision": "0123456789abcdef", "setting": condition}
            rows.append(row | {"model_kind": "standard", "synthetic": False})
    filled = [dict.fromkeys(REFERENCE.names) | row for row in rows]
    write_reference(root, pa.Table.from_pylist(filled, REFERENCE))


def made_gate(root: Root) -> None:
    """One verdict, a failure."""
    row = {
        "gate": "release", "candidate": MODELS[1], "baseline": MODELS[0],
        "benchmark": "imagenet_1k", "condition": "val", "metric": "top1", "variant": "unmasked",
        "verdict": "fail", "reason": "worse by more than the margin", "delta": -0.0345,
        "ci_lo": -0.04, "ci_hi": -0.03, "margin": 0.005, "n": 50_000, "lost": 2_000,
        "gained": 275, "p_holm": 0.0001, "synthetic": False,
        "flipped_classes": [{"class_index": 5, "name": "electric_ray", "n": 50, "lost": 40,
                             "gained": 0}],
    }  # fmt: skip
    filled = dict.fromkeys(GATE.names) | row
    write_gate(root, pa.Table.from_pylist([filled], GATE))
