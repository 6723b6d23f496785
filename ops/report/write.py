"""The report: everything SQL knows about a lake, on one page that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ops.catalog import Catalog
from ops.report.cast import Cast, cast_of
from ops.report.document import Section
from ops.report.names import benchmark_name
from ops.report.sections import (
    calibration,
    corruptions,
    failures,
    ladder,
    leaderboard,
    provenance,
    sequences,
    shifts,
    video,
)
from ops.results import connect
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    import duckdb

REPORT = paths.results("report.html")


def write_report(
    root: Root | str,
    catalog: Catalog,
    *,
    now: datetime | None = None,
    models: Sequence[str] | None = None,
) -> str:
    """Write ``results/report.html``, one self-contained page.

    Parameters
    ----------
    root : Root or str
    catalog : Catalog
    now : datetime, optional
        The date on the page; by default that of the newest result, so that the same lake gives
        the same bytes.
    models : sequence of str, optional
        Those to draw in colour, at most eight; by default all, or eight evenly from the best to
        the worst.

    Returns
    -------
    str
        Path of the page below the root.

    Raises
    ------
    ShiftlakeError
        If one of `models` has no results.
    """
    root = open_root(root)
    with connect(root, catalog=catalog) as connection:
        page = render(root, connection, catalog, now or _newest(connection), models)
    root.write_bytes(REPORT, page.encode())
    return REPORT


def _newest(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """When the newest current run ended; None where there is none."""
    (ended,) = connection.execute("SELECT max(ended_at) FROM runs WHERE current").fetchone() or (
        None,
    )
    return datetime.fromisoformat(ended).astimezone(UTC) if ended else None


def render(
    root: Root,
    connection: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    now: datetime | None,
    models: Sequence[str] | None = None,
) -> str:
    """The page as HTML; see :func:`write_report`."""
    chosen = cast_of(connection, models)
    built = [
        leaderboard.leaderboard(connection, catalog),
        ladder.ladder(connection, chosen),
        corruptions.corruptions(connection, catalog, chosen),
        shifts.shifts(connection, chosen),
        calibration.calibration(connection, catalog, chosen),
        sequences.sequences(connection, catalog, chosen),
        video.video(root, connection, catalog, chosen),
        failures.failures(root, connection, catalog, chosen),
        provenance.gates(connection, catalog),
        provenance.provenance(connection, catalog, chosen),
    ]
    shown = [section for section in built if section.blocks]
    absent = [section for section in built if not section.blocks]
    shown.append(provenance.missing(connection, catalog, absent))
    return _page(
        name=_name(root),
        date=_date(now),
        headline=_headline(connection, chosen),
        synthetic=_synthetic(connection, catalog),
        cast=chosen.said(),
        sections=shown,
    )


def _date(now: datetime | None) -> str:
    if now is None:
        return "no results yet"
    return "results up to " + now.strftime("%-d %B %Y" + ", %H:%M UTC" * (now.tzinfo is not None))


def _page(*, sections: list[Section], **content: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("ops.report"),
        autoescape=select_autoescape(("html", "j2"), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breaking"] = _breaking
    own = files("ops.report").joinpath("templates")
    return environment.get_template("report.html.j2").render(
        sections=sections,
        css=own.joinpath("report.css").read_text("utf-8"),
        script=own.joinpath("report.js").read_text("utf-8"),
        **content,
    )


def _breaking(text: str) -> Any:
    """`text` as markup that may go on in the next line after ``/`` and ``_``, as in the script."""
    from markupsafe import Markup, escape

    marked = str(escape(text)).replace("/", "/<wbr>").replace("_", "_<wbr>")
    return Markup(marked)


def _name(root: Root) -> str:
    """Last part of the root's address: no machine's folders, no bucket."""
    return root.url.rstrip("/").rpartition("/")[2] or "lake"


def _headline(connection: duckdb.DuckDBPyConnection, models: Cast) -> list[tuple[str, str]]:
    found = (
        connection.execute(
            """
        SELECT (SELECT count(*) FROM models),
            (SELECT count(DISTINCT (benchmark)) FROM metrics),
            (SELECT count(DISTINCT dataset) FROM runs WHERE current),
            (SELECT sum(n_expected) FROM runs WHERE current),
            (SELECT count(*) FROM status WHERE state = 'stale'),
            (SELECT count(*) FROM status WHERE state IN ('failed', 'damaged')),
            (SELECT count(*) FROM gate WHERE verdict = 'fail')
        """
        ).fetchone()
        or (0,) * 7
    )
    named = ("models", "benchmarks", "datasets run", "predictions", "stale results",
             "failed or damaged", "failed verdicts")  # fmt: skip
    always = named[:4]
    return [
        (name, f"{int(value or 0):,}")
        for name, value in zip(named, found, strict=True)
        if value or name in always
    ]


def _synthetic(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> str:
    """What is synthetic, in words; empty where nothing is."""
    (rows, of) = connection.execute(
        "SELECT count(*) FILTER (WHERE synthetic), count(*) FROM metrics"
    ).fetchone() or (0, 0)
    if not rows:
        return ""
    if rows == of:
        return "All results on this page are of images drawn by a program."
    names = connection.execute(
        "SELECT DISTINCT benchmark FROM metrics WHERE synthetic ORDER BY ALL"
    ).fetchall()
    listed = ", ".join(dict.fromkeys(benchmark_name(catalog, name) for (name,) in names))
    return f"Some results on this page are of images drawn by a program: {listed}."
