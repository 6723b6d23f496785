"""What rooms share: the small miniature, built once, and a clean environment."""

import os

import pytest

from ops.miniature import build

_SETTINGS = ("SHIFTLAKE_", "AWS_", "HF_TOKEN", "HF_ENDPOINT", "DAGSTER_HOME")


@pytest.fixture(autouse=True, scope="session")
def no_settings_of_the_caller():
    """A developer's own lake, mirrors and keys must not reach a test."""
    for name in [name for name in os.environ if name.startswith(_SETTINGS)]:
        del os.environ[name]


@pytest.fixture(scope="session")
def miniature(tmp_path_factory):
    """The miniature upstream of size ``test``."""
    return build(tmp_path_factory.mktemp("miniature") / "upstream", size="test")
