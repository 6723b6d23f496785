"""What no publisher would send is refused, early, by name, and leaves nothing outside."""

from __future__ import annotations

import gzip
import io
import resource
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_parts import PACKERS, contents, tar_of, tar_with, zip_of

from ops.fetch.archive import index_archive
from ops.fetch.archive_limits import HostileArchive, Limits

NAMES = [
    "../escape.jpg",
    "a/../../escape.jpg",
    "a/..",
    "/etc/passwd",
    "a\\b.jpg",
    "C:/windows.jpg",
    "c:relative.jpg",
    "bell\a.jpg",
    "line\nbreak.jpg",
]


def refused(path: Path, match: str, **options: object) -> None:
    with pytest.raises(HostileArchive, match=match) as caught:
        contents(path, **options)  # type: ignore[arg-type]
    assert str(path) in str(caught.value.where)


@pytest.mark.parametrize("packed", ["plain", "gz"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_leave_a_tar(tmp_path: Path, name: str, packed: str) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(PACKERS[packed](tar_of([("good.jpg", b"1"), (name, b"2")])))
    refused(path, "name")
    assert sorted(each.name for each in tmp_path.parent.glob("*escape*")) == []


@pytest.mark.parametrize("name", NAMES)
def test_names_that_leave_a_zip(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(zip_of([("good.jpg", b"1"), (name, b"2")]))
    refused(path, "name")


@pytest.mark.parametrize("name", ["../x.jpg", "/x.jpg"])
def test_names_that_leave_by_an_extended_header(tmp_path: Path, name: str) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("innocent.jpg")
        info.pax_headers = {"path": name}
        archive.addfile(info)
    path = tmp_path / "bad.tar"
    path.write_bytes(target.getvalue())
    refused(path, "name")


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_of([("caf\udce9.jpg", b"1")]))
    refused(path, "UTF-8")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.CHRTYPE, "a character device"),
        (tarfile.BLKTYPE, "a block device"),
        (tarfile.FIFOTYPE, "a fifo"),
        (tarfile.GNUTYPE_SPARSE, "a sparse file"),
        (b"V", "type b'V'"),
    ],
)
@pytest.mark.parametrize("packed", ["plain", "gz"])
def test_links_devices_and_sparse_files(
    tmp_path: Path, kind: bytes, told: str, packed: str
) -> None:
    info = tarfile.TarInfo("strange.jpg")
    info.type, info.linkname = kind, "innocent.jpg"
    path = tmp_path / "bad.tar"
    path.write_bytes(PACKERS[packed](tar_with(info)))
    refused(path, told)


def test_a_file_without_a_name(tmp_path: Path) -> None:
    info = tarfile.TarInfo("./")
    info.size = 3
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_with(info, b"abc"))
    refused(path, "special member")


def test_a_long_link_name(tmp_path: Path) -> None:
    info = tarfile.TarInfo("strange.jpg")
    info.type, info.linkname = tarfile.SYMTYPE, "x" * 300
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_with(info))
    refused(path, "link")


def test_a_sparse_file_of_the_newer_kind(tmp_path: Path) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("sparse.jpg")
        info.pax_headers = {"GNU.sparse.realsize": "99999999999", "GNU.sparse.map": "0,1"}
        archive.addfile(info)
    path = tmp_path / "bad.tar"
    path.write_bytes(target.getvalue())
    refused(path, "sparse")


def test_a_symbolic_link_in_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link.jpg")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    refused(path, "file mode 120777")


def test_an_encrypted_zip(tmp_path: Path) -> None:
    data = bytearray(zip_of([("a.jpg", b"secret")], zipfile.ZIP_STORED))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    path = tmp_path / "bad.zip"
    path.write_bytes(data)
    refused(path, "encrypted")


def test_a_zip_packed_in_another_way(tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(zip_of([("a.jpg", b"text" * 99)], zipfile.ZIP_LZMA))
    refused(path, "method 14")


def claims(size: int) -> bytes:
    """A tar header that claims `size` bytes, with nothing behind it."""
    info = tarfile.TarInfo("claims.jpg")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("packed", ["plain", "gz"])
def test_a_member_that_claims_too_much(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(PACKERS[packed](claims(50 << 30)))
    refused(path, r"53,687,091,200 bytes")
    assert not (tmp_path / "spool").exists() or (tmp_path / "spool").stat().st_size == 0


def test_an_extended_header_without_end(tmp_path: Path) -> None:
    for size in (1 << 40, -1 << 40):
        info = tarfile.TarInfo("././@LongLink")
        info.type, info.size = tarfile.GNUTYPE_LONGNAME, size
        path = tmp_path / "bad.tar"
        path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
        refused(path, "extended header")


def bomb(path: Path, claimed: int, streamed: int) -> None:
    """A gzip of a tar whose one member is zeros; one deflated block stands for all of them."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = block.compress(bytes(1 << 20)) + block.flush(zlib.Z_FULL_FLUSH)
    head = zlib.compressobj(9, zlib.DEFLATED, -15)
    with path.open("wb") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
        file.write(head.compress(claims(claimed)) + head.flush(zlib.Z_FULL_FLUSH))
        for _ in range(streamed >> 20):
            file.write(zeros)
        file.write(b"\x03\x00" + struct.pack("<II", 0, 0))


@pytest.mark.parametrize("claimed", [10 << 30, (1 << 30) - 512], ids=["claimed", "below limit"])
def test_ten_gigabytes_of_zeros(tmp_path: Path, claimed: int) -> None:
    path = tmp_path / "bomb.tar.gz"
    bomb(path, claimed, 10 << 30)
    assert path.stat().st_size < 12 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(path, "larger|without end")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < 100 << 20, "a bomb must not fill the memory"
    spool = tmp_path / "spool"
    assert not spool.exists() or spool.stat().st_size < 700 << 20, "nor the disk"


def test_a_bomb_behind_the_end_of_the_tar(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(tar_of([("a.jpg", b"1")]) + bytes(200 << 20), 9))
    refused(path, "without end")


def test_a_zip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of([("zeros.jpg", bytes(100 << 20))]))
    refused(path, "without end")


def test_a_zip_bomb_of_many_small_parts(tmp_path: Path) -> None:
    one = zip_of([("zeros.jpg", bytes(60 << 20))])
    end = one.rindex(b"PK\x05\x06")
    directory = one.index(b"PK\x01\x02")
    entry = one[directory:end]
    # A thousand names for the same packed bytes: 60 GB out of a hundred kilobytes.
    entries = [entry.replace(b"zeros.jpg", b"z%04d.jpg" % n) for n in range(1000)]
    tail = bytearray(one[end:])
    struct.pack_into("<HHI", tail, 8, len(entries), len(entries), len(entry) * len(entries))
    path = tmp_path / "bomb.zip"
    path.write_bytes(one[:directory] + b"".join(entries) + tail)
    refused(path, "without end")


def test_a_bomb_inside_a_zip(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of([("zeros.jpg", bytes(150 << 20))]), 9)
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of([("i.tgz", inner)], zipfile.ZIP_STORED))
    refused(path, "without end", nested=lambda name: name == "i.tgz")


def test_a_smaller_limit_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of([("big.jpg", bytes(5000))]))
    refused(path, "5,000 bytes", limits=Limits(member=4999))
    assert len(contents(path, limits=Limits(member=5000))) == 1


def test_text_that_packs_well_is_no_bomb(tmp_path: Path) -> None:
    words = b"".join(b"%d synset of class %d\n" % (n, n * 7919 % 1000) for n in range(300_000))
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(tar_of([(f"{n}.txt", words) for n in range(12)]), 1))
    assert len(contents(path)) == 12


@pytest.mark.parametrize("make", [lambda: tar_of([("a", b"1")]), lambda: zip_of([("a", b"1")])])
def test_indexing_writes_nothing_beside_the_archive(
    tmp_path: Path, make: Callable[[], bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(make())
    index_archive(path, spool=tmp_path / "scratch" / "spool")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
