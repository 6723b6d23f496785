"""The checks behind a mined dataset find what they are there for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from mined_source import MadeSource, dogs

from ops.catalog import load
from ops.shards import read_manifest
from ops.storage import Root, open_root
from ops.video import checks
from ops.video.mining import MINED_TABLES, mine

NAME = "frame_sets/made"
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    base = tmp_path_factory.mktemp("checked")
    root = open_root(base / "lake")
    # Of four frames no set of seven is full.
    videos = dogs(base / "videos", "a") | dogs(base / "videos", "b", frames=4)
    mine(root, load(), MadeSource(videos), workers=1)
    return root


def problems(
    root: Root, monkeypatch: pytest.MonkeyPatch, table: str, change: Callable[[Rows], object]
) -> dict[str, list[str]]:
    """What the checks say once rows of a table are others."""
    read = checks.read_mined

    def changed(root: Root, source: str, name: str) -> pa.Table:
        found = read(root, source, name)
        if name != table:
            return found
        rows = found.to_pylist()
        change(rows)
        return pa.Table.from_pylist(rows, schema=MINED_TABLES[name])

    monkeypatch.setattr(checks, "read_mined", changed)
    return {name: found[0] for name, found in checks.check_frame_sets(root, NAME).items()}


def test_a_sound_dataset_has_no_problem_and_is_counted(root: Root) -> None:
    found = checks.check_frame_sets(root, NAME)
    assert {name: problems for name, (problems, _) in found.items()} == {
        "counts": [], "within_k": [], "one_video": [], "decodes": []
    }  # fmt: skip
    numbers = found["counts"][1]
    assert numbers["anchors"] == 2
    assert numbers["accounted_for"] == 2 * 7
    assert numbers["frames"] == read_manifest(root, NAME).n_samples
    assert found["decodes"][1] == {"decoded": numbers["frames"]}


def set_in(row: int, **values: object) -> Callable[[Rows], object]:
    return lambda rows: rows[row].update(values)


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("counts", lambda rows: rows.pop()),
        ("counts", lambda rows: rows.append(rows[0])),
        ("within_k", set_in(0, frame_offset=4)),
        ("within_k", set_in(1, frame=999)),
        ("within_k", set_in(1, seconds=99.0)),
        ("one_video", set_in(0, clip="other")),
        ("one_video", set_in(0, video="other")),
        ("decodes", lambda rows: rows.pop()),
        ("decodes", set_in(0, sha256="0" * 64)),
        ("decodes", set_in(0, width=95)),
        ("decodes", set_in(0, sample_key="a/none")),
    ],
)
def test_each_check_finds_its_fault(
    root: Root, monkeypatch: pytest.MonkeyPatch, check: str, change: Callable[[Rows], object]
) -> None:
    assert problems(root, monkeypatch, "frames", change)[check]


def test_frames_that_vanish_from_the_account_are_noticed(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_more(rows: Rows) -> None:
        rows[0]["n_anchors"] += 1

    assert problems(root, monkeypatch, "videos", one_more)["counts"]
    monkeypatch.undo()
    assert problems(root, monkeypatch, "left_out", lambda rows: rows.pop())["counts"]


def test_a_shard_that_changed_is_named(root: Root) -> None:
    (entry,) = read_manifest(root, NAME).shards
    path = f"shards/{NAME}/{entry.name}"
    whole = root.read_bytes(path)
    at = whole.index(b"\xff\xd8\xff") + 700
    try:
        root.write_bytes(path, whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        (found, _) = checks.check_frame_sets(root, NAME)["decodes"]
        assert any("sha256" in problem for problem in found)
        assert hashlib.sha256(root.read_bytes(path)).hexdigest() != entry.sha256
    finally:
        root.write_bytes(path, whole)
