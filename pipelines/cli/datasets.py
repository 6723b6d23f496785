"""Commands about shards: ``build``, ``verify``, ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ops.errors import ShiftlakeError
from ops.rendering import build_many
from ops.shards import card, read_manifest, sealed_datasets
from ops.shards import export as export_files
from ops.shards import verify as verify_dataset
from pipelines.cli import exports
from pipelines.cli.names import every, matching
from pipelines.cli.terminal import err, lake, out, progress, size_text


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(build)
    app.command()(verify)
    app.command()(export)


def build(
    datasets: Annotated[
        list[str], typer.Argument(help="Datasets or patterns, such as 'imagenet_c/fog/*'.")
    ],
    workers: Annotated[
        int | None, typer.Option(help="Processes; all CPUs by default.", min=1)
    ] = None,
) -> None:
    """Make sealed shards out of verified archives, or render them; what is sealed is left alone."""
    _, root, known = lake()
    # A name that matches nothing gets the catalog's own error, with its nearest names.
    names = [
        found
        for pattern in datasets
        for found in matching([pattern], list(known.datasets)) or [known.dataset(pattern).name]
    ]
    with progress("samples") as bar:
        tasks = {}

        def report(dataset: str, done: int, total: int) -> None:
            if dataset not in tasks:
                tasks[dataset] = bar.add_task(dataset, total=total)
            bar.update(tasks[dataset], completed=done)

        for manifest in build_many(root, known, names, workers=workers, progress=report):
            # The shards of a dataset made on the fly are its source's.
            held = (
                "nothing stored"
                if manifest.on_the_fly
                else f"{len(manifest.shards)} shards, {size_text(manifest.bytes)}"
            )
            err.print(
                f"{manifest.name}: {manifest.n_samples:,} samples, {manifest.n_classes} classes, "
                f"{held}, version {manifest.version}",
                highlight=False,
            )


def verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(help="Datasets or patterns; all by default.")
    ] = None,
    hash: Annotated[
        bool, typer.Option("--hash", help="Read every shard and compare its sha256.")
    ] = False,
) -> None:
    """Check sealed datasets against their manifests; exit code 1 if one is damaged."""
    _, root, _ = lake()
    sealed = sealed_datasets(root)
    names = every(datasets, sealed, "sealed dataset") if datasets else sealed
    if not names:
        raise ShiftlakeError(
            "There is nothing to verify.",
            expected="a sealed dataset" + (f" like {', '.join(datasets)}" if datasets else ""),
            found=f"{len(sealed)} sealed datasets, none of that name",
            where=root.url,
            remedy="shiftlake build DATASET",
        )
    table = Table()
    for column in ("dataset", "version", "samples", "shards", "size", "verdict"):
        table.add_column(column, overflow="fold")
    damaged = 0
    with progress("shards") as bar:
        task = bar.add_task("verify", total=len(names))
        for name in names:
            found = verify_dataset(root, name, hash=hash)
            damaged += bool(found.problems)
            verdict = "\n".join(f"[red]{problem}[/red]" for problem in found.problems)
            table.add_row(
                name,
                found.version,
                f"{found.n_samples:,}",
                str(found.n_shards),
                size_text(found.bytes),
                verdict
                or ("[green]hashes match[/green]" if hash else "[green]sizes match[/green]"),
            )
            bar.advance(task)
    out.print(table)
    if damaged:
        out.print("To mend a dataset, remove the shards named above and build it again.")
        raise typer.Exit(1)


def export(
    dataset: Annotated[str, typer.Argument(help="A dataset or pattern; or results.")],
    folder: Annotated[Path, typer.Argument(help="Where to; made if need be.")],
) -> None:
    """Write a dataset's images as loose files, as published; or the results, as `bundle` does."""
    if dataset == "results":
        exports.bundle(str(folder))
        return
    _, root, _ = lake()
    names = every([dataset], sealed_datasets(root), "sealed dataset")
    for name in names:
        with progress("files") as bar:
            task = bar.add_task(name, total=None)
            count = export_files(
                root,
                name,
                folder,
                progress=lambda done, total, task=task, bar=bar: bar.update(  # type: ignore[misc]
                    task, completed=done, total=total
                ),
            )
        out.print(f"{name}: {count:,} files in {folder}", highlight=False)
    if {read_manifest(root, name).benchmark for name in names} <= set(card.BENCHMARKS):
        out.print(f"{card.write_card(root, names, folder)}: for Hugging Face datasets")
