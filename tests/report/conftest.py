"""One filled lake, and the page written from it, for all tests of the report."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from report_lake import HOSTILE, MODELS, fill, made_metrics

from ops.catalog import Catalog, load
from ops.report import write_report
from ops.storage import Root, open_root

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load()


@pytest.fixture(scope="session")
def filled(tmp_path_factory) -> Root:
    """Two models with pictures, and one more whose name is a script. Do not change."""
    root = open_root(tmp_path_factory.mktemp("report") / "my-lake")
    fill(root, (*MODELS, HOSTILE))
    return root


@pytest.fixture(scope="session")
def page(filled, catalog) -> str:
    return filled.read_bytes(write_report(filled, catalog, now=NOW)).decode()


@pytest.fixture(scope="session")
def crowd(tmp_path_factory, catalog) -> str:
    """The page of 1,000 models."""
    root = open_root(tmp_path_factory.mktemp("crowd") / "crowd")
    made_metrics(root, tuple(f"some_architecture_large.variant_{i:04}" for i in range(1000)))
    return root.read_bytes(write_report(root, catalog, now=NOW)).decode()
