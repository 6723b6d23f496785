"""Predictions: one row a sample, by model and benchmark."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.lake import Lake
from assets.partitions import PREDICTIONS
from assets.sources import OWNERS
from assets.suites import suites
from ops.catalog import Catalog
from ops.catalog.classes import VIDEO_LABEL_SPACES
from ops.results import connect
from ops.shards import has_manifest, read_manifest
from ops.storage import Root

if TYPE_CHECKING:
    from ops.inference import RunRecord


@dg.asset(
    key=["evaluation", "predictions"],
    group_name="predictions",
    deps=[
        # A benchmark's predictions stand on all conditions of that benchmark.
        dg.AssetDep(
            list(suite.key),
            partition_mapping=dg.AllPartitionMapping() if suite.partitioned else None,
        )
        for suite in suites().values()
        if suite.evaluated
    ],
    partitions_def=PREDICTIONS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    output_required=False,
    owners=OWNERS,
    kinds={"pytorch", "parquet"},
    pool="gpu",
    retry_policy=dg.RetryPolicy(max_retries=1),
)
def predictions(context: dg.AssetExecutionContext, lake: Lake) -> Iterator[Any]:
    """One Parquet file for each shard, with a row for each sample, also for those that fail.

    Only what is missing or stale is computed. A benchmark that is not built, or whose labels the
    model does not know, is passed over and says so in the log.
    """
    root, catalog = lake.open(), lake.load()
    keys = [key for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
    wrong: list[str] = []
    for key in keys:
        model, benchmark = key.keys_by_dimension["model"], key.keys_by_dimension["benchmark"]
        started = time.monotonic()
        records = _evaluate(context, root, catalog, lake, model, benchmark)
        if not records:
            continue
        metadata = _metadata(records, time.monotonic() - started)
        keyed = " ".join(sorted(f"{record.dataset} {record.key}" for record in records))
        version = hashlib.sha256(keyed.encode()).hexdigest()[:16]
        if len(keys) == 1:
            yield dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version))
            continue
        # Recorded now and not at the end of the run, so that a crash keeps what is done.
        context.log_event(
            dg.AssetMaterialization(
                asset_key=context.asset_key,
                partition=key,
                metadata=metadata,
                tags={"dagster/data_version": version},
            )
        )
        count = check_rows(root, key)
        context.log_event(count.evaluation())
        wrong += count.problems
    if wrong:
        # A check recorded here cannot stop what comes after; the failed step does.
        raise dg.Failure(f"Rows are missing or repeated: {'; '.join(wrong[:10])}")


@dg.asset_check(
    asset=["evaluation", "predictions"],
    name="exactly_once",
    blocking=True,
    partitions_def=PREDICTIONS,
    description="Every sample of every dataset has one row: expected = seen + failed.",
)
def exactly_once(context: dg.AssetCheckExecutionContext, lake: Lake) -> dg.AssetCheckResult:
    """Count the stored rows against the manifests."""
    key = context.op_execution_context.partition_key
    assert isinstance(key, dg.MultiPartitionKey)
    return check_rows(lake.open(), key).result()


@dataclass(frozen=True)
class RowCount:
    """What the rows of one model and benchmark add up to."""

    key: dg.MultiPartitionKey
    problems: list[str]
    metadata: dict[str, int]

    def result(self) -> dg.AssetCheckResult:
        """As the outcome of a check step."""
        return dg.AssetCheckResult(
            passed=not self.problems, metadata=self.metadata, description=self._text()
        )

    def evaluation(self) -> dg.AssetCheckEvaluation:
        """As an event that the evaluating step itself records for one of many partitions."""
        return dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(["evaluation", "predictions"]),
            check_name="exactly_once",
            passed=not self.problems,
            metadata=self.metadata,
            description=self._text(),
            partition=self.key,
            blocking=True,
        )

    def _text(self) -> str | None:
        return "; ".join(self.problems[:20]) or None


def check_rows(root: Root, key: dg.MultiPartitionKey) -> RowCount:
    """Compare the rows of a model on a benchmark with the samples of its sealed datasets."""
    model, benchmark = key.keys_by_dimension["model"], key.keys_by_dimension["benchmark"]
    with connect(root) as connection:
        rows = connection.execute(
            "SELECT benchmark || '/' || condition, count(*), count(DISTINCT sample_key), "
            "count(*) FILTER (status = 'ok') FROM predictions "
            "WHERE model = ? AND benchmark = ? GROUP BY ALL",
            [model, suites()[benchmark].key[0]],
        ).fetchall()
    found = {name: (count, distinct, ok) for name, count, distinct, ok in rows}
    problems: list[str] = []
    totals = {"expected": 0, "seen": 0, "failed": 0}
    for planned in suites()[benchmark].specs:
        name = planned.name
        if name not in found or not has_manifest(root, name):
            continue
        count, distinct, ok = found[name]
        expected = read_manifest(root, name).n_samples
        if not count == distinct == expected:
            problems.append(f"{name}: {expected:,} samples, {count:,} rows, {distinct:,} keys")
        totals["expected"] += expected
        totals["seen"] += ok
        totals["failed"] += count - ok
    return RowCount(key, problems, totals)


def _evaluate(
    context: dg.AssetExecutionContext,
    root: Root,
    catalog: Catalog,
    lake: Lake,
    model: str,
    benchmark: str,
) -> "list[RunRecord]":
    from ops.inference import evaluate
    from ops.models import read_model

    entry = read_model(root, model)
    records: list[RunRecord] = []
    for planned in suites()[benchmark].specs:
        spec = catalog.dataset(planned.name)
        if not spec.evaluate or not understands(entry.label_space, spec.label_space):
            continue
        if not has_manifest(root, spec.name):
            context.log.info(f"{spec.name} is not built: passed over")
            continue
        records.append(
            evaluate(root, catalog, model, spec.name, workers=lake.processes, log=context.log.info)
        )
    return records


def understands(model_space: str, label_space: str) -> bool:
    """Whether a model's outputs can be read as labels of a dataset."""
    video = model_space == "ilsvrc1000" and label_space in VIDEO_LABEL_SPACES
    return video or model_space == label_space


def _metadata(records: "list[RunRecord]", seconds: float) -> dict[str, Any]:
    rows = sum(record.n_expected for record in records)
    return {
        "dagster/row_count": rows,
        "failed": sum(record.n_error for record in records),
        "seconds": round(seconds, 3),
        "images_per_second": round(rows / seconds, 1) if seconds > 0 else 0.0,
        "device": records[0].device_name,
        "weights_sha256": records[0].weights_sha256,
        "synthetic": records[0].synthetic,
        "sql": dg.MetadataValue.md(
            "```sql\nSELECT * FROM accuracy\n"
            f"WHERE model = '{records[0].model}' AND benchmark = '{records[0].benchmark}';\n```"
        ),
        "runs": dg.MetadataValue.table(
            [
                dg.TableRecord(
                    {
                        "dataset": record.dataset,
                        "rows": record.n_expected,
                        "failed": record.n_error,
                        "seconds": round(record.seconds, 2),
                        "images_per_second": round(record.images_per_second, 1),
                        "run": record.run_id,
                    }
                )
                for record in records
            ]
        ),
    }
