"""What the benchmarks share: a table on the terminal, and JSON beside it."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


def machine() -> str:
    """The machine in a few words, without its name."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of the same keys as a table."""
    table = Table(title=f"{title} ({machine()})")
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=110).print(table)


def write(name: str, found: dict[str, Any]) -> None:
    """Write what was found to ``benchmarks/results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
