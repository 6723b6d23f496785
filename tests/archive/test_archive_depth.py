"""Archives in archives are looked into as deep as benchmarks have them, and no deeper."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_parts import contents, tar_of

from ops.fetch.archive_limits import HostileArchive


def tars_in_tars(depth: int) -> bytes:
    data = tar_of([("a.jpg", b"1")])
    for _ in range(depth):
        data = tar_of([("t.tar", data)])
    return data


@pytest.mark.parametrize("depth", [3, 150])
def test_tars_in_tars_without_end(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.tar"
    path.write_bytes(tars_in_tars(depth))
    with pytest.raises(HostileArchive, match="deeper") as caught:
        contents(path, nested=lambda name: name.endswith(".tar"))
    assert str(path) in str(caught.value.where)


def test_a_tar_in_a_tar_in_a_tar(tmp_path: Path) -> None:
    path = tmp_path / "deep.tar"
    path.write_bytes(tars_in_tars(2))
    found = contents(path, nested=lambda name: name.endswith(".tar"))
    assert found == {"t.tar/t.tar/a.jpg": b"1"}
