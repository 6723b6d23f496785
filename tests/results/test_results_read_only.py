"""Read-only is real: no statement writes below the root, or reads anything beside the results."""

import hashlib
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from made_lake import made_logits, rows_of

from ops.errors import ShiftlakeError
from ops.results import connect, query


def _all_bytes(root):
    names = [name for name in root.list("") if not name.startswith(".scratch")]
    return {name: hashlib.sha256(root.read_bytes(name)).hexdigest() for name in names}


def _statements(root, outside):
    stored = f"{root.url}/predictions"
    sealed = "shiftlake://predictions"
    return [
        "INSERT INTO runs SELECT * FROM runs",
        "UPDATE runs SET model = 'x'",
        "DELETE FROM runs",
        "CREATE TABLE mine AS SELECT 1",
        "CREATE VIEW mine AS SELECT 1",
        "CREATE OR REPLACE VIEW predictions AS SELECT 1 AS x",
        "DROP VIEW predictions",
        "DROP TABLE runs",
        "ALTER TABLE runs RENAME TO others",
        f"ATTACH '{outside}/other.duckdb'",
        f"ATTACH '{stored}/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        f"COPY (SELECT 1) TO '{outside}/o.csv'",
        f"COPY (SELECT 1) TO '{stored}/o.csv'",
        f"COPY (SELECT 1) TO '{sealed}/o.parquet' (FORMAT parquet)",
        f"COPY (SELECT 1) TO '{sealed}/o.parquet' (FORMAT parquet, USE_TMP_FILE false)",
        "COPY (SELECT 1) TO '/dev/stdout'",
        f"EXPORT DATABASE '{outside}/export'",
        f"EXPORT DATABASE '{sealed}/export'",
        f"IMPORT DATABASE '{outside}'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('file:///etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        f"SELECT * FROM read_text('{sealed}/../../etc/passwd')",
        f"SELECT * FROM read_text('{stored}/../models/resnet.json')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '1GB'",
        "CREATE SECRET s (TYPE s3)",
        "SELECT getenv('HOME')",
        "CREATE SCHEMA mine",
        "CREATE SEQUENCE mine",
        "CREATE TYPE mine AS ENUM ('a')",
        "CREATE MACRO mine() AS 1",
        "CREATE TEMP VIEW mine AS SELECT * FROM read_text('/etc/passwd')",
        "CREATE TEMP MACRO mine() AS TABLE SELECT * FROM read_text('/etc/passwd')",
        "ATTACH ':memory:' AS mine",
        "ATTACH 'shiftlake://tables/other.duckdb'",
        "DETACH results",
        "FORCE INSTALL httpfs",
        "UPDATE EXTENSIONS",
        f"LOAD '{outside}/x.duckdb_extension'",
        "COPY runs TO 'shiftlake://tables/runs.parquet' (FORMAT parquet, USE_TMP_FILE false)",
        "COPY (SELECT 1) TO 's3://bucket/x.parquet'",
        "SELECT * FROM read_blob('/etc/passwd')",
        "SELECT * FROM read_json('/proc/self/environ')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM read_duckdb('/etc/passwd')",
        "SELECT * FROM read_parquet('shiftlake://tables/../../../etc/passwd')",
        f"SELECT * FROM read_text('{root.url}/models/resnet.json')",
        "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
        "SELECT * FROM query_table('/etc/passwd')",
        "SELECT * FROM read_csv('https://127.0.0.1:9/x.csv')",
        "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
        "SELECT * FROM glob('**')",
        "SELECT * FROM glob('shiftlake://**')",
        "SELECT * FROM duckdb_secrets()",
        "PRAGMA enable_profiling",
        f"PRAGMA profiling_output = '{outside}/profile.json'",
        f"SET log_query_path = '{outside}/log'",
        f"SET temp_directory = '{outside}'",
        "SET max_temp_directory_size = '1TB'",
        "SET allowed_paths = ['/etc/passwd']",
        "SET GLOBAL threads = 64",
        "RESET memory_limit",
        "CALL enable_logging()",
        "CALL force_checkpoint()",
        f"SELECT * FROM read_blob('{sealed}/../../../etc/passwd')",
    ]


def test_no_statement_writes_or_looks_outside_even_past_the_check_of_its_kind(lake, tmp_path):
    rows = rows_of([1, 2], made_logits([1, 2], 0))
    lake.run(lake.model("resnet"), lake.dataset("imagenet_sketch/clean"), rows)
    before = _all_bytes(lake.root)
    outside = tmp_path / "outside"
    outside.mkdir()
    # One connection for all: what one statement opened, a later one could use.
    with connect(lake.root) as con:
        for statement in _statements(lake.root, outside):
            with pytest.raises(duckdb.Error):
                con.execute(statement).fetchall()
    assert _all_bytes(lake.root) == before
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "statement",
    ["SELECT * FROM read_text($1)", "FROM read_csv($1)", "COPY (SELECT 1) TO $1", "ATTACH $1"],
)
def test_no_parameter_names_a_file_outside(lake, tmp_path, statement):
    path = tmp_path / "secret"
    path.write_text("a,b")
    with connect(lake.root) as con, pytest.raises(duckdb.Error):
        con.execute(statement, [str(path)]).fetchall()
    assert path.read_text() == "a,b"


def test_a_session_may_keep_temporary_tables_to_itself(lake):
    with connect(lake.root) as con, connect(lake.root) as other:
        con.execute("CREATE TEMP TABLE mine AS SELECT 7 AS x")
        assert con.execute("SELECT x FROM mine").fetchall() == [(7,)]
        with pytest.raises(duckdb.CatalogException):
            other.execute("SELECT x FROM mine")
    assert lake.root.list("results") == []


def test_memory_and_disk_are_limited_unless_told_otherwise(lake):
    question = "SELECT current_setting('memory_limit'), current_setting('max_temp_directory_size')"
    free = shutil.disk_usage(lake.root.scratch()).free
    with connect(lake.root) as con, connect(lake.root, memory_limit="1GiB", threads=1) as small:
        memory, disk = con.execute(question).fetchone()
        assert small.execute(f"{question}, current_setting('threads')").fetchone()[0::2] == (
            "1.0 GiB",
            1,
        )
    assert 0 < _bytes(memory) < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < _bytes(disk) < free


def test_a_statement_cannot_fill_the_disk(lake, monkeypatch):
    monkeypatch.setattr("ops.results.connection._DISK_SHARE", 1e-9)
    with connect(lake.root, memory_limit="40MB", threads=1) as con:
        with pytest.raises(duckdb.OutOfMemoryException):
            con.execute("CREATE TEMP TABLE t AS SELECT hash(range) AS x FROM range(20000000)")
        assert con.execute("SELECT 1").fetchall() == [(1,)]


def _bytes(text):
    number, unit = text.split()
    return float(number) * 1024 ** ["bytes", "KiB", "MiB", "GiB", "TiB"].index(unit)


def test_no_sealed_file_can_be_overwritten(lake):
    rows = rows_of([1, 2], made_logits([1, 2], 0))
    lake.run(lake.model("resnet"), lake.dataset("imagenet_sketch/clean"), rows)
    before = _all_bytes(lake.root)
    with connect(lake.root) as con:
        sealed = con.execute("SELECT file FROM glob('shiftlake://predictions/**')").fetchall()
        assert len(sealed) == 3  # two shards, and the empty file that carries the columns
        for (path,) in sealed:
            with pytest.raises(duckdb.Error, match="read-only"):
                con.execute(f"COPY (SELECT 1) TO '{path}' (FORMAT parquet, USE_TMP_FILE false)")
    assert _all_bytes(lake.root) == before


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("INSERT INTO runs SELECT * FROM runs", "INSERT"),
        ("CREATE TEMP TABLE t AS SELECT 1", "CREATE"),
        ("COPY (SELECT 1) TO 'x.csv'", "COPY"),
        ("SET threads = 1", "SET"),
        ("ATTACH ':memory:' AS m", "ATTACH"),
        ("CALL pragma_version()", "CALL"),
        ("PREPARE q AS SELECT 1", "PREPARE"),
    ],
)
def test_query_refuses_what_is_no_reading_by_its_kind(lake, statement, kind):
    with pytest.raises(ShiftlakeError, match=f"(?s)read-only.*kind {kind}"):
        query(lake.root, statement)


def test_query_runs_one_statement_at_a_time(lake):
    with pytest.raises(ShiftlakeError, match="2 statements"):
        query(lake.root, "SELECT 1; DROP VIEW predictions")
    with pytest.raises(ShiftlakeError, match="There is no statement"):
        query(lake.root, "-- nothing")


WRITING = "COPY (SELECT 1) TO '{}/x.csv'"


@pytest.mark.parametrize(
    "statement",
    [
        f"EXPLAIN ANALYZE {WRITING}",
        f"explain (ANALYZE, FORMAT json) {WRITING}",
        f"EXPLAIN ANALYZE /* /* */ SELECT 1 -- */ {WRITING}",
        "COPY (PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)) TO '{}/x.csv'",
        "EXPLAIN ANALYZE COPY (PIVOT (SELECT 1 AS a) ON a) TO '{}/x.csv'",
    ],
)
def test_no_write_hides_in_another_statement_even_where_duckdb_would_write(
    lake, tmp_path, statement, monkeypatch
):
    # DuckDB lets every connection write below the folder that it spills to.
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setattr("ops.results.connection.uuid.uuid4", lambda: SimpleNamespace(hex="0" * 32))
    with connect(lake.root) as con:
        (spill,) = con.execute("SELECT current_setting('temp_directory')").fetchone()
    Path(spill).mkdir(parents=True, exist_ok=True)
    with pytest.raises(ShiftlakeError, match="read-only"):
        query(lake.root, statement.format(spill))
    assert not list(tmp_path.rglob("x.csv"))


def test_reading_statements_of_every_kind_are_run(lake):
    for statement in (
        "EXPLAIN FROM runs",
        "EXPLAIN ANALYZE SELECT 1",
        "EXPLAIN (FORMAT json) SELECT 1",
        "DESCRIBE runs",
        "PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)",
        "FROM (PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b))",
        "EXPLAIN PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)",
    ):
        assert query(lake.root, statement, "json") != "[]"


def test_a_pattern_names_the_files_that_fit_it_alone(lake):
    rows = rows_of([1, 2], made_logits([1, 2], 0))
    for name in ("a", "b"):
        lake.run(lake.model(name), lake.dataset("imagenet_sketch/clean"), rows)
    count = "SELECT count(*) FROM glob('shiftlake://predictions/{}')"
    with connect(lake.root) as con:
        for pattern, n in (
            ("**", 5),
            ("**/*.parquet", 5),
            ("model=a/**/*.parquet", 2),
            ("*/*/*/*/*/part-000001.parquet", 2),
            ("*.parquet", 0),
            ("../**", 0),
        ):
            assert con.execute(count.format(pattern)).fetchone() == (n,), pattern


def test_python_variables_are_no_tables(lake):
    rows = [1, 2, 3]  # noqa: F841  a replacement scan would find it by its name
    with pytest.raises(ShiftlakeError, match="rows does not exist"):
        query(lake.root, "SELECT * FROM rows")


def test_a_large_sort_may_spill(lake):
    with connect(lake.root, memory_limit="40MB") as con:
        # 32 MB of keys and as much of values do not fit.
        found = con.execute(
            "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY hash(range)) AS r "
            "FROM range(2000000))"
        ).fetchone()
    assert found == (2000000,)
