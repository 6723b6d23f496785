"""A fetched file is verified, has a receipt, and is not fetched twice."""

from __future__ import annotations

import hashlib

import pytest
from fault_server import QUICK, FaultServer, known, noise, source

from ops.fetch import (
    AllUrlsFailed,
    ManualFile,
    WrongContent,
    fetch,
    local_source,
    read_receipt,
    verify_source,
)
from ops.storage import Root


def test_bytes_and_receipt_of_a_known_file(server: FaultServer, root: Root) -> None:
    data = noise(3_000_000)
    file = known(server.put("/noise.tar", data), data)
    receipt = fetch(root, file)
    assert root.read_bytes("sources/imagenet-c/noise.tar") == data
    assert receipt == read_receipt(root, file)
    assert receipt.sha256 == hashlib.sha256(data).hexdigest()
    assert (receipt.bytes, receipt.attempts) == (len(data), 1)
    assert receipt.url == f"{server.url}/noise.tar"
    assert receipt.verified_by == ["sha256: catalog", "size: catalog"]
    assert receipt.md5 is None, "md5 is slow and proves nothing beyond sha256"
    assert local_source(root, file).read_bytes() == data


def test_a_verified_file_is_not_asked_for_again(server: FaultServer, root: Root) -> None:
    data = noise(1000)
    file = known(server.put("/noise.tar", data), data)
    first = fetch(root, file)
    assert fetch(root, file) == first
    assert len(server.requests) == 1


def test_a_stored_file_of_another_size_is_fetched_again(server: FaultServer, root: Root) -> None:
    data = noise(1000)
    file = known(server.put("/noise.tar", data), data)
    fetch(root, file)
    root.write_bytes(file.path, data[:-1])
    with pytest.raises(WrongContent, match="another size"):
        verify_source(root, file)
    fetch(root, file)
    assert root.read_bytes(file.path) == data


def test_progress_counts_bytes_up_to_the_total(server: FaultServer, root: Root) -> None:
    data = noise(5_000_000)
    seen: list[tuple[int, int | None]] = []
    fetch(
        root,
        known(server.put("/noise.tar", data), data),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[0] == (0, len(data))
    assert seen[-1] == (len(data), len(data))
    assert len(seen) >= 4


@pytest.mark.parametrize("kind", ["md5", "sha1"])
def test_weaker_hashes_count_where_the_catalog_has_no_better(
    server: FaultServer, root: Root, kind: str
) -> None:
    data = noise(5000)
    digest = hashlib.new(kind, data).hexdigest()
    # Published hashes come in capitals and with blanks around them.
    file = source(server.put("/noise.tar", data), **{kind: f" {digest.upper()} "})
    receipt = fetch(root, file)
    assert receipt.verified_by == [f"{kind}: catalog"]
    assert getattr(receipt, kind) == digest


def test_a_git_blob_name_is_a_hash(server: FaultServer, root: Root) -> None:
    data = b'{"a": 1}'
    blob = hashlib.sha1(b"blob 8\0" + data).hexdigest()
    url = server.put("/labels.json", data, content_type="text/plain")
    file = source(url, name="labels.json", git_blob_sha1=blob)
    assert fetch(root, file).verified_by == ["git_blob_sha1: catalog"]
    with pytest.raises(AllUrlsFailed, match="git_blob_sha1"):
        fetch(root, source(url, name="other.json", git_blob_sha1="0" * 40), patience=QUICK)


def test_one_matching_hash_is_enough_where_copies_are_unproven(
    server: FaultServer, root: Root
) -> None:
    data = noise(5000)
    file = source(
        server.put("/noise.tar", data),
        sha256="0" * 64,
        md5=hashlib.md5(data).hexdigest(),
        hash_rule="any",
    )
    assert fetch(root, file).verified_by == ["md5: catalog"]


def test_first_use_is_trusted_and_held_to(server: FaultServer, root: Root) -> None:
    url = server.put("/noise.tar", noise(5000))
    file = source(url)
    assert fetch(root, file).verified_by == ["first use"]
    root.remove(file.path)
    server.put("/noise.tar", noise(5000, seed=1))
    with pytest.raises(AllUrlsFailed, match="first use"):
        fetch(root, file, patience=QUICK)
    server.put("/noise.tar", noise(5000))
    assert fetch(root, file).verified_by == ["sha256: first use"]


def test_a_copy_without_receipt_is_adopted_when_its_hash_is_right(
    server: FaultServer, root: Root
) -> None:
    data = noise(5000)
    file = known(server.put("/noise.tar", data), data)
    root.write_bytes(file.path, data)
    assert fetch(root, file).attempts == 0
    assert server.requests == []


def test_a_catalog_that_changed_its_mind_replaces_the_file(server: FaultServer, root: Root) -> None:
    old, new = noise(5000), noise(5000, seed=1)
    url = server.put("/noise.tar", old)
    fetch(root, known(url, old))
    file = known(url, new)
    with pytest.raises(AllUrlsFailed):
        fetch(root, file, patience=QUICK)
    assert root.read_bytes(file.path) == old, "the good old file stays until the new one is here"
    server.put("/noise.tar", new)
    fetch(root, file)
    assert root.read_bytes(file.path) == new


def test_verify_source_reads_the_bytes(server: FaultServer, root: Root) -> None:
    data = noise(5000)
    file = known(server.put("/noise.tar", data), data)
    with pytest.raises(WrongContent, match="never verified"):
        verify_source(root, file)
    fetch(root, file)
    verify_source(root, file)
    root.write_bytes(file.path, noise(5000, seed=1))
    with pytest.raises(WrongContent, match="changed since"):
        verify_source(root, file)


def test_a_file_without_url_says_how_to_get_it(root: Root) -> None:
    file = source(None, access="none", how_to_get="sign in at ImageNet")
    with pytest.raises(ManualFile, match="sign in at ImageNet"):
        fetch(root, file)


def test_file_url_leaves_no_machine_path_in_the_receipt(tmp_path, root: Root) -> None:
    data = noise(2_500_000)
    mirror = tmp_path / "mirror" / "noise.tar"
    mirror.parent.mkdir()
    mirror.write_bytes(data)
    receipt = fetch(root, known(mirror.as_uri(), data))
    assert receipt.url == "file:noise.tar"
    assert mirror.read_bytes() == data
    assert (
        str(tmp_path) not in root.read_bytes("sources/imagenet-c/noise.tar.receipt.json").decode()
    )


def test_an_empty_file_is_a_file(server: FaultServer, root: Root) -> None:
    file = known(server.put("/noise.tar", b""), b"")
    assert fetch(root, file).bytes == 0
    assert root.size(file.path) == 0
