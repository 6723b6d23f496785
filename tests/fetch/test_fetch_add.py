"""A file got by hand is recognised by its hash, else by its name, or refused with a reason."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from fault_server import noise, sha256

from ops.catalog import Catalog, load
from ops.fetch import AmbiguousFile, UnknownFile, WrongContent, add, read_receipt
from ops.storage import Root

VAL, NOISE_C, NOISE_P, VID = (noise(50_000 + seed, seed) for seed in range(4))


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The real catalog with the hashes of a few small stand-ins."""
    overlay = tmp_path_factory.mktemp("overlay") / "overlay.yaml"
    overlay.write_text(
        f"""
benchmarks:
  - id: imagenet-1k
    files:
      - {{id: ilsvrc2012_val, bytes: {len(VAL)}, sha256: "{sha256(VAL)}", md5: null, sha1: null}}
  - id: imagenet-c
    files:
      - {{id: imagenet_c_noise, bytes: {len(NOISE_C)}, md5: {hashlib.md5(NOISE_C).hexdigest()}}}
  - id: imagenet-p
    files:
      - {{id: imagenet_p_noise, md5: {hashlib.md5(NOISE_P).hexdigest()}}}
"""
    )
    return load(str(overlay))


def by_hand(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / "Downloads" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "entry", "fact"),
    [
        ("ILSVRC2012_img_val.tar", VAL, "imagenet-1k/ilsvrc2012_val", "sha256: catalog"),
        ("val-from-a-friend.bin", VAL, "imagenet-1k/ilsvrc2012_val", "sha256: catalog"),
        ("noise.tar", NOISE_C, "imagenet-c/imagenet_c_noise", "md5: catalog"),
        ("noise.tar", NOISE_P, "imagenet-p/imagenet_p_noise", "md5: catalog"),
        ("ILSVRC2017_VID.tar (1).gz", VID, "imagenet-vid/ilsvrc2017_vid", "first use"),
    ],
)
def test_it_is_recognised(
    tmp_path: Path, root: Root, catalog: Catalog, name: str, data: bytes, entry: str, fact: str
) -> None:
    path = by_hand(tmp_path, name, data)
    receipt = add(root, catalog, path)
    assert f"{receipt.benchmark}/{receipt.file}" == entry
    assert fact in receipt.verified_by
    file = catalog.file(receipt.benchmark, receipt.file)
    assert root.read_bytes(file.path) == data
    assert read_receipt(root, file) == receipt
    assert receipt.url is None
    assert path.read_bytes() == data, "the original stays"
    assert str(tmp_path) not in root.read_bytes(f"{file.path}.receipt.json").decode()
    assert add(root, catalog, path) == receipt


@pytest.mark.parametrize(
    ("name", "data", "error", "shown"),
    [
        ("holiday.tar", b"photos", UnknownFile, "none of the catalog's"),
        ("noise.tar", b"cut", WrongContent, f"imagenet-c/imagenet_c_noise: {len(NOISE_C):,} bytes"),
        ("ILSVRC2012_img_val.tar", VAL[:-1] + b"x", WrongContent, sha256(VAL)),
        ("ILSVRC2017_VID.tar.gz", b"<html><title>Log in</title>", WrongContent, "'Log in'"),
    ],
)
def test_it_is_refused_with_a_reason(
    tmp_path: Path, root: Root, catalog: Catalog, name: str, data: bytes, error: Any, shown: str
) -> None:
    with pytest.raises(error) as refused:
        add(root, catalog, by_hand(tmp_path, name, data))
    assert shown in str(refused.value)
    assert root.list("sources") == []
    assert list((root.scratch() / "fetch").glob("*.part")) == []


def test_a_name_that_fits_two_entries_is_not_guessed(
    tmp_path: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "benchmarks:\n"
        "  - {id: imagenet-c, files: [{id: imagenet_c_noise, bytes: null, md5: null}]}\n"
        "  - {id: imagenet-p, files: [{id: imagenet_p_noise, bytes: null, md5: null}]}\n"
    )
    with pytest.raises(AmbiguousFile, match="imagenet-p/imagenet_p_noise"):
        add(root, load(str(overlay)), by_hand(tmp_path, "noise.tar", NOISE_C))


def test_another_copy_of_a_file_without_hash_is_refused(
    tmp_path: Path, root: Root, catalog: Catalog
) -> None:
    add(root, catalog, by_hand(tmp_path, "ILSVRC2017_VID.tar.gz", VID))
    with pytest.raises(WrongContent, match="verified first"):
        add(root, catalog, by_hand(tmp_path, "ILSVRC2017_VID.tar.gz", VID[:-1]))
    assert root.read_bytes("sources/imagenet-vid/ILSVRC2017_VID.tar.gz") == VID


@pytest.mark.parametrize("name", ["missing.tar", "Downloads"])
def test_a_folder_or_nothing_is_refused(
    tmp_path: Path, root: Root, catalog: Catalog, name: str
) -> None:
    (tmp_path / "Downloads").mkdir()
    with pytest.raises(UnknownFile, match="no such file"):
        add(root, catalog, tmp_path / name)
