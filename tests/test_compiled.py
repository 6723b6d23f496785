"""What is kept of compiled functions is that of the sources as they are now."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ops.compiled import sources

ROOT = Path(__file__).resolve().parents[1]
CALLED = """from ops.compiled import compiled

@compiled()
def grown(x):
    return x + {added}
"""
CALLING = """from ops.compiled import compiled
from scratch.inner.called import grown

@compiled()
def twice(x):
    return 2 * grown(x)
"""
RUN = "from scratch.calling import twice; print(twice(10), sum(twice.stats.cache_hits.values()))"


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "scratch"
    (folder / "inner").mkdir(parents=True)
    for at in (folder, folder / "inner"):
        (at / "__init__.py").write_text("")
    (folder / "calling.py").write_text(CALLING)
    (folder / "inner" / "called.py").write_text(CALLED.format(added=1))
    return folder


def run(package):
    """What the compiled function returns in a new process, and whether its code was kept."""
    paths = {"PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT)])}
    environment = {**os.environ, **paths, "NUMBA_CACHE_DIR": ""}
    command = [sys.executable, "-c", RUN]
    found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return tuple(map(int, found.stdout.split()))


def test_a_function_kept_is_compiled_again_when_one_it_calls_elsewhere_is_edited(package):
    assert run(package) == (22, 0)
    assert run(package) == (22, 1)
    (package / "inner" / "called.py").write_text(CALLED.format(added=5))
    assert run(package) == (30, 0)
    assert run(package) == (30, 1)


def test_only_files_with_compiled_functions_count(package):
    before = sources.__wrapped__(package)
    (package / "other.py").write_text("x = 1\n")
    assert sources.__wrapped__(package) == before
    (package / "other.py").write_text(CALLED.format(added=1))
    assert sources.__wrapped__(package) != before
