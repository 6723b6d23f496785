"""Predictions: one row a sample, or frame of a sequence, by model and benchmark."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.lake import Lake
from assets.log_lines import gathered
from assets.partitions import PREDICTIONS, datasets_of
from assets.sources import OWNERS
from assets.suites import suites
from ops.catalog import Catalog, DatasetSpec
from ops.catalog.classes import understands
from ops.errors import ShiftlakeError
from ops.shards import has_manifest, read_manifest
from ops.storage import Root

if TYPE_CHECKING:
    from ops.inference import RunRecord
    from ops.inference.cell import FailedCell


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
    ]
    + [dg.AssetDep(["video", "frame_sets"], partition_mapping=dg.AllPartitionMapping())],
    partitions_def=PREDICTIONS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    output_required=False,
    owners=OWNERS,
    kinds={"pytorch", "parquet"},
    pool="gpu",
    retry_policy=dg.RetryPolicy(max_retries=1),
)
def predictions(context: dg.AssetExecutionContext, lake: Lake) -> Iterator[Any]:
    """One Parquet file for each shard, with a row for each sample or frame, failed ones included.

    Only what is missing or stale is computed. A benchmark that is not built, or whose labels the
    model does not know, is passed over and says so in the log.
    """
    from ops.inference.failure import Failure
    from ops.models import list_models

    root, catalog = lake.open(), lake.load()
    registered = set(list_models(root))
    again = False
    keys = [key for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
    wrong: list[str] = []
    for key in keys:
        model, benchmark = key.keys_by_dimension["model"], key.keys_by_dimension["benchmark"]
        if model not in registered:
            context.log.info(f"{model} is not in the registry any more: passed over")
            continue
        started = datetime.now(UTC)
        # One bad model or dataset must not keep the others from their answers.
        records, failed = _evaluate(context, root, catalog, lake, model, benchmark)
        for dataset, error in failed:
            context.log.error(str(error))
            wrong.append(f"{model} on {dataset}: {error.what}")
            again = again or Failure.of(error).kind in ("memory", "error")
        # What was evaluated has its rows; but a part of a benchmark is no materialization of it.
        if failed or not records:
            continue
        metadata = _metadata(records, started)
        keyed = " ".join(sorted(f"{record.dataset} {record.key}" for record in records))
        version = hashlib.sha256(keyed.encode()).hexdigest()[:16]
        # A run over a range, of even one key, gives Dagster's check steps no partition.
        if context.has_partition_key:
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
        count = check_rows(root, catalog, key)
        context.log_event(count.evaluation())
        wrong += count.problems
    if wrong:
        # A check recorded here cannot stop what comes after; the failed step does.
        # What a model does wrong it does wrong again; a device may have memory later.
        raise dg.Failure(
            f"Not everything could be evaluated: {'; '.join(wrong[:10])}", allow_retries=again
        )


@dg.asset_check(
    asset=["evaluation", "predictions"],
    name="exactly_once",
    blocking=True,
    partitions_def=PREDICTIONS,
    description="Every sample, or frame, of every dataset has one row: expected = seen + failed.",
)
def exactly_once(context: dg.AssetCheckExecutionContext, lake: Lake) -> dg.AssetCheckResult:
    """Count the stored rows against the manifests."""
    key = context.op_execution_context.partition_key
    assert isinstance(key, dg.MultiPartitionKey)
    return check_rows(lake.open(), lake.load(), key).result()


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


def check_rows(root: Root, catalog: Catalog, key: dg.MultiPartitionKey) -> RowCount:
    """Compare the rows of a model on a benchmark with the samples of its sealed datasets."""
    from ops.inference import expected_rows
    from ops.inference.tally import current_run, tally
    from ops.models import read_model

    model, benchmark = key.keys_by_dimension["model"], key.keys_by_dimension["benchmark"]
    entry = read_model(root, model)
    problems: list[str] = []
    totals = {"expected": 0, "seen": 0, "failed": 0}
    for spec in _answerable(root, catalog, entry.label_space, benchmark):
        manifest = read_manifest(root, spec.name)
        expected = expected_rows(manifest)
        totals["expected"] += expected
        record = current_run(root, entry, manifest)
        if record is None:
            problems.append(f"{spec.name}: {expected:,} rows expected, not evaluated as it is now")
            continue
        found = tally(root, record)
        if not found.rows == found.keys == expected:
            problems.append(
                f"{spec.name}: {expected:,} rows expected, {found.rows:,} rows, {found.keys:,} keys"
            )
        totals["seen"] += found.seen
        totals["failed"] += found.rows - found.seen
    return RowCount(key, problems, totals)


def _answerable(root: Root, catalog: Catalog, space: str, benchmark: str) -> Iterator[DatasetSpec]:
    """Sealed datasets of a benchmark whose labels a model of this label space knows."""
    for name in datasets_of(catalog, benchmark):
        spec = catalog.dataset(name)
        if spec.evaluate and understands(space, spec.label_space) and has_manifest(root, spec.name):
            yield spec


def _evaluate(
    context: dg.AssetExecutionContext,
    root: Root,
    catalog: Catalog,
    lake: Lake,
    model: str,
    benchmark: str,
) -> "tuple[list[RunRecord], list[FailedCell]]":
    from ops.inference.cell import FailedCell, evaluate_many
    from ops.models import read_model

    try:
        entry = read_model(root, model)
    except ShiftlakeError as error:
        return [], [FailedCell(benchmark, error)]
    if entry.imported:
        context.log.info(f"{model} was imported with its results, and cannot be run: passed over")
        return [], []
    names = [spec.name for spec in _answerable(root, catalog, entry.label_space, benchmark)]
    with gathered(context.log.info) as log:
        return evaluate_many(root, catalog, model, names, workers=lake.processes, log=log)


def _metadata(records: "list[RunRecord]", started: datetime) -> dict[str, Any]:
    """What a person wants to see; rates only of what was computed since `started`."""
    rows = sum(record.n_expected for record in records)
    new = [record for record in records if datetime.fromisoformat(record.ended_at) >= started]
    seconds = sum(record.seconds for record in new)
    view = "flips" if records[0].frames else "accuracy"
    return {
        "dagster/row_count": rows,
        "failed": sum(record.n_error for record in records),
        "computed_now": sum(record.n_expected for record in new),
        **({"seconds": round(seconds, 3)} if new else {}),
        "device": records[0].device_name,
        "weights_sha256": records[0].weights_sha256,
        "protocol": records[0].protocol,
        "synthetic": any(record.synthetic for record in records),
        "sql": dg.MetadataValue.md(
            f"```sql\nSELECT * FROM {view}\n"
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
