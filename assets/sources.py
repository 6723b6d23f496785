"""Sources: the published archives, downloaded and verified. One asset a file."""

import time
from collections.abc import Callable
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.suites import source_files
from ops.catalog import SourceFile
from ops.fetch import Receipt, fetch, read_receipt

OWNERS = ["team:shiftlake"]


class FetchConfig(dg.Config):
    """How a file is fetched.

    Parameters
    ----------
    again : bool
        Download even where a verified copy stands, because the publisher's file changed.
    """

    again: bool = False


def source_assets() -> list[dg.AssetsDefinition]:
    """One asset for every published file that a dataset is made of."""
    return [_source_asset(key, file) for key, file in source_files().items()]


def _source_asset(key: tuple[str, str], file: SourceFile) -> dg.AssetsDefinition:
    @dg.asset(
        key=list(key),
        group_name="sources",
        description=_description(file),
        owners=OWNERS,
        kinds={"file"},
        pool="download",
        # A fetch retries by itself with backoff; this is for a process that was lost.
        retry_policy=dg.RetryPolicy(max_retries=1, delay=5),
        check_specs=[
            dg.AssetCheckSpec(
                "verified",
                asset=list(key),
                blocking=True,
                description="Size and hash are those the catalog states, where it states any.",
            )
        ],
    )
    def source(
        context: dg.AssetExecutionContext, config: FetchConfig, lake: Lake
    ) -> dg.MaterializeResult:
        root, catalog = lake.open(), lake.load()
        wanted = catalog.file(file.benchmark, file.id)
        stood = not config.again and read_receipt(root, wanted) is not None
        started = time.monotonic()
        receipt = fetch(
            root,
            wanted,
            progress=_progress(context.log.info, file.name),
            log=context.log.info,
            again=config.again,
        )
        return dg.MaterializeResult(
            metadata=_metadata(receipt, time.monotonic() - started, stood),
            data_version=dg.DataVersion(receipt.sha256),
            check_results=[_verified(wanted, receipt)],
        )

    return source


def _description(file: SourceFile) -> str:
    lines = [f"`{file.name}`, as published."]
    if size := file.bytes.value:
        lines.append(f"{size:,} bytes.")
    if file.manual:
        lines.append(file.how_to_get)
    return "\n\n".join(lines)


def _progress(log: Callable[[str], None], name: str) -> Callable[[int, int | None], None]:
    last = time.monotonic()

    def progress(done: int, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last > 10:
            last = time.monotonic()
            share = f" of {total:,} ({done / total:.0%})" if total else ""
            log(f"{name}: {done:,}{share} bytes")

    return progress


def _metadata(receipt: Receipt, seconds: float, stood: bool) -> dict[str, Any]:
    rows: dict[str, Any] = {
        "file": receipt.name,
        "bytes": receipt.bytes,
        "seconds": round(seconds, 3),
        "sha256": receipt.sha256,
        "verified_by": "; ".join(receipt.verified_by),
        "from": receipt.url or "a file added by hand",
        "fetched_at": str(receipt.fetched_at),
        "already_there": stood,
    }
    if not stood and seconds > 0:
        rows["megabytes_per_second"] = round(receipt.bytes / seconds / 1e6, 1)
    return rows


def _verified(file: SourceFile, receipt: Receipt) -> dg.AssetCheckResult:
    stated = {
        name: fact.value
        for name in ("md5", "sha1", "sha256")
        if (fact := getattr(file, name)).value is not None
    }
    wrong = {
        name: f"catalog {value}, receipt {found}"
        for name, value in stated.items()
        if (found := getattr(receipt, name)) and found.lower() != str(value).strip().lower()
    }
    if file.bytes.value is not None and file.bytes.value != receipt.bytes:
        wrong["bytes"] = f"catalog {file.bytes.value:,}, receipt {receipt.bytes:,}"
    return dg.AssetCheckResult(
        passed=not wrong,
        check_name="verified",
        metadata={"verified_by": "; ".join(receipt.verified_by), **wrong},
        description="trusted on first use: the catalog states no hash" if not stated else None,
    )
