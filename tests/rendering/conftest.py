"""One small lake, rendered without any trouble, to compare with."""

from __future__ import annotations

import pytest
from rendering_parts import CHEAP, Lake, lake_of, photograph, val_samples

from ops.rendering import render

N = 14


@pytest.fixture(scope="session")
def files() -> list[bytes]:
    return [photograph(number) for number in range(N)]


@pytest.fixture(scope="session")
def rendered(files: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Three source shards and five rendered datasets. Do not change."""
    lake = lake_of(tmp_path_factory.mktemp("rendered"), val_samples(files), per_shard=5)
    render(lake.root, lake.catalog, CHEAP, workers=1)
    return lake
