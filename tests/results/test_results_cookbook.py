"""Every query of the SQL cookbook runs, and finds something, on a full lake."""

import csv
import io
import re
from pathlib import Path

import pytest

from ops.results import query

TEXT = (Path(__file__).parents[2] / "docs" / "sql-cookbook.md").read_text("utf-8")
QUERIES = dict(re.findall(r"### \d+\. ([^\n]+)\n(?:(?!###).)*?```sql\n(.*?)```", TEXT, re.S))
EMPTY_WHEN_ALL_IS_WELL = {"Runs whose numbers are not yet in the table of metrics"}


def test_the_test_sees_every_query():
    assert len(QUERIES) == TEXT.count("```sql") >= 15


@pytest.mark.parametrize("title", QUERIES)
def test_a_query_of_the_cookbook_finds_rows(full_lake, title):
    rows = list(csv.reader(io.StringIO(query(full_lake.root, QUERIES[title], "csv"))))
    assert (len(rows) > 1) != (title in EMPTY_WHEN_ALL_IS_WELL)
