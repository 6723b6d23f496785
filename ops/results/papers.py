"""The leaderboard for papers: timm's CSV, a tidy CSV, and tables in Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.results.connection import connect, open_views
from ops.results.inventory import take_inventory
from ops.results.leaderboard import SEEN_NOTE, STALE_NOTE, SYNTHETIC_NOTE
from ops.results.reference.data_files import read_yaml
from ops.results.reference.layouts import TIMM_COLUMNS
from ops.storage import Root, open_root

Format = Literal["timm", "csv", "latex", "markdown"]
# Before the name of a file in timm's layout.
SYNTHETIC_PREFIX = "synthetic-"
FORMATS = ("timm", "csv", "latex", "markdown")

_CSV_COLUMNS = (
    "model", "benchmark", "condition", "metric", "variant", "value_pct", "ci_lo_pct", "ci_hi_pct",
    "ci_method", "n", "synthetic", "stale", "seen_in_training",
)  # fmt: skip
_METRIC_NAMES = {
    "top1": "top-1",
    "mce_alexnet_pct": "mCE",
    "mean_err_15_pct": "mean error",
    "aupr": "AUPR",
    "mean_flip_probability_10": "flip probability",
    "avg_top1_7": "mean top-1",
}
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
}


def table(
    root: Root | str,
    catalog: Catalog,
    format: Format,
    *,
    models: Sequence[str] = (),
    benchmarks: Sequence[str] = (),
) -> str:
    """The headline numbers of models, as text for a paper or a page.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    format : {"timm", "csv", "latex", "markdown"}
        ``timm`` is one file of :func:`timm_tables`. ``csv`` has a line a model and benchmark with
        every digit. ``latex`` needs the package booktabs; it and ``markdown`` have a line a model,
        95 % intervals, and below them what was measured, on how many images, and how the input
        was prepared.
    models, benchmarks : sequence of str
        Names or patterns; all by default. A benchmark may be named with its condition.

    Returns
    -------
    str
        Without a final newline; numbers are those of the last computed metrics.

    Raises
    ------
    ShiftlakeError
        If a pattern fits nothing, or there is nothing to show.
    """
    if format not in FORMATS:
        raise _refused("There is no such format.", f"one of {', '.join(FORMATS)}", format)
    if format == "timm":
        files = timm_tables(root, catalog, models=models, benchmarks=benchmarks)
        if len(files) != 1:
            raise _refused(
                "timm's layout has a file for each benchmark.",
                "one benchmark, or a folder to write to",
                ", ".join(files),
            )
        return next(iter(files.values())).rstrip("\n")
    rows = _leaderboard(open_root(root), catalog, models, benchmarks)
    if format == "csv":
        return _lines(_CSV_COLUMNS, ([_cell(row[n]) for n in _CSV_COLUMNS] for row in rows))
    return (_latex if format == "latex" else _markdown)(_pivot(rows))


def timm_tables(
    root: Root | str,
    catalog: Catalog,
    *,
    models: Sequence[str] = (),
    benchmarks: Sequence[str] = (),
) -> dict[str, str]:
    """CSV files in the layout of timm's results, by file name.

    Returns
    -------
    dict of str to str
        ``results-imagenet.csv`` and so on, named as timm names them where it has the benchmark; by
        default those alone, otherwise what `benchmarks` names, a clean companion by its variant
        (``imagenet_1k/val/clean_200/*``). Results of generated images are in files of their own,
        ``synthetic-results-imagenet.csv`` and so on. A line a model, the best first. top5 is empty
        where it is not measured, as under a mask, and param_count where an entry does not say it.

    Raises
    ------
    ShiftlakeError
        As :func:`table`.
    """
    root = open_root(root)
    inventory = take_inventory(root)
    with open_views(root, inventory, catalog) as connection:
        found = connection.execute(
            """
            SELECT a.benchmark, a.condition, a.variant, a.model, a.synthetic,
                100 * a.value, 100 * b.value
            FROM metrics AS a
            LEFT JOIN metrics AS b
                ON b.model = a.model AND b.benchmark = a.benchmark AND b.condition = a.condition
                AND b.variant = a.variant AND b.metric = 'top5'
            WHERE a.metric = 'top1' AND a.value IS NOT NULL
            ORDER BY a.benchmark, a.condition, a.variant, a.value DESC, a.model
            """
        ).fetchall()
    names = _timm_names(catalog)
    files: dict[str, list[list[str]]] = {}
    for benchmark, condition, variant, model, synthetic, top1, top5 in found:
        if variant == "unmasked" and (benchmark, condition, "masked") in names:
            # Of A and R, timm and their authors publish the masked accuracy.
            continue
        known = names.get((benchmark, condition, variant))
        wanted = _named(benchmark, condition, variant, benchmarks) if benchmarks else known
        if wanted and _fits_model(model, models):
            name = known or _file_name(benchmark, condition, variant)
            entry = inventory.models.get(model, {})
            # The layout has no place for a warning but the name.
            name = SYNTHETIC_PREFIX * bool(synthetic) + name
            files.setdefault(name, []).append(_timm_line(model, top1, top5, entry))
    if not files:
        raise _nothing(models, benchmarks)
    return {name: _lines(TIMM_COLUMNS, lines) + "\n" for name, lines in files.items()}


def without_timm_file(root: Root | str, catalog: Catalog) -> tuple[str, ...]:
    """Measured benchmarks that timm's layout has no file for, by name."""
    known = {benchmark for benchmark, _, _ in _timm_names(catalog)}
    with connect(open_root(root), catalog=catalog) as connection:
        found = connection.execute(
            "SELECT DISTINCT benchmark FROM metrics WHERE value IS NOT NULL ORDER BY benchmark"
        ).fetchall()
    return tuple(benchmark for (benchmark,) in found if benchmark not in known)


def _timm_names(catalog: Catalog) -> dict[tuple[str, str, str], str]:
    """Benchmark, condition and variant to the name of timm's file."""
    settings = read_yaml("settings.yaml")["timm"]
    return {
        (each["benchmark"], each["condition"], each["variant"]): catalog.file(
            "reference-timm", file_id
        ).name
        for file_id, each in settings.items()
    }


def _file_name(benchmark: str, condition: str, variant: str) -> str:
    parts = [benchmark, *([] if condition == "clean" else [condition])]
    parts += [] if variant == "unmasked" else [variant]
    return f"results-{'-'.join(parts).replace('_', '-').replace('/', '-')}.csv"


def _timm_line(model: str, top1: float, top5: float | None, entry: dict[str, Any]) -> list[str]:
    transform = entry.get("transform") or {}
    size, resize = transform.get("crop"), transform.get("resize")
    shorter = min(resize) if isinstance(resize, list) else resize
    side = size or shorter
    parameters = entry.get("parameters")
    return [
        model,
        "" if side is None else str(side),
        f"{top1:.3f}",
        f"{100 - top1:.3f}",
        "" if top5 is None else f"{top5:.3f}",
        "" if top5 is None else f"{100 - top5:.3f}",
        "" if parameters is None else f"{parameters / 1e6:,.2f}",
        f"{side / shorter:.3f}" if side and shorter else "",
        transform.get("interpolation", ""),
    ]


@dataclass(frozen=True)
class _Pivot:
    """A line a model and a column a headline number, with what is to be said below."""

    models: tuple[str, ...]
    columns: tuple[tuple[str, str, str], ...]
    cells: Mapping[tuple[str, tuple[str, str, str]], dict[str, Any]]

    def notes(self) -> list[str]:
        """What each column is, how the inputs were made, and warnings."""
        notes = []
        for column in self.columns:
            rows = [self.cells[m, column] for m in self.models if (m, column) in self.cells]
            counts = "/".join(f"{n:,}" for n in sorted({row["n"] for row in rows if row["n"]}))
            methods = ", ".join(sorted({row["ci_method"] for row in rows if row["ci_method"]}))
            what = f"{_title(column)}: {rows[0]['metric']} ({rows[0]['variant']}), in percent"
            better = "lower is better" if rows[0]["better"] == "lower" else ""
            about = [what, f"n = {counts}" if counts else "", better, f"interval {methods}"]
            notes.append("; ".join(part for part in about if part) + ".")
        protocols: dict[str, list[str]] = {}
        for model in self.models:
            own = [row for (name, _), row in self.cells.items() if name == model]
            for text in sorted({row["protocol"] for row in own if row["protocol"]}):
                protocols.setdefault(text, []).append(model)
        for text, users in protocols.items():
            who = "" if len(users) == len(self.models) else f" of {', '.join(users)}"
            notes.append(f"Input{who}: {text}.")
        if any(row["synthetic"] for row in self.cells.values()):
            notes.append(SYNTHETIC_NOTE)
        if any(row["stale"] for row in self.cells.values()):
            notes.append(STALE_NOTE)
        if any(row["seen_in_training"] for row in self.cells.values()):
            notes.append(SEEN_NOTE)
        return notes


def _pivot(rows: list[dict[str, Any]]) -> _Pivot:
    columns = dict.fromkeys((row["benchmark"], row["condition"], row["metric"]) for row in rows)
    cells = {
        (row["model"], (row["benchmark"], row["condition"], row["metric"])): row for row in rows
    }
    return _Pivot(tuple(dict.fromkeys(row["model"] for row in rows)), tuple(columns), cells)


def _leaderboard(
    root: Root, catalog: Catalog, models: Sequence[str], benchmarks: Sequence[str]
) -> list[dict[str, Any]]:
    with connect(root, catalog=catalog) as connection:
        answer = connection.execute(
            """
            SELECT l.*, r.protocol, r.numerics
            FROM leaderboard AS l
            LEFT JOIN runs AS r
                ON r.model = l.model AND r.run_id = l.run_id AND r.benchmark = l.benchmark
                AND r.condition = l.condition AND r.current
            ORDER BY l.model, l.benchmark, l.condition, l.metric
            """
        )
        names = [column[0] for column in answer.description or []]
        rows = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    chosen = [
        row | {"protocol": _protocol(row)}
        for row in rows
        if _fits_model(row["model"], models)
        and _fits(row["benchmark"], row["condition"], benchmarks)
    ]
    if not chosen:
        raise _nothing(models, benchmarks)
    return chosen


def _protocol(row: dict[str, Any]) -> str | None:
    if not row["protocol"]:
        return None
    numerics = json.loads(row["numerics"] or "{}")
    return f"{row['protocol']}, {numerics['dtype']}" if "dtype" in numerics else row["protocol"]


def _markdown(pivot: _Pivot) -> str:
    head = ["model", *(_title(column) for column in pivot.columns)]
    lines = [head, ["---", *("---:" for _ in pivot.columns)]]
    lines += [
        [model, *(_shown(pivot.cells.get((model, column))) for column in pivot.columns)]
        for model in pivot.models
    ]
    text = "\n".join(f"| {' | '.join(_escaped_bar(cell) for cell in line)} |" for line in lines)
    return "\n\n".join([text, *pivot.notes()])


def _latex(pivot: _Pivot) -> str:
    titles = [latex_escaped(_title(column)) for column in pivot.columns]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(titles)}}}",
        r"\toprule",
        " & ".join(["Model", *titles]) + r" \\",
        r"\midrule",
    ]
    for model in pivot.models:
        shown = [_latex_shown(pivot.cells.get((model, column))) for column in pivot.columns]
        lines.append(" & ".join([latex_escaped(model), *shown]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\par\smallskip", r"{\footnotesize"]
    lines += [rf"{latex_escaped(note)}\par" for note in pivot.notes()]
    return "\n".join([*lines, "}"])


def latex_escaped(text: str) -> str:
    """`text` with every character that LaTeX reads as a command written out."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_shown(row: dict[str, Any] | None) -> str:
    if row is None:
        return "--"
    marks = _marks(row)
    value = f"{row['value_pct']:.2f}" + (f"$^{{{latex_escaped(marks)}}}$" if marks else "")
    if row["ci_lo_pct"] is None:
        return value
    return rf"{value} {{\scriptsize [{row['ci_lo_pct']:.2f}, {row['ci_hi_pct']:.2f}]}}"


def _shown(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    interval = ""
    if row["ci_lo_pct"] is not None:
        interval = f" [{row['ci_lo_pct']:.2f}, {row['ci_hi_pct']:.2f}]"
    marks = _marks(row)
    return f"{row['value_pct']:.2f}{interval}{' ' + marks if marks else ''}"


def _marks(row: dict[str, Any]) -> str:
    return (
        "*" * bool(row["synthetic"])
        + "!" * bool(row["stale"])
        + "†" * bool(row["seen_in_training"])
    )


def _title(column: tuple[str, str, str]) -> str:
    benchmark, condition, metric = column
    where = benchmark if condition in ("clean", "all", "val") else f"{benchmark}/{condition}"
    # pm10, or pm5 where five frames to either side were mined.
    name = re.sub(r"^pm(\d+)$", r"pm-\1", _METRIC_NAMES.get(metric, metric))
    return f"{where} {name}"


def _escaped_bar(text: str) -> str:
    return text.replace("|", r"\|")


def _fits(benchmark: str, condition: str, patterns: Sequence[str]) -> bool:
    names = (benchmark, f"{benchmark}/{condition}")
    return not patterns or any(fnmatchcase(name, p) for name in names for p in patterns)


def _named(benchmark: str, condition: str, variant: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern asks for this file; a companion has to be asked for by its variant."""
    if variant in ("unmasked", "masked", "real"):
        return _fits(benchmark, condition, patterns)
    return any(fnmatchcase(f"{benchmark}/{condition}/{variant}", p) for p in patterns)


def _fits_model(model: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _lines(header: Iterable[str], lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue().rstrip("\n")


def _nothing(models: Sequence[str], benchmarks: Sequence[str]) -> ShiftlakeError:
    asked = ", ".join([*models, *benchmarks])
    return _refused(
        "There is nothing to put into the table.",
        "models and benchmarks that are measured",
        f"none that fits {asked}" if asked else "no measured result",
    )


def _refused(what: str, expected: str, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        what,
        expected=expected,
        found=found,
        where="the table",
        remedy="shiftlake leaderboard shows what is measured; shiftlake table --help",
    )
