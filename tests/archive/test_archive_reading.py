"""Every published kind of archive is read to the byte, whatever its name says."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from archive_parts import PACKERS, Files, contents, tar_of, zip_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.errors import ShiftlakeError
from ops.fetch.archive import index_archive
from ops.fetch.archive_members import Members, Span

FILES: Files = {
    "top/n01440764/a.JPEG": random.Random(0).randbytes(70_001),
    "top/n01440764/empty.JPEG": b"",
    "top/n01443537/block.JPEG": b"x" * 512,
    "top/README.txt": b"text " * 1000,
}
LONG = "deep/" * 40 + "name_" * 20 + ".JPEG"


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize(
    "format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=str
)
def test_tars_of_all_formats_and_packings(tmp_path: Path, packed: str, format: int) -> None:
    path = tmp_path / "misnamed.zip"
    path.write_bytes(PACKERS[packed](tar_of(FILES.items(), format)))
    assert contents(path) == FILES
    assert (tmp_path / "spool").exists() == (packed != "plain")


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_foreign_names(tmp_path: Path, format: int) -> None:
    files = {LONG: b"1", "émeu/größe.jpg": b"2", "plain.jpg": b"3"}
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of(files.items(), format))
    assert contents(path) == files


def test_a_prefixed_ustar_name(tmp_path: Path) -> None:
    name = "p" * 90 + "/" + "q" * 60 + ".jpg"
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of([(name, b"data")], tarfile.USTAR_FORMAT))
    assert contents(path) == {name: b"data"}


def test_a_v7_tar_without_magic(tmp_path: Path) -> None:
    info = tarfile.TarInfo("old.jpg")
    info.size, info.type = 3, tarfile.AREGTYPE
    block = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    block[257:265] = bytes(8)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(block) + b"abc".ljust(512, b"\0") + bytes(1024))
    assert contents(path) == {"old.jpg": b"abc"}


def test_a_pax_size_beats_the_header(tmp_path: Path) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("big.jpg")
        info.size, info.pax_headers = 600, {"size": "600", "path": "true/name.jpg"}
        archive.addfile(info, io.BytesIO(b"y" * 600))
    path = tmp_path / "a.tar"
    path.write_bytes(target.getvalue())
    assert contents(path) == {"true/name.jpg": b"y" * 600}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zips(tmp_path: Path, method: int) -> None:
    path = tmp_path / "misnamed.tar.gz"
    path.write_bytes(zip_of({"top/": b"", **FILES}.items(), method))
    assert contents(path) == FILES
    assert not (tmp_path / "spool").exists(), "a zip is read in place"


@pytest.mark.parametrize("packed", PACKERS)
def test_a_tar_in_a_tar(tmp_path: Path, packed: str) -> None:
    inner = PACKERS[packed](tar_of(FILES.items()))
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of([("n1.tar", inner), ("beside.txt", b"b"), ("n2.tar", inner)]))
    found = contents(path, nested=lambda name: name.endswith(".tar"))
    inside = {
        f"{outer}/{name}": data for outer in ("n1.tar", "n2.tar") for name, data in FILES.items()
    }
    assert found == {**inside, "beside.txt": b"b"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("packed", PACKERS)
def test_a_tar_in_a_zip(tmp_path: Path, packed: str, method: int) -> None:
    inner = PACKERS[packed](tar_of(FILES.items()))
    path = tmp_path / "a.zip"
    path.write_bytes(
        zip_of([("c/Annotations.tar", b"not looked into"), ("c/i.tgz", inner)], method)
    )
    found = contents(path, nested=lambda name: name.endswith(".tgz"))
    inside = {f"c/i.tgz/{name}": data for name, data in FILES.items()}
    assert found == {**inside, "c/Annotations.tar": b"not looked into"}


@pytest.mark.parametrize("packed", ["plain", "gz"])
def test_only_what_is_wanted_is_inflated(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(PACKERS[packed](tar_of(FILES.items())))
    found = contents(path, wanted=lambda name: name.endswith("block.JPEG"))
    assert found == {"top/n01443537/block.JPEG": b"x" * 512}
    if packed == "gz":
        assert (tmp_path / "spool").stat().st_size == 512


def test_names_lose_their_leading_dot(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of([("./val/a.jpg", b"1"), ("val//b.jpg", b"2")]))
    assert contents(path) == {"val/a.jpg": b"1", "val/b.jpg": b"2"}


def test_a_missing_member_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of(FILES.items()))
    members = index_archive(path, spool=tmp_path / "spool")
    assert members.read("top/README.txt") == FILES["top/README.txt"]
    with pytest.raises(ShiftlakeError, match=r"top/ClassName\.txt"):
        members.read("top/ClassName.txt")


def test_an_index_may_alternate_between_many_files() -> None:
    members = Members()
    for number in range(70_000):
        members.add(f"{number}", Span("ab"[number % 2], number, 1))
    assert members.span(69_999) == Span("b", 69_999, 1)
    assert members.span(4) == Span("a", 4, 1)


PART = st.text("abcXYZ019_-é .", min_size=1, max_size=30).filter(lambda text: text.strip(". "))
NAME = st.lists(PART, min_size=1, max_size=6).map("/".join)
TREES = st.dictionaries(
    NAME,
    st.one_of(st.sampled_from([0, 1, 511, 512, 513]), st.integers(0, 5000)).map(
        lambda size: random.Random(size).randbytes(size)
    ),
    max_size=12,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    files=TREES,
    format=st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    packed=st.sampled_from(sorted(PACKERS)),
)
def test_any_tar_reads_as_the_standard_library_reads_it(
    tmp_path: Path, files: Files, format: int, packed: str
) -> None:
    path = tmp_path / "a.tar"
    data = tar_of(files.items(), format)
    path.write_bytes(PACKERS[packed](data))
    if not files:
        with pytest.raises(ShiftlakeError, match="archive"):
            contents(path)
        return
    with tarfile.open(path) as archive:
        expected = {each.name: archive.extractfile(each).read() for each in archive.getmembers()}  # type: ignore[union-attr]
    assert contents(path) == expected == files


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(files=TREES, method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_any_zip_reads_as_the_standard_library_reads_it(
    tmp_path: Path, files: Files, method: int
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zip_of(files.items(), method))
    with zipfile.ZipFile(path) as archive:
        expected = {name: archive.read(name) for name in archive.namelist()}
    assert contents(path) == expected == files
