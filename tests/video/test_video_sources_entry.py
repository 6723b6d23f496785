"""``source.yaml``: what may stand there, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_sources import BB, VID, with_yaml

from ops.errors import ShiftlakeError
from ops.video.sources import (
    FolderEntry,
    ImagenetVidEntry,
    YoutubeBbEntry,
    list_sources,
    read_source,
)

FOLDER = "kind: folder\nvideos: v\nlabels: l.csv\nlabel_space: imagenet_vid30\n"


def refused(tmp_path: Path, text: str) -> ShiftlakeError:
    with_yaml(tmp_path, "some", text)
    with pytest.raises(ShiftlakeError) as caught:
        read_source(tmp_path, "some")
    return caught.value


def test_every_kind_is_read_with_its_defaults(tmp_path):
    for name, text in (("a", VID), ("b", BB), ("c", FOLDER)):
        with_yaml(tmp_path, name, text)
    vid, bb, own = (read_source(tmp_path, name).entry for name in "abc")
    assert isinstance(vid, ImagenetVidEntry)
    assert (vid.split, vid.pictures, vid.frame_sets) == ("val", "frames", None)
    assert isinstance(bb, YoutubeBbEntry)
    assert (len(bb.labels), bb.label_space) == (4, "ytbb24")
    assert isinstance(own, FolderEntry)
    assert (own.boxes, own.dense, own.synthetic, own.mining.k) == ("pixels", False, False, 10)


def test_sources_are_the_folders_with_an_entry_and_a_fit_name(tmp_path):
    for name in ("b2", "a_1"):
        with_yaml(tmp_path, name, FOLDER)
    with_yaml(tmp_path, "Not-a-name", FOLDER)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert list_sources(tmp_path) == ["a_1", "b2"]
    assert list_sources(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("text", "key", "expected", "found"),
    [
        ("labels: l.csv\n", "kind", "folder", "none"),
        ("kind: film\n", "kind", "imagenet_vid", "film"),
        ("kind: [a]\n", "kind", "imagenet_vid", "['a']"),
        (FOLDER.replace("videos: v\n", ""), "videos", "a value", "none"),
        (FOLDER + "vidoes: x\n", "vidoes", "perhaps videos", "vidoes"),
        (FOLDER + "root: x\n", "root", "labels", "root"),
        (FOLDER + "synthetic: yes please\n", "synthetic", "bool", "yes please"),
        (FOLDER + "synthetic: 1\n", "synthetic", "bool", "1"),
        (FOLDER.replace("l.csv", "l.xlsx"), "labels", ".csv or .json", "l.xlsx"),
        (FOLDER.replace("imagenet_vid30", "My/Own"), "label_space", "pattern", "My/Own"),
        (FOLDER.replace("videos: v", "videos: http://x/y"), "videos", "this machine", "http"),
        (FOLDER.replace("videos: v", "videos: ' '"), "videos", "1 character", " "),
        (FOLDER + "boxes: percent\n", "boxes", "shares", "percent"),
        (FOLDER + "mining: {k: 0}\n", "mining / k", "greater", "0"),
        (FOLDER + "mining: {stride: 2, anchor: 3}\n", "mining / anchor", "anchors_per", "anchor"),
        (VID + "split: test\n", "split", "val", "test"),
        (VID + "frame_sets: {pmsets: a.json}\n", "frame_sets / labels", "a value", "none"),
        (VID + "label_space: ytbb24\n", "label_space", "imagenet_vid30", "ytbb24"),
        ("kind: youtube_bb\nvideos: v\nlabels: []\n", "labels", "1 item", "[]"),
        ("- a\n- b\n", "the whole file", "keys with values", "list"),
        ("kind: 'a\n", "the whole file", "YAML", "scalar"),
        ("a: &x [1]\nb: [*x, *x]\n", "the whole file", "without aliases", "x"),
        ("kind: !!python/object/apply:os.system [id]\n", "the whole file", "YAML", "python"),
        ("[" * 3000, "the whole file", "YAML", ""),
        ("#" * (2 << 20), "the whole file", "bytes", "more"),
    ],
)
def test_every_wrong_key_is_named_with_what_was_expected(tmp_path, text, key, expected, found):
    error = refused(tmp_path, text)
    assert str(error.where) == f"some/source.yaml: {key}"
    assert expected in str(error.expected)
    assert found in str(error.found)
    assert str(tmp_path) not in str(error.where), "no path of this machine"


def test_one_table_of_youtube_bb_needs_no_list(tmp_path):
    with_yaml(tmp_path, "bb", "kind: youtube_bb\nvideos: v\nlabels: one.csv\n")
    entry = read_source(tmp_path, "bb").entry
    assert isinstance(entry, YoutubeBbEntry)
    assert entry.labels == ("one.csv",)


def test_a_name_that_is_none_and_a_source_that_is_not_there(tmp_path):
    with_yaml(tmp_path, "animals", FOLDER)
    for name in ("../animals", "Animals", "", "a b", "animals\n"):
        with pytest.raises(ShiftlakeError, match="no name of a source"):
            read_source(tmp_path, name)
    with pytest.raises(ShiftlakeError, match="animals") as caught:
        read_source(tmp_path, "animal")
    assert "shiftlake video add" in caught.value.remedy
