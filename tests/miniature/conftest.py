"""One small miniature for all tests of this room."""

from __future__ import annotations

import pytest
from published_archives import Open, unpack

from ops.miniature import MiniatureUpstream, build


@pytest.fixture(scope="session")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> MiniatureUpstream:
    return build(tmp_path_factory.mktemp("miniature"), size="test")


@pytest.fixture(scope="session")
def opened(miniature: MiniatureUpstream) -> Open:
    return lambda benchmark, file: unpack(miniature.path(benchmark, file).read_bytes())
