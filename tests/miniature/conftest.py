"""The published archives of the miniature, opened by ordinary tools."""

from __future__ import annotations

import pytest
from published_archives import Open, unpack

from ops.miniature import MiniatureUpstream


@pytest.fixture(scope="session")
def opened(miniature: MiniatureUpstream) -> Open:
    return lambda benchmark, file: unpack(miniature.path(benchmark, file).read_bytes())
