"""Commands about two models: ``compare``, ``gate`` and ``gate init``."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from typer.core import TyperGroup

from ops.errors import ShiftlakeError
from ops.results.comparison.quantities import scale
from ops.storage import paths
from pipelines.cli.terminal import err, lake, out

# Of what a failure names, as much as fits a screen.
_CLASSES = 5
_IMAGES = 5
# Columns, by position, that go first where a terminal is too narrow for all: of a comparison κ,
# gained, lost, p, interval and the two values; of verdicts both values, p, margin, gate, interval.
_LESS_COMPARED = (9, 7, 6, 8, 5, 2, 3)
_LESS_JUDGED = (5, 6, 10, 9, 0, 8)
# Characters of a line of a model's name above its values.
_HEAD = 14
_COLOURS = {
    "pass": "green",
    "fail": "bold red",
    "missing": "bold red",
    "inconclusive": "bold yellow",
    "waived": "cyan",
}


class _GateOrCommand(TyperGroup):
    """``gate NAME`` judges a gate; only ``gate init`` is a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help" not in args[:1] and (not args or args[0] not in self.commands):
            args = ["run", *args]
        return super().parse_args(ctx, args)


gate = typer.Typer(
    cls=_GateOrCommand,
    help="Judge candidates against their baselines: shiftlake gate [GATE] [OPTIONS], of which "
    "shiftlake gate run --help tells, and docs/gates.md.",
)


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(compare)
    app.add_typer(gate, name="gate")


def compare(
    a: Annotated[str, typer.Argument(help="A registered model.")],
    b: Annotated[str, typer.Argument(help="Another; differences are b less a.")],
    benchmarks: Annotated[
        list[str] | None, typer.Option("--benchmark", help="Only this one; may be given again.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="In a table, more than the headline of each benchmark.")
    ] = False,
    format: Annotated[
        str, typer.Option(help="table, csv or json; the last two say all.")
    ] = "table",
) -> None:
    """Two models on the same images: differences, intervals, paired tests."""
    from ops.results import compare as compared
    from ops.results.comparison import incomparable

    if format not in ("table", "csv", "json"):
        raise ShiftlakeError(
            "There is no such output format.",
            expected="table, csv or json",
            found=format,
            where="--format",
            remedy="choose one of them",
        )
    _, root, known = lake()
    rows = compared(root, known, a, b, benchmarks=benchmarks).to_pylist()
    if format == "json":
        sys.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    elif format == "csv":
        _write_csv(rows)
    else:
        shown = [row for row in rows if everything or row["headline"]]
        if changes := list(dict.fromkeys(c for row in shown for c in row["environment_changes"])):
            # First: whoever reads on shall not take all that follows for the models' doing.
            _line(f"Not only the models differ. From {a} to {b}: {', '.join(changes)}", "yellow")
        out.print(_comparison(shown, a, b))
    if left_out := incomparable(root, a, b):
        err.print(f"Not compared: {len(left_out)} datasets, such as:", highlight=False)
        for why in list(left_out.values())[:3]:
            err.print(f"  {why}", highlight=False, markup=False)


@gate.command("run")
def run(
    name: Annotated[
        str | None, typer.Argument(metavar="GATE", help="Of gates.yaml; all by default.")
    ] = None,
    candidate: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the verdicts here as JSON.")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", help="Write the verdicts here as JUnit XML.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="An inconclusive verdict closes the gate, too.")
    ] = False,
    today: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The day that waivers are judged by; today, UTC."),
    ] = None,
) -> None:
    """Judge candidates as gates.yaml states; the exit code is 0 only if no gate is closed."""
    from ops.results import run_gates
    from ops.results.gates import closes
    from ops.results.gates.junit import junit

    _, root, known = lake()
    if not root.exists(paths.gates()):
        raise ShiftlakeError(
            "No gate is stated.",
            expected="a file that says which model must be no worse than which",
            found="none",
            where=root.at(paths.gates()),
            remedy="shiftlake gate init writes an example to start from",
        )
    day = today.date() if today else datetime.now(UTC).date()
    table = run_gates(root, known, day, gate=name, candidate=candidate)
    rows = [
        row
        for row in table.to_pylist()
        if name in (None, row["gate"]) and candidate in (None, row["candidate"])
    ]
    if json_file is not None:
        json_file.write_text(json.dumps(rows, indent=1, ensure_ascii=False, default=str) + "\n")
    if junit_file is not None:
        junit_file.write_text(junit(rows, strict=strict), "utf-8")
    if not rows:
        # A green light that looked at nothing is the worst of all.
        raise ShiftlakeError(
            "No candidate was judged.",
            expected="a registered model that a gate names as a candidate",
            found="none",
            where=root.at(paths.gates()),
            remedy="shiftlake model list names the models; correct the patterns of candidates",
        )
    out.print(_verdicts(rows, day))
    for row in rows:
        _explain(row)
    if any(row["verdict"] == "inconclusive" for row in rows):
        out.print(
            "INCONCLUSIVE: a loss of the margin or more is neither shown nor ruled out. "
            + ("" if strict else "This does not close the gate; --strict would."),
            style="bold yellow",
            highlight=False,
        )
    if closes(rows, strict=strict):
        out.print("The gate is closed.", style="bold red")
        raise typer.Exit(1)
    out.print("The gate is open.", style="bold green")


@gate.command("init")
def init() -> None:
    """Write an example of gates.yaml below the storage root, unless there is one."""
    from ops.results.gates.stated import example

    _, root, _ = lake()
    path = paths.gates()
    if root.exists(path):
        raise ShiftlakeError(
            "There is a gates.yaml already.",
            expected="none",
            found=f"{root.size(path):,} bytes",
            where=root.at(path),
            remedy="edit it, or move it away first",
        )
    root.write_bytes(path, example().encode())
    out.print(f"{root.at(path)}: now name your models and margins", highlight=False)


def _comparison(rows: list[dict[str, Any]], a: str, b: str) -> Table:
    heads = ("benchmark", "metric", _folded(a), _folded(b), "difference", "interval",
             "lost", "gained", "p (Holm)", "error κ")  # fmt: skip
    lines: list[tuple[str, ...]] = []
    for row in rows:
        unit = scale(row["metric"])
        better = row["delta"] > 0 if row["better"] == "higher" else row["delta"] < 0
        colour = "" if row["p_holm"] >= row["alpha"] else "green" if better else "red"
        marks = " *" * row["synthetic"] + " !" * row["stale"] + " †" * row["seen_in_training"]
        delta = f"{unit * row['delta']:+.2f}"
        lines.append(
            (
                _where(row) + marks,
                f"{row['metric']} ({row['variant']})" + ("" if row["better"] == "higher" else " ↓"),
                *(f"{unit * row[name]:.2f}" for name in ("value_a", "value_b")),
                f"[{colour}]{delta}[/]" if colour else delta,
                _interval(row, unit),
                *("" if row[name] is None else f"{row[name]:,}" for name in ("lost", "gained")),
                _p(row["p_holm"]),
                "" if row["error_kappa"] is None else f"{row['error_kappa']:.2f}",
            )
        )
    table, left_out = _fitted(f"{b} less {a}", heads, lines, 2, {0: 1}, _LESS_COMPARED)
    notes = (
        f"difference: + means that {b} is better; where ↓ stands by the metric, - does\n"
        "percent and percentage points",
        "" if "lost" in left_out else f"lost: images that only {a} has right; gained: only {b}",
        ""
        if "error κ" in left_out
        else "error κ: 1 if both err on the same images, 0 if as by chance (error consistency)",
        _not_shown(left_out, "--format csv"),
        "ut5d is a distance, as it is" if any("ut5d" in row["metric"] for row in rows) else "",
        "* generated images" if any(row["synthetic"] for row in rows) else "",
        "! stale: something has changed since" if any(row["stale"] for row in rows) else "",
        "† a model was fine-tuned on videos of the set"
        if any(row["seen_in_training"] for row in rows)
        else "",
        "" if rows else "no dataset on which both have been run",
    )
    table.caption = "\n".join(note for note in notes if note)
    return table


def _verdicts(rows: list[dict[str, Any]], day: date) -> Table:
    heads = ("gate", "candidate", "benchmark", "metric", "verdict",
             "baseline", "value", "difference", "interval", "margin", "p (Holm)")  # fmt: skip
    lines: list[tuple[str, ...]] = []
    for row in rows:
        unit = scale(row["metric"])
        measured = row["delta"] is not None
        lines.append(
            (
                row["gate"],
                row["candidate"],
                _where(row) + " *" * bool(row["synthetic"]),
                row["metric"],
                f"[{_COLOURS[row['verdict']]}]{row['verdict']}[/]",
                *(
                    f"{unit * row[name]:.2f}" if measured else ""
                    for name in ("baseline_value", "candidate_value")
                ),
                f"{unit * row['delta']:+.2f}" if measured else "",
                _interval(row, unit),
                f"{unit * row['margin']:.2f}",
                _p(row["p_holm"]),
            )
        )
    table, left_out = _fitted(f"Gates, {day}", heads, lines, 5, {2: 3, 1: 0}, _LESS_JUDGED)
    notes = "percent and percentage points; positive where the candidate is better"
    if any("ut5d" in row["metric"] for row in rows):
        notes += "\nut5d is a distance, as it is"
    if any(row["synthetic"] for row in rows):
        notes += "\n* generated images"
    if left_out:
        notes += f"\n{_not_shown(left_out, '--json FILE')}"
    table.caption = notes
    return table


def _fitted(
    title: str,
    heads: tuple[str, ...],
    lines: list[tuple[str, ...]],
    left: int,
    under: dict[int, int],
    less: tuple[int, ...],
) -> tuple[Table, list[str]]:
    """A table whose words are whole, without the columns the terminal is too narrow for.

    The first `left` columns are set to the left. Where there is too little room, first the columns
    `under` names go under another one, then those of `less` go one by one. Returned, too, are the
    names of those that went.
    """
    wide = out.options.update(width=10_000)
    for n in range(-1, len(less) + 1):
        gone = set(less[: max(n, 0)])
        moved = {} if n < 0 else {i: j for i, j in under.items() if not {i, j} & gone}
        kept = [i for i in range(len(heads)) if i not in gone and i not in moved.values()]
        table = Table(title=title, title_justify="left", caption_justify="left")
        for line in (heads, *lines):
            cells = [f"{line[i]}\n  {line[moved[i]]}" if i in moved else line[i] for i in kept]
            if line is not heads:
                table.add_row(*cells)
                continue
            for i, cell in zip(kept, cells, strict=True):
                table.add_column(
                    cell, justify="left" if i < left else "right", no_wrap=True, overflow="fold"
                )
        if out.measure(table, options=wide).maximum <= out.width:
            break
    else:
        # Nothing more can go: better folded than cut off.
        for column in table.columns:
            column.no_wrap = False
    return table, [heads[i].replace("\n", "") for i in less[: max(n, 0)]]


def _folded(name: str) -> str:
    """A model's name over lines that end after one of its own signs."""
    lines = [""]
    for part in re.findall(r"[^_./-]+[_./-]*|[_./-]+", name):
        if len(lines[-1]) + len(part) > _HEAD and lines[-1]:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _not_shown(left_out: list[str], where: str) -> str:
    return f"no room for {', '.join(left_out)}: {where} has all" if left_out else ""


def _explain(row: dict[str, Any]) -> None:
    """What stands behind a verdict that is not a plain pass."""
    if row["verdict"] == "pass":
        return
    head = f"{row['candidate']} on {_where(row)}: "
    _line(f"{head}{row['verdict']}: {row['reason']}", _COLOURS[row["verdict"]])
    if row["verdict"] == "fail":
        for each in row["flipped_classes"][:_CLASSES]:
            name = each["name"] or f"class {each['class_index']}"
            _line(f"  {name}: {each['lost']} lost, {each['gained']} gained of {each['n']}")
        if row["flipped_samples"]:
            some = ", ".join(row["flipped_samples"][:_IMAGES])
            _line(f"  images lost, surest first: {some}")
    if row["environment_changes"]:
        _line(f"  not only the model differs: {', '.join(row['environment_changes'])}", "yellow")


def _line(text: str, style: str | None = None) -> None:
    out.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _where(row: dict[str, Any]) -> str:
    alone = row["condition"] in ("clean", "all", "val")
    return str(row["benchmark"]) if alone else f"{row['benchmark']}/{row['condition']}"


def _interval(row: dict[str, Any], unit: int) -> str:
    if row["ci_lo"] is None:
        return ""
    return f"\\[{unit * row['ci_lo']:+.2f}, {unit * row['ci_hi']:+.2f}]"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _write_csv(rows: Iterable[dict[str, Any]]) -> None:
    from ops.results.comparison import COMPARISON

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COMPARISON.names)
    for row in rows:
        writer.writerow(_cell(row[name]) for name in COMPARISON.names)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ("; " if any(" " in each for each in value) else " ").join(value)
    return repr(value) if isinstance(value, float) else value
