"""Calibration and confidence: whether a model knows what it does not know."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Cell, Column, Number, Plot, Section, Table
from ops.report.figures.confidence import figure_confidence
from ops.report.figures.reliability import figure_reliability
from ops.report.names import dataset_name
from ops.report.svg import as_svg

if TYPE_CHECKING:
    import duckdb

_METRICS = {
    "rms_calib": ("RMS", "bins of 100", "lower"),
    "rms_calib_legacy": ("RMS, legacy", "top bin skipped", "lower"),
    "ece": ("ECE", "15 bins", "lower"),
    "aurra": ("AURRA", "", "higher"),
}
_DETECTION = {
    "aupr": ("AUPR", "higher"), "auroc": ("AUROC", "higher"), "fpr95": ("FPR95", "lower"),
}  # fmt: skip


def calibration(connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast) -> Section:
    """Reliability diagrams, ImageNet-O histograms and the numbers of both."""
    section = Section(
        "calibration",
        "Calibration and confidence",
        "Where confidence is worth its name, of the images given 80 % four in five are right; and "
        "images of unknown objects get less of it than images of known ones.",
        missing="no model was run on the validation set or on ImageNet-O",
        short="Calibration",
    )
    figure = figure_reliability(connection, models)
    if figure is not None:
        caption = (
            "Validation set. Dots are bins of 100 images of rising confidence, the line has 12 "
            "bins of equal size with exact 95 % intervals. Above the diagonal: right more often "
            "than it says."
        )
        section.blocks.append(Plot(as_svg(figure), caption))
    figure = figure_confidence(connection, models)
    if figure is not None:
        caption = (
            "Largest probability over ImageNet-O's 200 classes. Grey: the validation images of "
            "those classes. Line: ImageNet-O, whose objects are of none of them."
        )
        section.blocks.append(Plot(as_svg(figure), caption))
    for table in (_calibration(connection, catalog), _detection(connection)):
        if table is not None:
            section.blocks.append(table)
    return section


def _calibration(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> Table | None:
    found: dict[tuple[str, str, str, str], dict[str, Number]] = defaultdict(dict)
    for model, benchmark, condition, variant, metric, value, lo, hi, n in connection.execute(
        """
        SELECT model, benchmark, condition, variant, metric, value, ci_lo, ci_hi, n
        FROM calibration
        WHERE value IS NOT NULL AND NOT contains(condition, '/') AND condition <> 'train'
        ORDER BY ALL
        """
    ).fetchall():
        lo, hi = (None if bound is None else 100 * bound for bound in (lo, hi))
        note = f"n = {n:,}" if n else ""
        found[model, benchmark, condition, variant][metric] = Number(100 * value, lo, hi, note)
    if not found:
        return None
    columns = [Column("model", numeric=False), Column("set", numeric=False)]
    columns += [Column(*_METRICS[name]) for name in _METRICS]

    def place(key: tuple[str, str, str, str]) -> tuple[bool, str, str, str, str]:
        # The validation set first.
        return (key[1] != "imagenet_1k", key[1], key[2], key[3], key[0])

    body: list[list[Cell]] = [
        [
            key[0],
            dataset_name(catalog, key[1], key[2]) + (", masked" if key[3] == "masked" else ""),
            *(found[key].get(name) for name in _METRICS),
        ]
        for key in sorted(found, key=place)
    ]
    return Table("calibration-table", columns, body, "Calibration errors, in percent")


def _detection(connection: duckdb.DuckDBPyConnection) -> Table | None:
    found: dict[tuple[str, str], dict[str, Number]] = defaultdict(dict)
    chance: dict[str, float] = {}
    for model, variant, metric, value, lo, hi, n in connection.execute(
        """
        SELECT model, variant, metric, value, ci_lo, ci_hi, n FROM metrics
        WHERE benchmark = 'imagenet_o' AND metric IN ('aupr', 'auroc', 'fpr95')
            AND value IS NOT NULL
        ORDER BY ALL
        """
    ).fetchall():
        if variant == "chance":
            chance[model] = value
            continue
        lo, hi = (None if bound is None else 100 * bound for bound in (lo, hi))
        variant = "max softmax" if variant == "step-wise" else variant
        found[model, variant][metric] = Number(100 * value, lo, hi, f"n = {n:,}" if n else "")
    if not found:
        return None
    columns = [Column("model", numeric=False), Column("score", "minus it", numeric=False)]
    columns += [Column(label, "", better) for label, better in _DETECTION.values()]
    columns.append(Column("chance", "of AUPR"))
    body: list[list[Cell]] = [
        [
            model,
            variant + (" (the paper's)" if variant == "max softmax" else ""),
            *(found[model, variant].get(name) for name in _DETECTION),
            Number(100 * chance[model]) if model in chance else None,
        ]
        for model, variant in sorted(found, key=lambda key: (key[1] != "max softmax", *key))
    ]
    caption = "ImageNet-O as detection: is an image of an unknown class? In percent"
    return Table("detection-table", columns, body, caption)
