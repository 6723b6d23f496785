"""query(): exact CSV and JSON, readable tables, errors that name the views."""

import csv
import io
import json

import pytest

from ops.errors import ShiftlakeError
from ops.results import query
from ops.results.connection import TABLES, VIEWS


def test_csv_and_json_hold_every_digit(full_lake):
    sql = "SELECT 0.1 + 0.2::DOUBLE AS x, 1/3 AS y, NULL AS z, true AS b, [1, 2] AS l, 'a,\"b' AS s"
    (row,) = csv.DictReader(io.StringIO(query(full_lake.root, sql, "csv")))
    assert float(row["y"]) == 1 / 3
    assert row["b"] == "true"
    assert row["z"] == ""
    assert json.loads(row["l"]) == [1, 2]
    assert row["s"] == 'a,"b'
    (found,) = json.loads(query(full_lake.root, sql, "json"))
    assert found["y"] == 1 / 3
    assert found["z"] is None
    assert found["l"] == [1, 2]


def test_json_is_valid_where_sql_has_nan_and_infinity(lake):
    sql = "SELECT 'nan'::DOUBLE AS n, 'infinity'::FLOAT AS i, [{a: 'nan'::DOUBLE}] AS l"
    assert json.loads(query(lake.root, sql, "json")) == [{"n": None, "i": None, "l": [{"a": None}]}]


def test_numbers_round_trip_between_views_and_text(full_lake):
    sql = "SELECT metric, value FROM metrics WHERE model = 'resnet50' ORDER BY ALL"
    from_json = [tuple(row.values()) for row in json.loads(query(full_lake.root, sql, "json"))]
    lines = csv.reader(io.StringIO(query(full_lake.root, sql, "csv")))
    from_csv = [(metric, float(value)) for metric, value in list(lines)[1:]]
    assert len(from_json) > 50
    assert from_csv == from_json


def test_a_table_shows_names_and_short_numbers(lake):
    text = query(lake.root, "SELECT 'resnet' AS model, 0.123456789::DOUBLE AS top1")
    assert "model" in text
    assert "0.123457" in text


def test_a_table_is_as_wide_as_its_content(full_lake):
    text = query(full_lake.root, "SELECT * FROM leaderboard")
    assert "imagenet_vid_robust" in text
    assert "mce_alexnet_pct" in text
    plan = query(full_lake.root, "EXPLAIN SELECT * FROM accuracy")
    assert "read_parquet" in plan.lower()


def test_limit_cuts_the_rows(lake):
    assert len(json.loads(query(lake.root, "FROM range(10)", "json", limit=3))) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "DESCRIBE predictions",
        "SHOW TABLES",
        "SUMMARIZE runs",
        "EXPLAIN SELECT * FROM leaderboard",
        "WITH x AS (SELECT 1 AS a) FROM x",
        "PIVOT leaderboard ON benchmark USING round(first(value_pct), 1) GROUP BY model",
    ],
)
def test_every_way_of_reading_is_open(full_lake, sql):
    assert len(query(full_lake.root, sql, "csv").splitlines()) > 1


def test_an_error_names_the_views(lake):
    with pytest.raises(ShiftlakeError, match="foo") as caught:
        query(lake.root, "SELECT * FROM foo")
    assert caught.value.expected == f"SQL over the views {', '.join(sorted((*VIEWS, *TABLES)))}"


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT FROM WHERE", "SELECT modle FROM models"])
def test_other_errors_do_not(lake, sql):
    with pytest.raises(ShiftlakeError, match="cannot be run") as caught:
        query(lake.root, sql)
    assert "leaderboard" not in str(caught.value.expected)


@pytest.mark.parametrize("sql", ["", "  ;", "-- nothing"])
def test_no_statement_is_said_to_be_none(lake, sql):
    with pytest.raises(ShiftlakeError, match="There is no statement"):
        query(lake.root, sql)


def test_a_table_without_rows_says_so(lake):
    text = query(lake.root, "SELECT model FROM models WHERE model = 'nobody'")
    assert "model" in text
    assert text.endswith("\n0 rows")
    assert query(lake.root, "SELECT 1 AS a WHERE false", "csv") == "a"


def test_an_unknown_format_is_refused(lake):
    with pytest.raises(ShiftlakeError, match="table, csv, json"):
        query(lake.root, "SELECT 1", "xml")


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_what_is_nested_is_written_as_json_in_every_format(full_lake, format):
    sql = "SELECT {'day': DATE '2026-01-02', 'x': [1.5, NULL]} AS found, 1 AS a, 2 AS b"
    text = query(full_lake.root, sql, format).replace('""', '"')
    assert '"day": "2026-01-02"' in text
    assert "None" not in text
    assert "Decimal" not in text


def test_an_error_below_a_file_says_no_more_than_what_is_wrong(full_lake):
    sql = "FROM read_parquet('shiftlake://predictions/../../passwd')"
    with pytest.raises(ShiftlakeError) as caught:
        query(full_lake.root, sql)
    assert "FileNotFoundError" in str(caught.value.found)
    assert "Traceback" not in str(caught.value.found)
    assert ".py" not in str(caught.value.found)
