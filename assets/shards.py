"""Shards: sealed WebDataset tars, cut from archives or rendered. One asset a suite.

The heavy work fans out inside an asset. Several partitions in one run share what they are made
of: one pass over an archive, or one decoding of every source image.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.log_lines import gathered
from assets.shard_checks import check_partition, check_specs, checks_of
from assets.shard_pictures import pictures
from assets.sources import OWNERS
from assets.suites import Suite, suites, upstream_keys
from ops.catalog import Catalog, load
from ops.errors import ShiftlakeError
from ops.rendering import build_many
from ops.shards import Manifest, has_manifest, read_manifest
from ops.storage import Root


def shard_assets() -> list[dg.AssetsDefinition]:
    """One asset for the shards of every suite."""
    return [_shard_asset(suite) for suite in suites().values()]


def _shard_asset(suite: Suite) -> dg.AssetsDefinition:
    @dg.asset(
        key=list(suite.key),
        group_name="rendered" if suite.made_here else "shards",
        deps=[list(key) for key in upstream_keys(suite)],
        partitions_def=suite.partitions,
        backfill_policy=dg.BackfillPolicy.single_run() if suite.partitioned else None,
        output_required=False,
        description=_description(suite),
        owners=OWNERS,
        kinds={"numba", "webdataset"} if suite.rendered else {"webdataset"},
        pool="render",
    )
    def shards(context: dg.AssetExecutionContext, lake: Lake) -> Iterator[Any]:
        root, catalog = lake.open(), lake.load()
        partitions = list(context.partition_keys) if suite.partitioned else [""]
        # A run over a range, of even one partition, gives Dagster's check steps no partition.
        alone = not suite.partitioned or context.has_partition_key
        wrong: list[str] = []
        for together in _sharing(suite, partitions):
            started = time.monotonic()
            before = {name: _sealed_version(root, name) for name in suite.datasets(together)}
            try:
                with gathered(context.log.info) as log:
                    manifests = build_many(
                        root,
                        catalog,
                        suite.datasets(together),
                        workers=lake.processes,
                        progress=_progress(log),
                        log=log,
                    )
            except ShiftlakeError as error:
                if alone:
                    raise
                # A bad archive must not keep the conditions of the others from being made.
                context.log.error(str(error))
                wrong.append(f"{', '.join(together)}: {error.what}")
                continue
            seconds = (time.monotonic() - started) / len(together)
            for partition in together:
                names = set(suite.datasets([partition]))
                made = [manifest for manifest in manifests if manifest.name in names]
                built = any(before[manifest.name] != manifest.version for manifest in made)
                metadata = _metadata(root, catalog, suite, made, seconds if built else None)
                version = "-".join(sorted({manifest.version for manifest in made}))
                if alone:
                    yield dg.MaterializeResult(
                        metadata=metadata, data_version=dg.DataVersion(version)
                    )
                    continue
                # Recorded now and not at the end of the run, so that a crash keeps what is done.
                context.log_event(
                    dg.AssetMaterialization(
                        asset_key=context.asset_key,
                        partition=partition,
                        metadata=metadata,
                        tags={"dagster/data_version": version},
                    )
                )
                for verdict in check_partition(root, catalog, suite, partition, checks_of(suite)):
                    context.log_event(verdict.evaluation())
                    wrong += verdict.problems
        if wrong:
            # A check recorded here cannot stop what comes after; the failed step does.
            raise dg.Failure(f"Datasets are not what was expected: {'; '.join(wrong[:10])}")

    return shards


def shard_check_assets() -> list[dg.AssetChecksDefinition]:
    """The checks of every suite's shards, to be run again at any time."""
    return [_shard_checks(suite) for suite in suites().values()]


def _shard_checks(suite: Suite) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name="_".join((*suite.key, "checks")),
        specs=check_specs(suite),
        can_subset=True,
    )
    def checks(context: dg.AssetCheckExecutionContext, lake: Lake) -> Iterator[Any]:
        root, catalog = lake.open(), lake.load()
        wanted = [key.name for key in context.selected_asset_check_keys]
        partition = ""
        if suite.partitioned:
            partition = context.op_execution_context.partition_key
        for verdict in check_partition(root, catalog, suite, partition, wanted):
            yield verdict.result()

    return checks


def _sharing(suite: Suite, partitions: list[str]) -> list[list[str]]:
    """Partitions made of the same archive are built in one pass over it."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for partition in partitions:
        specs = suite.parts[partition]
        made_of = tuple(name for spec in specs for name in (*spec.files, *spec.derived_from))
        groups.setdefault(tuple(sorted(set(made_of))), []).append(partition)
    return list(groups.values())


def _description(suite: Suite) -> str:
    first = suite.specs[0]
    expected = [spec.expected for spec in suite.specs]
    count = len(suite.specs)
    facts = [f"{count} datasets" if count > 1 else "1 dataset", f"layout `{first.layout}`"]
    if all(expected):
        facts.append(f"{sum(n for n in expected if n):,} samples expected")
    if size := _archive_bytes(suite):
        facts.append(f"out of {size / 1e9:.1f} GB of published files")
    return f"{first.about or first.description}\n\n{', '.join(facts)}."


def _archive_bytes(suite: Suite) -> int | None:
    """Size of the files that are its own, None where one is unknown."""
    catalog = load()
    files = {(spec.benchmark, file_id) for spec in suite.specs for file_id in spec.files}
    sizes = [catalog.file(*name).bytes.value for name in files]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _progress(log: Callable[[str], None]) -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def progress(dataset: str, done: int, total: int) -> None:
        nonlocal last
        # What is finished is told by who finishes it.
        if time.monotonic() - last > 5:
            last = time.monotonic()
            log(f"{dataset}: {done:,} of {total:,} samples")

    return progress


def _sealed_version(root: Root, dataset: str) -> str | None:
    return read_manifest(root, dataset).version if has_manifest(root, dataset) else None


def _metadata(
    root: Root,
    catalog: Catalog,
    suite: Suite,
    manifests: list[Manifest],
    seconds: float | None,
) -> dict[str, Any]:
    """What a person wants to see; `seconds` is None if all was sealed before."""
    samples = sum(manifest.n_samples for manifest in manifests)
    size = 0 if suite.on_the_fly else sum(manifest.bytes for manifest in manifests)
    table = [
        dg.TableRecord(
            {
                "dataset": manifest.name,
                "samples": manifest.n_samples,
                "unreadable": manifest.n_failed,
                "classes": manifest.n_classes,
                "shards": len(manifest.shards),
                "bytes": 0 if suite.on_the_fly else manifest.bytes,
                "version": manifest.version,
            }
        )
        for manifest in manifests
    ]
    first = manifests[0]
    metadata: dict[str, Any] = {}
    if first.synthetic:
        metadata["warning"] = dg.MetadataValue.md("**Synthetic images, drawn by a program.**")
    sheet = pictures(root, suite, manifests)
    if sheet is not None:
        metadata["contact_sheet"] = dg.MetadataValue.md(f"![samples]({sheet})")
    if first.renderer is not None:
        metadata["renderer"] = dg.MetadataValue.json([m.renderer for m in manifests])
    metadata |= {
        "datasets": dg.MetadataValue.table(table),
        "dagster/row_count": samples,
        "bytes": size,
        "shards": sum(len(manifest.shards) for manifest in manifests),
        "unreadable": sum(manifest.n_failed for manifest in manifests),
        "ignored_files": dg.MetadataValue.json(first.ignored),
        "licence": first.licence or "unknown",
        "synthetic": first.synthetic,
        "sealed_before": seconds is None,
        "sql": dg.MetadataValue.md(
            f"```sql\nSELECT * FROM datasets WHERE benchmark = '{first.benchmark}';\n```"
        ),
    }
    if seconds:
        metadata["seconds"] = round(seconds, 3)
    # On the fly nothing was rendered yet, and a rate would be that of writing a manifest.
    if seconds and not suite.on_the_fly:
        metadata |= {
            "images_per_second": round(samples / seconds, 1),
            "megabytes_per_second": round(size / seconds / 1e6, 1),
        }
    return metadata
