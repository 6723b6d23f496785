"""The command ``datasets``: what can be built, and what of it is sealed."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from ops.catalog import Catalog, DatasetSpec
from ops.rendering import is_rendered
from ops.shards import Manifest, has_manifest, read_manifest
from ops.storage import Root
from pipelines.cli.names import every
from pipelines.cli.terminal import lake, out


def add_commands(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(datasets)


def datasets(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(help="Datasets or patterns, one line each; by default a line a benchmark."),
    ] = None,
) -> None:
    """What can be built, out of archives or rendered, and what of it is sealed."""
    _, root, known = lake()
    table = Table()
    if patterns:
        for column in ("dataset", "made of", "samples", "sealed"):
            table.add_column(column, overflow="fold")
        for name in every(patterns, list(known.datasets), "dataset"):
            spec = known.datasets[name]
            table.add_row(name, _made_of(known, spec), _expected(spec), _sealed(root, name))
        out.print(table)
        return
    for column in ("benchmark", "conditions", "sealed", "made of", "for example"):
        table.add_column(column, overflow="fold")
    families: dict[str, list[DatasetSpec]] = {}
    for spec in known.datasets.values():
        families.setdefault(spec.family, []).append(spec)
    for family, specs in families.items():
        sealed = sum(has_manifest(root, spec.name) for spec in specs)
        made_of = _made_of(known, specs[0])
        table.add_row(family, str(len(specs)), str(sealed), made_of, specs[-1].name)
    out.print(table)
    out.print("shiftlake datasets PATTERN lists conditions; shiftlake build makes them.")


def _made_of(known: Catalog, spec: DatasetSpec) -> str:
    if not spec.derived_from:
        return "archives"
    parents = ", ".join(known.dataset(parent).name for parent in spec.derived_from)
    if not is_rendered(spec):
        return f"cut out of {parents}"
    return f"{'on the fly' if 'on_the_fly' in spec.layout else 'rendered'} from {parents}"


def _expected(spec: DatasetSpec) -> str:
    return "unknown" if spec.expected is None else f"{spec.expected:,}"


def _sealed(root: Root, name: str) -> str:
    if not has_manifest(root, name):
        return "–"
    manifest: Manifest = read_manifest(root, name)
    return f"{manifest.n_samples:,} as {manifest.version}"
