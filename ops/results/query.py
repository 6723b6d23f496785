"""One SQL statement in, text out: a table for the terminal, or exact CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.table import Table

from ops.errors import ShiftlakeError
from ops.results.connection import TABLES, VIEWS, connect
from ops.storage import Root, open_root

if TYPE_CHECKING:
    import duckdb

Format = Literal["table", "csv", "json"]
_FORMATS = ("table", "csv", "json")

# Without comments, which DuckDB nests and an expression cannot: one between the words is refused.
_EXPLAIN = re.compile(r"EXPLAIN\b\s*(?:ANALY[SZ]E\b\s*|\([\w\s,]*\)\s*)*", re.IGNORECASE)
_READING = re.compile(
    r"[\s(]*(?:PIVOT|PIVOT_WIDER|SELECT|FROM|WITH|DESCRIBE|DESC|SHOW|SUMMARIZE)\b", re.IGNORECASE
)

# Characters of a cell before it is folded.
_WIDEST = 48


def query(root: Root | str, sql: str, format: Format = "table", limit: int | None = None) -> str:
    """Run one reading statement over the views of :func:`ops.results.connect`.

    Parameters
    ----------
    root : Root or str
    sql : str
        One SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE or PIVOT, or EXPLAIN of one.
    format : {"table", "csv", "json"}
        ``csv`` and ``json`` hold every digit; ``table`` shortens numbers for reading.
    limit : int, optional
        At most this many rows; all by default.

    Returns
    -------
    str
        Without a final newline. JSON is a list of objects; NULL and NaN are null.

    Raises
    ------
    ShiftlakeError
        If the statement writes, there is none or more than one, or DuckDB refuses it.
    """
    root = open_root(root)
    import duckdb

    if format not in _FORMATS:
        raise ShiftlakeError(
            "There is no such output format.",
            expected=f"one of {', '.join(_FORMATS)}",
            found=format,
            where="query",
            remedy="choose one of them",
        )
    with connect(root) as connection:
        try:
            statement = _only_reading(connection, sql)
            connection.execute(statement)
            columns = [column[0] for column in connection.description or []]
            rows = connection.fetchall() if limit is None else connection.fetchmany(limit)
        except duckdb.Error as error:
            raise _not_run(error) from error
    return _RENDER[format](columns, rows)


def _not_run(error: duckdb.Error) -> ShiftlakeError:
    """What DuckDB says, with what helps against it."""
    import duckdb

    expected, remedy = "SQL that DuckDB can run", "DESCRIBE <view> lists the columns of a view"
    if isinstance(error, duckdb.ParserException):
        expected, remedy = "one statement in DuckDB's SQL", "correct it where the line above points"
    elif "Table with name" in str(error):
        expected = f"SQL over the views {', '.join(sorted((*VIEWS, *TABLES)))}"
    return ShiftlakeError(
        "The statement cannot be run.",
        expected=expected,
        found=_said(str(error)),
        where="query",
        remedy=remedy,
    )


def _said(text: str) -> str:
    """What an error says, without the frames of what was called while a file was read."""
    before, _, raised = text.partition("Traceback (most recent call last):\n")
    if not raised:
        return text.strip()
    lines = raised.splitlines()
    # Frames and their lines of code are indented, and so is what our own errors say below a line.
    start = next((i for i, line in enumerate(lines) if line and not line.startswith(" ")), 0)
    return "\n".join([before.strip(), *lines[start:]]).strip()


def _only_reading(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:

    statements = connection.extract_statements(sql)
    if not statements:
        raise ShiftlakeError(
            "There is no statement.",
            expected="one statement that reads, such as FROM leaderboard",
            found="nothing but spaces, comments or semicolons" if sql else "an empty text",
            where="query",
            remedy="FROM status shows what there is",
        )
    if len(statements) != 1:
        raise ShiftlakeError(
            "Exactly one statement is run at a time.",
            expected="one statement",
            found=f"{len(statements)} statements",
            where="query",
            remedy="run them one after the other",
        )
    kind = statements[0].type
    if not _reads(connection, statements[0]):
        raise ShiftlakeError(
            "Results are read-only.",
            expected="a statement that reads: SELECT, DESCRIBE, SUMMARIZE, PIVOT, EXPLAIN",
            found=f"a statement of kind {kind.name}",
            where="query",
            remedy="to keep a result, use the formats csv or json and write the output to a file",
        )
    return statements[0]


def _reads(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> bool:
    import duckdb

    text, kind = statement.query, statement.type
    if explain := _EXPLAIN.match(text):
        # Explained and analysed, a COPY writes its file.
        inner = connection.extract_statements(text[explain.end() :])
        return len(inner) == 1 and _reads(connection, inner[0])
    # Whatever holds a PIVOT is several statements to DuckDB, and of one kind: it first looks up
    # which columns there will be.
    several = kind == duckdb.StatementType.MULTI and _READING.match(text) is not None
    return several or kind == duckdb.StatementType.SELECT


def _as_table(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    # One or two columns hold a plan or a document, which must not be folded.
    widest = _WIDEST if len(columns) > 2 else None
    table = Table()
    for index, name in enumerate(columns):
        numeric = any(isinstance(row[index], int | float | Decimal) for row in rows)
        justify: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(name, justify=justify, overflow="fold", max_width=widest)
    for row in rows:
        table.add_row(*(_short(value) for value in row))
    # As wide as the content: a column folded to three letters helps nobody.
    console = Console(file=io.StringIO(), width=10_000, markup=False)
    console.width = console.measure(table).maximum
    with console.capture() as capture:
        console.print(table)
    text = capture.get().rstrip("\n")
    return text if rows else f"{text}\n0 rows"


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal):
        return f"{value:.6g}"
    return _nested(value) if isinstance(value, list | dict) else str(value)


def _as_csv(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(_cell(value) for value in row)
    return buffer.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return _nested(value) if isinstance(value, list | dict) else value


def _nested(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def _as_json(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    objects = [dict(zip(columns, _plain(list(row)), strict=True)) for row in rows]
    return json.dumps(objects, indent=1, ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Decimal):
        return float(value)
    # JSON has no NaN and no infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


_RENDER = {"table": _as_table, "csv": _as_csv, "json": _as_json}
