"""What rooms share: the small miniature, built once, and a clean environment."""

import fcntl
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
    """The miniature upstream of size ``test``, drawn once for all processes. Do not change."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "miniature.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build(folder / "miniature", size="test")
