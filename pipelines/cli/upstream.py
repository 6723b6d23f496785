"""Commands about what is published: ``catalog``, ``fetch``, ``add``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ops.catalog import Catalog, SourceFile
from ops.errors import ShiftlakeError
from ops.fetch import add as add_file
from ops.fetch import fetch as fetch_file
from ops.fetch import read_receipt, standing
from ops.storage import Root
from pipelines.cli.names import Failures, matching
from pipelines.cli.terminal import err, lake, out, progress, size_text


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(catalog)
    app.command()(fetch)
    app.command()(add)


def catalog(
    benchmark: Annotated[str | None, typer.Argument(help="One benchmark; all by default.")] = None,
) -> None:
    """What exists upstream: state, size, licence, and what to do for files behind a login."""
    _, root, known = lake()
    chosen = [known.benchmark(benchmark)] if benchmark else list(known.benchmarks.values())
    table = Table(title=f"Benchmarks, and what of them is in {root.url}", show_lines=False)
    for column in ("benchmark", "file", "state"):
        table.add_column(column, overflow="fold")
    table.add_column("size", justify="right")
    table.add_column("licence", overflow="fold", max_width=36)
    notes: dict[str, list[str]] = {}
    for each in chosen:
        shown = each.id
        for file in each.files:
            stored = known.file(each.id, file.id)
            state = _state(root, stored, file)
            licence = str(each.licence.value or "not found") if shown else ""
            table.add_row(shown, file.id, state, size_text(stored.bytes.value), licence)
            shown = ""
            if stored.how_to_get and "here" not in state:
                notes.setdefault(stored.how_to_get, []).append(f"{each.id}/{file.id}")
        table.add_section()
    out.print(table)
    for text, files in notes.items():
        names = ", ".join(files)
        out.print(f"[bold]{names}[/bold]\n  {text}", highlight=False)


def fetch(
    names: Annotated[list[str], typer.Argument(help="Benchmarks (imagenet-a), files or datasets.")],
) -> None:
    """Download and verify published files; a broken download goes on where it stopped."""
    _, root, known = lake()
    wanted = {(file.benchmark, file.id): file for name in names for file in _files(known, name)}
    failures = Failures()
    for file in wanted.values():
        with failures.noted(file.name), progress("bytes") as bar:
            task = bar.add_task(file.name, total=file.bytes.value)
            receipt = fetch_file(
                root,
                file,
                progress=lambda done, total, task=task, bar=bar: bar.update(  # type: ignore[misc]
                    task, completed=done, total=total
                ),
                log=lambda line: err.print(line, highlight=False, markup=False),
            )
            out.print(
                f"{file.name}  {size_text(receipt.bytes)}  sha256 {receipt.sha256}  "
                f"({'; '.join(receipt.verified_by)})",
                highlight=False,
            )
    failures.raise_any()


def add(
    paths: Annotated[list[Path], typer.Argument(help="Files got by hand.")],
) -> None:
    """Take in a file got by hand: it is recognised by its hash, or else by its name."""
    _, root, known = lake()
    failures = Failures()
    for path in paths:
        with failures.noted(path.name):
            receipt = add_file(root, known, path)
            proofs = "; ".join(receipt.verified_by)
            out.print(
                f"{path.name} is {receipt.benchmark}/{receipt.file} ({proofs})", highlight=False
            )
    failures.raise_any()


def _state(root: Root, stored: SourceFile, listed: SourceFile) -> str:
    if listed.same_as:
        return f"same as {listed.same_as}"
    receipt = standing(root, stored)
    if receipt is None and read_receipt(root, stored) is not None:
        return "[red]gone, or not what is stated[/red]"
    if receipt is not None:
        proofs = ", ".join(proof.partition(":")[0] for proof in receipt.verified_by)
        return f"[green]here[/green] ({proofs})"
    return "[yellow]by hand[/yellow]" if stored.manual else "can be fetched"


def _files(known: Catalog, name: str) -> list[SourceFile]:
    if datasets := matching([name], list(known.datasets)):
        return [file for dataset in datasets for file in known.sources(dataset)]
    for benchmark in known.benchmarks.values():
        for file in benchmark.files:
            if name in (file.id, f"{benchmark.id}/{file.id}"):
                return [known.file(benchmark.id, file.id)]
    try:
        return list(known.sources(name))
    except ShiftlakeError:
        benchmark = known.benchmark(name)
        return [known.file(benchmark.id, file.id) for file in benchmark.files]
