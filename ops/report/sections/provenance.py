"""What was run on what, what is missing or stale, and what the gates say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Cell, Column, Number, Section, Table, Text
from ops.report.names import benchmark_name, dataset_name
from ops.results.comparison.quantities import scale
from ops.results.measures.unit import DEFINITIONS

if TYPE_CHECKING:
    import duckdb

# Rows of status that are told one by one.
_MOST = 400


def gates(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> Section:
    """The verdicts of the non-inferiority gates, with the classes that flipped."""
    section = Section(
        "gates",
        "Gates",
        "Whether a candidate is worse than its baseline by more than the margin. The interval is "
        "of the paired difference, positive where the candidate is better.",
        missing="no gate has been run",
    )
    rows = connection.execute("SELECT * FROM gate ORDER BY ALL")
    names = [column[0] for column in rows.description]
    found = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
    if not found:
        return section
    columns = [
        Column("candidate", numeric=False), Column("baseline", numeric=False),
        Column("set", numeric=False), Column("verdict", numeric=False),
        Column("difference", "points", "higher"), Column("margin", "points"),
        Column("p", "Holm"), Column("lost"), Column("gained"), Column("why", numeric=False),
    ]  # fmt: skip
    order = ("fail", "missing", "inconclusive", "waived", "pass")
    found.sort(key=lambda r: order.index(r["verdict"]) if r["verdict"] in order else 9)
    body: list[list[Cell]] = [
        [
            row["candidate"],
            row["baseline"],
            dataset_name(catalog, row["benchmark"], row["condition"] or "clean"),
            row["verdict"],
            _number(*_points(row, "delta", "ci_lo", "ci_hi")),
            _number(*_points(row, "margin")),
            _number(row["p_holm"], digits=4),
            _number(row["lost"], digits=0),
            _number(row["gained"], digits=0),
            _why(row),
        ]
        for row in found
    ]
    section.blocks.append(Table("gate-table", columns, body, "Verdicts, the worst first"))
    return section


def _points(row: dict[str, Any], *names: str) -> list[float | None]:
    """Columns in percentage points: shares are multiplied; percent and distances stay."""
    unit = scale(row["metric"])
    return [None if row[name] is None else unit * row[name] for name in names]


def _why(row: dict[str, Any]) -> str:
    said = [str(row["reason"] or "")]
    if row.get("waiver_reason"):
        said.append(f"waived until {row['waiver_expires']}: {row['waiver_reason']}")
    classes = row.get("flipped_classes") or []
    if classes:
        worst = ", ".join(f"{c['name']} ({c['lost']} lost)" for c in classes[:5])
        said.append(f"flipped most: {worst}")
    if row.get("environment_changes"):
        said.append("environment: " + ", ".join(row["environment_changes"]))
    return "; ".join(part for part in said if part)


def provenance(connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast) -> Section:
    """Models, runs, environments and datasets, with their hashes and versions."""
    section = Section(
        "provenance",
        "What was run on what",
        f"Metrics are of definitions version {DEFINITIONS}. A result belongs to weights, a "
        "transform, a dataset version, numerics and a code version; if one changes it is stale.",
        missing="no model is registered and nothing is sealed",
        short="Provenance",
    )
    for table in (
        _models(connection, models),
        _runs(connection),
        _environments(connection),
        _datasets(connection, catalog),
        _sources(connection),
    ):
        if table.rows:
            section.blocks.append(table)
    return section


def missing(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, absent: list[Section]
) -> Section:
    """What is stale, failed, partial or missing, and the sections that have no data."""
    section = Section(
        "missing",
        "What is missing, stale or failed",
        "Counted over models and datasets; what failed or is stale is named below.",
        short="Missing",
    )
    counted = connection.execute(
        """
        SELECT benchmark, state, count(*), count(DISTINCT model) FROM status
        WHERE benchmark <> '' GROUP BY ALL ORDER BY ALL
        """
    ).fetchall()
    states = ("done", "stale", "partial", "failed", "damaged", "missing", "imported", "not built")
    by: dict[str, dict[str, int]] = {}
    for benchmark, state, count, _ in counted:
        by.setdefault(benchmark, {})[state] = count
    shown = [s for s in states if any(s in row for row in by.values())]
    shown += sorted({state for row in by.values() for state in row} - set(states))
    if by:
        columns = [Column("set", numeric=False), *(Column(state) for state in shown)]
        body: list[list[Cell]] = [
            [benchmark_name(catalog, name), *(_number(row.get(s), digits=0) for s in shown)]
            for name, row in by.items()
        ]
        caption = "State of every model on every dataset it can be run on"
        section.blocks.append(Table("state-table", columns, body, caption, of_models=False))
    (unmeasured,) = connection.execute(
        "SELECT count(*) FROM status WHERE measured = false"
    ).fetchone() or (0,)
    if unmeasured:
        text = f"{unmeasured:,} runs are not in the table of metrics yet: compute them again."
        section.blocks.append(Text(text, "Newer than the metrics."))
    wrong = connection.execute(
        """
        SELECT model, dataset, state, coalesce(reason, '') FROM status
        WHERE state NOT IN ('done', 'missing', 'not built')
        ORDER BY state <> 'failed', state <> 'damaged', model, dataset, state
        """
    ).fetchall()
    if wrong:
        columns = [Column(name, numeric=False) for name in ("model", "dataset", "state", "why")]
        caption = "Not what it should be"
        if len(wrong) > _MOST:
            caption += f": the first {_MOST} of {len(wrong):,}"
        section.blocks.append(Table("wrong-table", columns, wrong[:_MOST], caption))
    for each in absent:
        why = f"{each.missing[:1].upper()}{each.missing[1:]}."
        section.blocks.append(Text(why, f"Not shown: {each.title}."))
    return section


def _models(connection: duckdb.DuckDBPyConnection, models: Cast) -> Table:
    columns = [
        Column(name, numeric=False)
        for name in ("model", "architecture", "weights", "transform", "labels", "precision", "note")
    ]
    found = connection.execute(
        """
        SELECT model, kind || ': ' || reference, coalesce(weights_sha256, ''), transform,
            label_space, precision, coalesce(note, ''), synthetic
        FROM models ORDER BY model
        """
    ).fetchall()
    body: list[list[Cell]] = [
        [model, reference, weights[:16], _transform(transform), space, precision,
         "; ".join(part for part in ("trained on generated images" if made else "", note) if part)]
        for model, reference, weights, transform, space, precision, note, made in found
    ]  # fmt: skip
    return Table("models-table", columns, body, "Models; weights by the first 16 digits of sha256")


def _transform(text: str | None) -> str:
    if not text:
        return ""
    known = json.loads(text)
    parts = [f"{name} {known[name]}" for name in ("resize", "crop", "interpolation")
             if known.get(name) is not None]  # fmt: skip
    return ", ".join(parts)


def _runs(connection: duckdb.DuckDBPyConnection) -> Table:
    columns = [
        Column("model", numeric=False), Column("datasets"), Column("stale"), Column("rows"),
        Column("undecodable"), Column("images/s", "median"), Column("hours"),
        Column("transform", "hash", numeric=False), Column("code", numeric=False),
        Column("last", numeric=False),
    ]  # fmt: skip
    found = connection.execute(
        """
        SELECT model, count(*), count(*) FILTER (WHERE stale), sum(n_expected), sum(n_error),
            median(images_per_second), sum(seconds ORDER BY dataset, run_id) / 3600,
            string_agg(DISTINCT transform_hash, ', ' ORDER BY transform_hash),
            string_agg(DISTINCT code_version, ', ' ORDER BY code_version), max(ended_at)
        FROM runs WHERE current GROUP BY model ORDER BY model
        """
    ).fetchall()
    body: list[list[Cell]] = [
        [row[0], *(_number(value, digits=0) for value in row[1:5]), _number(row[5], digits=0),
         _number(row[6]), str(row[7] or "")[:34], str(row[8] or ""), str(row[9] or "")[:16]]
        for row in found
    ]  # fmt: skip
    return Table("runs-table", columns, body, "Current runs, by model")


def _environments(connection: duckdb.DuckDBPyConnection) -> Table:
    columns = [
        Column("numerics", numeric=False), Column("versions", numeric=False),
        Column("code", numeric=False), Column("protocol", "pixels the model saw", numeric=False),
        Column("runs"), Column("models"),
    ]  # fmt: skip
    found = connection.execute(
        """
        SELECT coalesce(numerics, ''), coalesce(versions, ''), code_version, coalesce(protocol, ''),
            count(*), count(DISTINCT model)
        FROM runs WHERE current GROUP BY ALL ORDER BY count(*) DESC, 1, 2, 3, 4
        """
    ).fetchall()
    body: list[list[Cell]] = [
        [_flat(numerics), _flat(versions), code, protocol, Number(runs, digits=0),
         Number(models, digits=0)]
        for numerics, versions, code, protocol, runs, models in found
    ]  # fmt: skip
    caption = "Where and how they ran"
    return Table("environment-table", columns, body, caption, of_models=False)


def _datasets(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> Table:
    columns = [
        Column("dataset", numeric=False), Column("version", numeric=False), Column("samples"),
        Column("undecodable"), Column("MB"), Column("made of", numeric=False),
        Column("renderer", numeric=False), Column("licence", numeric=False),
    ]  # fmt: skip
    found = connection.execute(
        """
        SELECT dataset, version, n_samples, n_failed, bytes, sources, renderer_form,
            renderer_mode, renderer_version, renderer_seed, coalesce(licence, ''), synthetic
        FROM datasets ORDER BY dataset
        """
    ).fetchall()
    body: list[list[Cell]] = []
    for name, version, n, failed, size, sources, form, mode, of, seed, licence, made in found:
        hashes = ", ".join(f"{s['name']} {s['sha256'][:12]}" for s in json.loads(sources or "[]"))
        parts = [form, mode, f"version {of}" if of else "", "" if seed is None else f"seed {seed}"]
        how = ", ".join(part for part in parts if part) + ("; synthetic" if made else "")
        body.append(
            [name, version, Number(n, digits=0), Number(failed, digits=0),
             Number(size / 1e6, digits=1), hashes, how.replace("_", " "), licence]
        )  # fmt: skip
    caption = "Datasets: version, the files or datasets they were made of, and by which renderer"
    return Table("datasets-table", columns, body, caption, of_models=False)


def _sources(connection: duckdb.DuckDBPyConnection) -> Table:
    columns = [
        Column("file", numeric=False), Column("MB"), Column("sha256", numeric=False),
        Column("verified by", numeric=False), Column("fetched", numeric=False),
    ]  # fmt: skip
    found = connection.execute(
        """
        SELECT benchmark || '/' || name, bytes, coalesce(sha256, ''), verified_by,
            coalesce(fetched_at, '')
        FROM sources ORDER BY ALL
        """
    ).fetchall()
    body: list[list[Cell]] = [
        [name, _number(size / 1e6 if size else None, digits=1), sha256[:24],
         ", ".join(by or []), at[:10]]
        for name, size, sha256, by, at in found
    ]  # fmt: skip
    return Table("sources-table", columns, body, "Published files, as verified", of_models=False)


def _flat(text: str) -> str:
    """JSON of one level as words."""
    try:
        known = json.loads(text)
    except ValueError:
        return text
    return ", ".join(f"{name} {value}" for name, value in sorted(known.items())
                     if value is not None and value is not False)  # fmt: skip


def _number(
    value: float | None, lo: float | None = None, hi: float | None = None, *, digits: int = 2
) -> Number | None:
    return None if value is None else Number(float(value), lo, hi, digits=digits)
