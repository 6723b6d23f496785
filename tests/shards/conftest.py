"""The miniature, fetched once and built once; tests that change something make their own copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from shard_parts import Made, cut_out, fetch_for, same_sources, write_overlay

from ops.catalog import load
from ops.miniature import MiniatureUpstream
from ops.shards import build_many
from ops.storage import open_root


@pytest.fixture(scope="session")
def upstream(miniature: MiniatureUpstream) -> MiniatureUpstream:
    return miniature


@pytest.fixture(scope="session")
def fetched(upstream: MiniatureUpstream, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All sources and no shards. Do not change."""
    folder = tmp_path_factory.mktemp("fetched")
    overlay = write_overlay(folder / "overlay.yaml", upstream)
    root, catalog = open_root(folder / "lake"), load(str(overlay))
    fetch_for(root, catalog, catalog.datasets)
    return Made(root, catalog, overlay)


@pytest.fixture(scope="session")
def lake(fetched: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Every dataset there is that is cut out of archives, sealed. Do not change."""
    made = same_sources(fetched, tmp_path_factory.mktemp("full") / "lake")
    build_many(made.root, made.catalog, cut_out(made.catalog))
    return made


@pytest.fixture
def fresh(fetched: Made, tmp_path: Path) -> Made:
    """All sources and no shards, to do with as one likes."""
    return same_sources(fetched, tmp_path / "lake")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHIFTLAKE_SCRATCH", "SHIFTLAKE_ROOT", "SHIFTLAKE_CATALOG", "SHIFTLAKE_MIRROR"):
        monkeypatch.delenv(name, raising=False)
