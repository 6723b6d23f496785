"""One handle, many threads: each reads its own bytes, whatever the others seek."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ops.results.shared_file import SharedFile


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers"
    np.arange(100_000, dtype="<u8").tofile(path)
    return path


def test_threads_do_not_move_each_other(numbers):
    def read(file, seed):
        for start in np.random.default_rng(seed).integers(0, 90_000, 2000).tolist():
            file.seek(8 * start)
            if np.frombuffer(file.read(8 * 500), "<u8")[0] != start:
                return False
        return True

    with SharedFile(numbers) as file, ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda seed: read(file, seed), range(8)))


def test_it_reads_like_any_file(numbers):
    with SharedFile(numbers) as shared, numbers.open("rb") as plain:
        for step in (
            lambda f: f.read(10),
            lambda f: f.seek(-16, io.SEEK_END),
            lambda f: f.read(100),
            lambda f: f.read(1),
            lambda f: f.seek(24),
            lambda f: f.seek(8, io.SEEK_CUR),
            lambda f: (f.read(8), f.tell()),
            lambda f: len(f.read()),
        ):
            assert step(shared) == step(plain)
    with pytest.raises(OSError, match="Bad file descriptor"):
        shared.read(1)
