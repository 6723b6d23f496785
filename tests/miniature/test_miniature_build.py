"""A build is repeatable, reused when complete, and never destroys what is not its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ops.errors import ShiftlakeError
from ops.miniature import MiniatureUpstream, build
from ops.miniature.sizes import SIZES
from ops.miniature.upstream import MARKER, finished


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_builds_are_byte_identical(miniature: MiniatureUpstream, tmp_path: Path) -> None:
    build(tmp_path / "again", size="test")
    assert digests(tmp_path / "again") == digests(miniature.folder)


def test_another_seed_draws_other_pictures_with_the_same_layout(
    miniature: MiniatureUpstream, tmp_path: Path
) -> None:
    other = build(tmp_path, size="test", seed=1, families=("imagenet",))
    val = ("imagenet-1k", "ilsvrc2012_val")
    assert other.path(*val).read_bytes() != miniature.path(*val).read_bytes()
    assert other.truth["imagenet_1k/val"] == miniature.truth["imagenet_1k/val"]


def test_a_complete_build_is_reused_and_an_interrupted_one_is_not(tmp_path: Path) -> None:
    first = build(tmp_path, size="test", families=("sun",))
    archive = first.path("sun-397", "sun397_tar")
    before = archive.stat().st_mtime_ns
    assert build(tmp_path, size="test", families=("sun",)) == first
    assert archive.stat().st_mtime_ns == before

    (tmp_path / "miniature.json").unlink()
    archive.write_bytes(b"half")
    again = build(tmp_path, size="test", families=("sun",))
    assert again.files == first.files
    assert archive.stat().st_size == next(
        facts["bytes"] for facts in first.files if facts["id"] == "sun397_tar"
    )


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ShiftlakeError, match=r"thesis\.tex"):
        build(tmp_path, size="test")
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_unknown_size_and_family_name_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ShiftlakeError, match="demo or test"):
        build(tmp_path, size="huge")  # type: ignore[arg-type]
    with pytest.raises(ShiftlakeError, match="caltech"):
        build(tmp_path, size="test", families=("videos",))


def test_noted_facts_are_those_of_the_files(miniature: MiniatureUpstream) -> None:
    for facts in miniature.files:
        content = miniature.path(facts["benchmark"], facts["id"]).read_bytes()
        assert facts["bytes"] == len(content)
        assert facts["sha256"] == hashlib.sha256(content).hexdigest()
        assert facts["md5"] == hashlib.md5(content).hexdigest()
        blob = b"blob %d\0" % len(content) + content
        assert facts["git_blob_sha1"] == hashlib.sha1(blob).hexdigest()


def test_demo_has_enough_to_train_on() -> None:
    assert SIZES["demo"].train >= 60
    assert SIZES["demo"].v2 == 10


def test_a_marker_of_another_version_is_no_finished_miniature(tmp_path: Path) -> None:
    folder = tmp_path / "upstream"
    folder.mkdir()
    (folder / MARKER).write_text('{"recipe": {"size": "test"}, "files": [], "expected": {}}')
    assert finished(folder) is None
    assert build(folder, size="test", families=("cifar",)).files
