"""Results of made-up models, in the layouts in which timm and the ImageNet testbed publish theirs.

Every model's name begins with ``made_up``. Its accuracies lie near lines in the logits, as those of
real models do, and are shares of as many images as the real sets have.
"""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

import numpy as np

from ops.miniature.keyed import generator
from ops.miniature.publication import Publication

TIMM = "reference-timm"
TESTBED = "reference-imagenet-testbed"
BENCHMARKS = (TIMM, TESTBED)

_CORRUPTIONS = (
    "brightness", "contrast", "defocus_blur", "elastic_transform", "fog", "frost", "gaussian_blur",
    "gaussian_noise", "glass_blur", "impulse_noise", "jpeg_compression", "motion_blur", "pixelate",
    "saturate", "shot_noise", "snow", "spatter", "speckle_noise", "zoom_blur",
)  # fmt: skip


class Shift(NamedTuple):
    """Number of images, and the line in the logits that models lie near."""

    n: int
    slope: float
    intercept: float


_VAL = Shift(50000, 1.0, 0.0)
_OTHER_SETTINGS = {
    "imagenet-r": Shift(30000, 0.8, -1.7),
    "imagenet-sketch": Shift(50889, 1.0, -2.3),
    "imagenet-vid-robust_pm0": Shift(1109, 0.7, 0.1),
    "imagenet-vid-robust_pm10": Shift(1109, 0.8, -0.6),
    "imagenetv2-matched-frequency": Shift(10000, 0.92, -0.5),
    "imagenetv2-matched-frequency-format-val": Shift(10000, 0.92, -0.51),
    "imagenetv2-matched-frequency-format-val_subsampled_class_1_8": Shift(1250, 1.0, 1.2),
    "imagenetv2-threshold-0.7-format-val": Shift(10000, 0.95, -0.1),
    "imagenetv2-threshold0.7": Shift(10000, 0.95, -0.09),
    "imagenetv2-top-images-format-val": Shift(10000, 0.97, 0.1),
    "imagenetv2-topimages": Shift(10000, 0.97, 0.12),
    "objectnet-1.0-beta": Shift(18574, 1.2, -2.0),
    "pgd.l2.eps0.1": Shift(50000, 1.0, -0.7),
    "pgd.l2.eps0.5": Shift(50000, 1.0, -3.0),
    "pgd.linf.eps0.5": Shift(50000, 1.0, -2.0),
    "pgd.linf.eps2": Shift(50000, 1.0, -4.5),
    "stylized_imagenet": Shift(50000, 0.9, -3.2),
    "val": _VAL,
    "val-on-imagenet-a-classes": Shift(10000, 1.0, 1.2),
    "val-on-imagenet-r-classes": Shift(10000, 1.0, 1.25),
    "val-on-objectnet-classes": Shift(5650, 1.0, -0.4),
    "val-on-vid-robust-classes": Shift(14400, 1.0, 2.6),
    "val-on-ytbb-robust-classes": Shift(11550, 1.0, 2.7),
    "val_subsampled_class_1_8": Shift(6250, 1.0, 1.3),
    "ytbb-robust_pm0": Shift(2030, 0.6, -0.3),
    "ytbb-robust_pm10": Shift(2030, 0.6, -0.9),
}
# File id in the catalog -> file name, and the shift of its top-1.
_TIMM_FILES = {
    "results_imagenet": ("results-imagenet.csv", _VAL),
    "results_imagenet_real": ("results-imagenet-real.csv", Shift(46837, 1.0, 0.45)),
    "results_sketch": ("results-sketch.csv", _OTHER_SETTINGS["imagenet-sketch"]),
    "results_imagenet_a": ("results-imagenet-a.csv", Shift(7500, 2.0, -4.6)),
    "results_imagenet_a_clean": (
        "results-imagenet-a-clean.csv",
        _OTHER_SETTINGS["val-on-imagenet-a-classes"],
    ),
    "results_imagenet_r": ("results-imagenet-r.csv", _OTHER_SETTINGS["imagenet-r"]),
    "results_imagenet_r_clean": (
        "results-imagenet-r-clean.csv",
        _OTHER_SETTINGS["val-on-imagenet-r-classes"],
    ),
    "results_imagenetv2_matched_frequency": (
        "results-imagenetv2-matched-frequency.csv",
        _OTHER_SETTINGS["imagenetv2-matched-frequency-format-val"],
    ),
}
_GRID_MODELS = {"standard": 24, "robust": 8, "more_data": 8}
_TIMM_MODELS = 32
_TIMM_HEADER = (
    "model", "img_size", "top1", "top1_err", "top5", "top5_err", "param_count", "crop_pct",
    "interpolation",
)  # fmt: skip


def settings() -> dict[str, Shift]:
    """Every column of the testbed's grid but the first, in its order."""
    found = {"greyscale": Shift(50000, 1.0, -0.6), "imagenet-a": Shift(7500, 2.0, -4.6)}
    for corruption in _CORRUPTIONS:
        for severity in range(1, 6):
            shift = Shift(50000, 1.0, -0.4 * severity)
            # Of glass blur the testbed has no implementation of its own.
            forms = ("on-disk",) if corruption == "glass_blur" else ("in-memory", "on-disk")
            for form in forms:
                found[f"imagenet-c.{corruption}.{severity}_{form}"] = shift
    return found | _OTHER_SETTINGS


def publish(publication: Publication) -> None:
    """Write timm's result files and the testbed's grid."""
    publication.put(TESTBED, "robustness_top1s", "robustness_top1s.csv", _grid(publication.seed))
    for file_id, (name, shift) in _TIMM_FILES.items():
        publication.put(TIMM, file_id, name, _timm(publication.seed, file_id, shift))


def _grid(seed: int) -> bytes:
    columns = settings()
    lines = [["model", *columns]]
    for kind, count in _GRID_MODELS.items():
        for i in range(count):
            name = f"made_up_{kind}_{i:02}"
            rng = generator(seed, TESTBED, name)
            skill = _skill(i, count)
            # What the model has beyond its accuracy without shift.
            gain = {"standard": 0.0, "robust": 0.4, "more_data": 0.6}[kind]
            cells = [name]
            for column, shift in columns.items():
                shifted = column != "greyscale" and not column.startswith("val")
                drawn = _percent(shift, skill, gain if shifted else 0.0, rng)
                # As published: 32-bit floats, and nothing where a model was not evaluated.
                skipped = column.startswith("pgd") and i % 5 == 4
                cells.append("" if skipped else repr(float(np.float32(drawn))))
            lines.append(cells)
    return _csv(lines)


def _timm(seed: int, file_id: str, shift: Shift) -> bytes:
    compared = file_id != "results_imagenet"
    header = [*_TIMM_HEADER, *(("top1_diff", "top5_diff", "rank_diff") if compared else ())]
    lines = []
    for i in range(_TIMM_MODELS):
        # One model at two image sizes, and one with a thousand million parameters.
        name, size = ("made_up_net_00", 288) if i == 1 else (f"made_up_net_{i:02}", 224)
        rng = generator(seed, TIMM, file_id, name, str(size))
        skill = _skill(i, _TIMM_MODELS)
        top1 = _percent(shift, skill, 0.0, rng)
        top5 = max(top1, _percent(shift, skill + 1.4, 0.0, rng))
        line = [
            f"{name}.made_up_in1k", str(size),
            f"{top1:.3f}", f"{100 - top1:.3f}", f"{top5:.3f}", f"{100 - top5:.3f}",
            f"{5.0 + 1.37 * i if i else 1013.01:,.2f}", "0.875", "bicubic",
        ]  # fmt: skip
        if compared:
            # The last of the real files has no differences, either.
            last = i == _TIMM_MODELS - 1
            line += ["", "", ""] if last else [f"{top1 - 80:+.3f}", f"{top5 - 95:+.3f}", "0"]
        lines.append((top1, line))
    lines.sort(key=lambda each: -each[0])
    return _csv([header, *(line for _, line in lines)])


def _skill(i: int, count: int) -> float:
    """Logit of a model's accuracy on the validation set: from 57 to 86 percent."""
    return 0.3 + 1.5 * i / (count - 1)


def _percent(shift: Shift, skill: float, gain: float, rng: np.random.Generator) -> float:
    logit = shift.slope * skill + shift.intercept + gain + rng.normal(0.0, 0.05)
    right = round(shift.n / (1 + float(np.exp(-logit))))
    return 100 * right / shift.n


def _csv(lines: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()
