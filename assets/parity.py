"""Parity: the published ImageNet-C and -P beside the ones rendered here."""

import time
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.sources import OWNERS
from assets.suites import Suite, suites
from ops.catalog import Catalog
from ops.shards import has_manifest, read_manifest
from ops.storage import Root

PAIRS = (("imagenet_c", "imagenet_c_rendered"), ("imagenet_p", "imagenet_p_rendered"))


def parity_assets() -> list[dg.AssetsDefinition]:
    """One report for each benchmark that is both published and rendered."""
    return [_parity_asset(suites()[first], suites()[second]) for first, second in PAIRS]


def _parity_asset(published: Suite, rendered: Suite) -> dg.AssetsDefinition:
    @dg.asset(
        key=[rendered.name, "parity"],
        group_name="report",
        deps=[list(published.key), list(rendered.key), ["evaluation", "predictions"]],
        owners=OWNERS,
        kinds={"parquet"},
        description=(
            f"The published {published.name} beside the one rendered here, condition by condition: "
            "mean absolute difference and PSNR of the pixels, bytes a file, and the shift of each "
            "model's accuracy. Where a corruption is random its draws differ, so its pixels must."
        ),
    )
    def parity(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult:
        from ops.report import parity_report

        root, catalog = lake.open(), lake.load()
        started = time.monotonic()
        table = parity_report(root, rendered.name, _pairs(catalog, published, rendered))
        rows = table.to_pylist()
        return dg.MaterializeResult(
            metadata={
                **_warning(rows),
                **_sheet(root, catalog, rendered),
                "dagster/row_count": len(rows),
                "conditions": len({row["condition"] for row in rows}),
                "seconds": round(time.monotonic() - started, 3),
                "pixels": dg.MetadataValue.table(_pixels(rows), schema=_schema(PIXELS)),
                "accuracy": dg.MetadataValue.table(_accuracy(rows), schema=_schema(ACCURACY)),
                "sql": dg.MetadataValue.md("```sql\nSELECT * FROM parity;\n```"),
            }
        )

    return parity


def _pairs(catalog: Catalog, published: Suite, rendered: Suite) -> list[tuple[str, str]]:
    """Datasets of the same condition, in the order of the catalog."""
    ours = {spec.condition: spec.name for spec in rendered.specs}
    return [(spec.name, ours[spec.condition]) for spec in published.specs if spec.condition in ours]


def _warning(rows: list[dict[str, Any]]) -> dict[str, dg.MetadataValue[Any]]:
    if not any(row["synthetic"] for row in rows):
        return {}
    return {"warning": dg.MetadataValue.md("**Synthetic images, drawn by a program.**")}


def _sheet(root: Root, catalog: Catalog, rendered: Suite) -> dict[str, dg.MetadataValue[Any]]:
    from ops.report import corruption_sheet

    by_group = {
        group: [read_manifest(root, spec.name) for spec in specs if has_manifest(root, spec.name)]
        for group, specs in rendered.parts.items()
        if all(spec.severity for spec in specs)
    }
    sheet = corruption_sheet(root, by_group)
    return {"contact_sheet": dg.MetadataValue.md(f"![conditions]({sheet})")} if sheet else {}


PIXELS = (
    ("condition", "string"),
    ("images", "int"),
    ("identical", "int"),
    ("mean |difference|", "string"),
    ("PSNR, dB", "string"),
    ("bytes, published", "string"),
    ("bytes, rendered", "string"),
)
ACCURACY = (
    ("condition", "string"),
    ("model", "string"),
    ("n", "int"),
    ("top-1 published, %", "string"),
    ("top-1 rendered, %", "string"),
    ("shift, points", "string"),
    ("95 % interval", "string"),
)


def _schema(columns: tuple[tuple[str, str], ...]) -> dg.TableSchema:
    return dg.TableSchema([dg.TableColumn(name, kind) for name, kind in columns])


def _pixels(rows: list[dict[str, Any]]) -> list[dg.TableRecord]:
    first = {row["condition"]: row for row in reversed(rows)}
    return [
        dg.TableRecord(
            dict(
                zip(
                    (name for name, _ in PIXELS),
                    (
                        condition,
                        row["n_same_size"],
                        row["n_identical"],
                        _number(row["mean_abs_difference"]),
                        _psnr(row),
                        _number(row["published_bytes"], 0),
                        _number(row["rendered_bytes"], 0),
                    ),
                    strict=True,
                )
            )
        )
        for condition, row in sorted(first.items())
    ]


def _accuracy(rows: list[dict[str, Any]]) -> list[dg.TableRecord]:
    def percent(value: float | None) -> str:
        return _number(None if value is None else 100 * value)

    return [
        dg.TableRecord(
            dict(
                zip(
                    (name for name, _ in ACCURACY),
                    (
                        row["condition"],
                        row["model"],
                        row["n_paired"],
                        percent(row["published_top1"]),
                        percent(row["rendered_top1"]),
                        percent(row["top1_shift"]),
                        f"{percent(row['ci_lo'])} to {percent(row['ci_hi'])}",
                    ),
                    strict=True,
                )
            )
        )
        for row in rows
        if row["model"] is not None
    ]


def _psnr(row: dict[str, Any]) -> str:
    identical = row["n_same_size"] and row["n_identical"] == row["n_same_size"]
    return "identical" if identical else _number(row["psnr_db"])


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
