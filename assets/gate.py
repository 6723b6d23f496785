"""The gates: whether a candidate is no worse than the model it would replace, by benchmark."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.sources import OWNERS
from assets.suites import suites
from ops.storage import paths

KEY = ["results", "gate"]
CHECKS = {
    spec.family: f"non_inferior_{spec.family}"
    for suite in suites().values()
    for spec in suite.specs
}
_SQL = "SELECT candidate, benchmark, delta, ci_lo, ci_hi, margin, verdict FROM gate"


@dg.asset(
    key=KEY,
    group_name="results",
    deps=[["results", "metrics"]],
    owners=OWNERS,
    kinds={"duckdb", "parquet"},
    pool="duckdb",
    check_specs=[
        dg.AssetCheckSpec(
            check,
            asset=KEY,
            description=f"No candidate is worse on {benchmark} than its gate's margin allows.",
        )
        for benchmark, check in CHECKS.items()
    ],
)
def gate(lake: Lake) -> dg.MaterializeResult:
    """Candidates against their pinned baselines, as `gates.yaml` in the lake states them.

    Paired statistics on the same images; a failed check names the classes and images that
    flipped. Without `gates.yaml` there is nothing to judge, and every check passes saying so.
    """
    from ops.results import run_gates

    root, catalog = lake.open(), lake.load()
    rows = run_gates(root, catalog, datetime.now(UTC).date()).to_pylist()
    if not rows and root.exists(paths.gates()):
        # A green light that looked at nothing is the worst of all.
        raise dg.Failure(
            f"{paths.gates()} states gates, and no registered model is a candidate of any: "
            "correct the patterns, or remove the file.",
            allow_retries=False,
        )
    by_benchmark = defaultdict(list)
    for row in rows:
        by_benchmark[row["benchmark"]].append(row)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(rows),
            "verdicts": dg.MetadataValue.table([_record(row) for row in rows], schema=_SCHEMA),
            "sql": dg.MetadataValue.md(f"```sql\n{_SQL};\n```"),
        },
        check_results=[
            _result(check, by_benchmark.get(benchmark, [])) for benchmark, check in CHECKS.items()
        ],
    )


_COLUMNS = (
    "candidate", "baseline", "benchmark", "metric", "verdict", "baseline_value",
    "candidate_value", "delta", "interval", "margin", "n", "p_holm",
)  # fmt: skip
_SCHEMA = dg.TableSchema([dg.TableColumn(name, "string") for name in _COLUMNS])


def _record(row: dict[str, Any]) -> dg.TableRecord:
    shown = {name: _text(row.get(name)) for name in _COLUMNS}
    shown["interval"] = f"{_text(row['ci_lo'])} to {_text(row['ci_hi'])}"
    return dg.TableRecord(shown)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _result(check: str, rows: list[dict[str, Any]]) -> dg.AssetCheckResult:
    """One check: red for a shown loss, amber where nothing could be shown."""
    failed = [row for row in rows if row["verdict"] in ("fail", "missing")]
    open_ = [row for row in rows if row["verdict"] == "inconclusive"]
    severe = any(row["verdict"] == "fail" for row in failed)
    metadata: dict[str, Any] = {"compared": len(rows)}
    if rows:
        metadata["verdicts"] = dg.MetadataValue.table(
            [_record(row) for row in rows], schema=_SCHEMA
        )
    for row in failed:
        if row["flipped_classes"]:
            metadata[f"classes {row['candidate']} lost"] = dg.MetadataValue.table(
                [dg.TableRecord({**item}) for item in row["flipped_classes"]]
            )
        if row["flipped_samples"]:
            metadata[f"images {row['candidate']} lost"] = dg.MetadataValue.json(
                row["flipped_samples"]
            )
    return dg.AssetCheckResult(
        check_name=check,
        passed=not failed and not open_,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        metadata=metadata,
        description=_said(rows),
    )


def _said(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "no gate is about this benchmark"
    return "; ".join(
        f"{row['candidate']}: {row['verdict']}" + (f" ({row['reason']})" if row["reason"] else "")
        for row in rows
    )
