"""A folder of videos with a labels file: what it means, and what strangers may not write in it."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_sources import demo_source, labelled

from ops.errors import ShiftlakeError
from ops.miniature import labelled_videos
from ops.video.clip import Annotation, Box
from ops.video.sources import labels_file, read_source
from ops.video.sources.clip_key import clip_key, refusal

BOX = {"label": "lion", "xmin": 1, "ymin": 2.5, "xmax": 30, "ymax": 40}


def test_labels_are_names_wordnet_ids_or_indices(tmp_path):
    source = labelled(
        tmp_path,
        [
            {"video": "a.mp4", "frame": 3, "labels": ["domestic cat", "n02129165", 29, "0"]},
            {"video": "a.mp4", "frame": 1, "labels": "Lion"},
            {"video": "a.mp4", "frame": 2, "labels": []},
        ],
    )
    (segment,) = source.clip("a").segments
    assert segment.annotations == (
        Annotation((15,), frame=1),
        Annotation((), frame=2),
        Annotation((0, 9, 15, 29), frame=3),
    )


def test_in_a_label_space_of_ones_own_classes_are_told_by_index(tmp_path):
    place = tmp_path / "own"
    labelled(tmp_path, "video,labels\na.mp4,3;41\n")
    text = (place / "source.yaml").read_text().replace("imagenet_vid30", "birds_of_europe")
    (place / "source.yaml").write_text(text)
    source = read_source(tmp_path, "own")
    assert source.clip("a").segments[0].labels == (3, 41)
    assert source.fingerprint()
    (place / "l.csv").write_text("video,labels\na.mp4,robin\n")
    with pytest.raises(ShiftlakeError, match="birds_of_europe has no names"):
        read_source(tmp_path, "own").keys()


def test_two_classes_of_ilsvrc_have_one_name(tmp_path):
    place = tmp_path / "own"
    labelled(tmp_path, "video,labels\na.mp4,n01440764;goldfish\n")
    text = (place / "source.yaml").read_text().replace("imagenet_vid30", "ilsvrc1000")
    (place / "source.yaml").write_text(text)
    assert read_source(tmp_path, "own").clip("a").segments[0].labels == (0, 1)
    (place / "l.csv").write_text("video,labels\na.mp4,crane\n")
    with pytest.raises(ShiftlakeError, match="two classes have the name"):
        read_source(tmp_path, "own").keys()


def test_rows_of_csv_add_up_to_frames_with_boxes(tmp_path):
    source = labelled(
        tmp_path,
        "\ufeffvideo,frame,labels,xmin,ymin,xmax,ymax,track,occluded\r\n"
        "a.mp4,4,lion,1,2.5,30,40,left,true\r\n"
        "a.mp4,4,zebra,50,2,70,40,right,0\r\n"
        "a.mp4,5,lion;zebra,,,,,,\r\n"
        "\r\n"
        '"b,1.mp4",0,bird,,,,,,\r\n',
    )
    first, second = source.clip("a").segments[0].annotations
    assert first.labels == second.labels == (15, 29)
    assert first.boxes == (
        Box(15, 1, 2.5, 30, 40, track="left", occluded=True),
        Box(29, 50, 2, 70, 40, track="right", occluded=False),
    )
    assert second.boxes is None
    assert source.keys() == ("a", "b%2C1")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_spreadsheet_may_write_it_as_it_does(tmp_path, separator):
    mark = "." if separator == "," else ","
    rows = [
        ["Video", "Seconds", " Labels ", "xmin", "ymin", "xmax", "ymax", "", ""],
        ["a.mp4", f"1{mark}5", "lion", f"0{mark}5", "0", "30", "40", "", ""],
        ["a.mp4", "2", '"lion;zebra"', "", "", "", "", "", ""],
        ["", "", "", "", "", "", "", "", ""],
    ]
    text = "\r\n".join(separator.join(row) for row in rows)
    first, second = labelled(tmp_path, f"\ufeff{text}\r\n").clip("a").segments[0].annotations
    assert (first.seconds, second.seconds) == (1.5, 2.0)
    assert first.boxes == (Box(15, 0.5, 0, 30, 40),)
    assert (second.labels, second.boxes) == ((15, 29), None)


@pytest.mark.parametrize(
    ("written", "hint"),
    [("cat", "perhaps domestic_cat"), ("zbra", "perhaps zebra"), ("puppy", ": airplane, antelope")],
)
def test_a_class_that_is_none_is_told_which_may_be_meant(tmp_path, written, hint):
    with pytest.raises(ShiftlakeError) as caught:
        labelled(tmp_path, f"video,labels\na.mp4,{written}\n").keys()
    assert hint in str(caught.value.expected)


def test_times_and_whole_videos(tmp_path):
    rows = [
        {"video": "t.mp4", "seconds": 0.4, "labels": ["lion"]},
        {"video": "t.mp4", "seconds": 0, "boxes": [BOX]},
        {"video": "w.mp4", "labels": ["lion", "zebra"]},
    ]
    source = labelled(tmp_path, rows, "boxes: pixels\n")
    early, late = source.clip("t").segments[0].annotations
    assert (early.seconds, late.seconds, late.frame) == (0.0, 0.4, None)
    assert early.labels == (15,), "a box is a label"
    whole = source.clip("w")
    assert whole.segments[0].labels == (15, 29)
    assert not whole.segments[0].annotations
    assert not whole.dense
    assert source.rule == "anchor", "neighbours of a moment have its labels"


def test_dense_labels_are_those_of_every_frame(tmp_path):
    source = labelled(tmp_path, [{"video": "a.mp4", "frame": 0, "labels": "lion"}], "dense: true\n")
    assert source.clip("a").dense
    assert source.rule == "frame"


def test_shares_are_marked_and_checked(tmp_path):
    box = {"label": 3, "xmin": 0, "ymin": 0.25, "xmax": 1, "ymax": 0.5}
    source = labelled(tmp_path, [{"video": "a.mp4", "frame": 0, "boxes": [box]}], "boxes: shares\n")
    (annotation,) = source.clip("a").segments[0].annotations
    assert annotation.relative
    box["xmax"] = 2
    with pytest.raises(ShiftlakeError, match="0 to 1"):
        labelled(
            tmp_path, [{"video": "a.mp4", "frame": 0, "boxes": [box]}], "boxes: shares\n"
        ).keys()


def test_a_video_that_is_not_there_is_a_clip_that_says_so(tmp_path):
    source = labelled(tmp_path, "video,labels\nhere.mp4,lion\nsub/gone.mp4,lion\nframes,lion\n")
    videos = tmp_path / "own" / "videos"
    (videos / "here.mp4").write_bytes(b"")
    (videos / "frames").mkdir()
    gone = source.clip("sub%2Fgone")
    assert (gone.path, gone.file) == (None, "sub/gone.mp4")
    assert gone.problem == "not in the folder of videos"
    assert source.clip("here").path == videos / "here.mp4"
    assert source.clip("frames").path == videos / "frames"
    assert source.missing() == ("sub/gone.mp4",)
    with pytest.raises(ShiftlakeError, match="perhaps here"):
        source.clip("hare")


@pytest.mark.parametrize("written", ["IMG_1", "img_1.mov", "IMG_1.mov"])
def test_a_name_nearly_right_is_told_the_right_one(tmp_path, written):
    source = labelled(tmp_path, f"video,labels\n{written},lion\n")
    (tmp_path / "own" / "videos" / "IMG_1.MOV").write_bytes(b"film")
    (key,) = source.keys()
    assert source.clip(key).problem == "not in the folder of videos, which has IMG_1.MOV"
    (tmp_path / "own" / "videos").rename(tmp_path / "own" / "elsewhere")
    again = read_source(tmp_path, "own")
    assert again.clip(key).problem == "the folder of videos does not exist"


def test_a_folder_of_frames_has_the_rate_that_somebody_states(tmp_path):
    source = labelled(tmp_path, "video,labels\nframes,lion\nfile.mp4,lion\n", "fps: 12.5\n")
    (tmp_path / "own" / "videos" / "frames").mkdir()
    (tmp_path / "own" / "videos" / "file.mp4").write_bytes(b"")
    assert source.clip("frames").fps == 12.5
    assert source.clip("file").fps is None, "it tells its own"
    with pytest.raises(ShiftlakeError, match=r"own/source\.yaml: fps"):
        labelled(tmp_path, "video,labels\n", "fps: .nan\n")


def test_labels_by_time_need_to_know_when_frames_are(tmp_path):
    """Without a rate every time would be that of the first frame."""
    for more, known in (("", False), ("fps: 30\n", True)):
        source = labelled(tmp_path / str(known), "video,seconds,labels\nframes,1.5,lion\n", more)
        (tmp_path / str(known) / "own" / "videos" / "frames").mkdir()
        problem = source.clip("frames").problem
        assert (problem is None) is known
        assert known or "fps in source.yaml" in str(problem)


HOSTILE_NAMES = [
    *("../../etc/passwd", "a/../../b.mp4", "/etc/passwd", "C:\\a.mp4", "..\\a.mp4", "http://x/a"),
    *("", ".", "..", "a//b", "./a", "a/.", "nul\0l.mp4", "new\nline.mp4", "tab\t.mp4", "del\x7f"),
    *("x" * 300, "é" * 128, "\ud800.mp4"),
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_that_leave_the_folder_or_are_none_are_refused(tmp_path, name):
    source = labelled(tmp_path, [{"video": "ok.mp4", "labels": 1}, {"video": name, "labels": 1}])
    with pytest.raises(ShiftlakeError) as caught:
        source.keys()
    assert "below the folder of videos" in str(caught.value.expected)
    assert "l.json, line 1" in str(caught.value.where)


@pytest.mark.parametrize(
    "name", ["a b.mp4", "é.mp4", "日本.mp4", "50%.mp4", "a.b.c.mp4", "...mp4", "'; DROP.mp4", "-"]
)
def test_other_names_become_keys_that_are_safe_everywhere(tmp_path, name):
    (key,) = labelled(tmp_path, [{"video": name, "labels": 1}]).keys()
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-%")
    assert key


@given(st.text(), st.text())
def test_keys_tell_names_apart(one, other):
    if refusal(one) or refusal(other):
        return
    assert (clip_key(one) == clip_key(other)) == (one == other)
    assert 0 < len(clip_key(one)) <= 120


HEAD = "video,frame,labels\n"


@pytest.mark.parametrize(
    ("text", "line", "expected", "found"),
    [
        (HEAD + "a.mp4,1,lion\nb.mp4,1,lyon\n", 3, "perhaps lion", "lyon"),
        (HEAD + "a.mp4,1,30\n", 2, "0 to 29", "30"),
        (HEAD + "a.mp4,1,n01440764\n", 2, "imagenet_vid30", "n01440764"),
        (HEAD + "a.mp4,-1,lion\n", 2, "number of a frame", "-1"),
        (HEAD + "a.mp4,1.5,lion\n", 2, "number of a frame", "1.5"),
        (HEAD + "a.mp4,one,lion\n", 2, "number of a frame", "one"),
        (HEAD + f"a.mp4,{'9' * 40},lion\n", 2, "number of a frame", "1e+40"),
        (HEAD + "a.mp4,1,lion\na.mp4,1,lion\n", 3, "once", "again"),
        (HEAD + "a.mp4,1\n", 2, "3 values", "2"),
        (HEAD + 'a.mp4,1,"lion\n', 2, "CSV", "end of data"),
        (HEAD + "a.mp4,1,lion\na.mkv,1,lion\n", 3, "before their suffix", "a.mkv"),
        ("video|frame|labels\na.mp4|1|lion\n", 1, "the columns", "video|frame"),
        ("video,label\n", 1, "perhaps labels", "'label'"),
        ("file,frame,labels\n", 1, "the columns video and labels", "'file' in file, frame"),
        ("video,labels,labels\n", 1, "once", "labels"),
        (HEAD + "a.mp4,1,lion,zebra\n", 2, "3 values (video, frame, labels)", "'zebra'"),
        ("", 1, "the columns", "nothing"),
        ("video,seconds,labels\na.mp4,nan,lion\n", 2, "0 to 1e+07", "nan"),
        ("video,seconds,labels\na.mp4,-0.1,lion\n", 2, "0 to 1e+07", "-0.1"),
        ("video,frame,seconds,labels\na.mp4,1,1,lion\n", 2, "a frame or a time", "both"),
        ("video,frame\na.mp4,1\n", 2, "labels or boxes", "neither"),
    ],
)
def test_a_wrong_line_of_csv_is_named(tmp_path, text, line, expected, found):
    with pytest.raises(ShiftlakeError) as caught:
        labelled(tmp_path, text).keys()
    assert caught.value.where == f"l.csv, line {line}"
    assert expected in str(caught.value.expected)
    assert found in str(caught.value.found)


def boxed(**changes: object) -> list[object]:
    return [{"video": "a.mp4", "frame": 0, "boxes": [BOX | changes]}]


@pytest.mark.parametrize(
    ("rows", "expected", "found"),
    [
        (boxed(xmin=float("nan")), "pixels for xmin", "nan"),
        (boxed(ymax=float("inf")), "pixels for ymax", "inf"),
        (boxed(xmax=10**400), "pixels for xmax", "1000"),
        (boxed(xmax=True), "a number", "True"),
        (boxed(xmax="30"), "a number", "'30'"),
        (boxed(xmax=None), "a number", "None"),
        (boxed(xmax=1), "xmin < xmax", "1, 2.5, 1, 40"),
        (boxed(label="dragon"), "a class", "dragon"),
        (boxed(label=None), "a class", "None"),
        (boxed(track=[1]), "track", "[1]"),
        (boxed(occluded="no"), "true or false", "no"),
        (boxed(colour="red"), "only", "colour"),
        ([{"video": "a.mp4", "frame": 0, "boxes": {}}], "a list of boxes", "{}"),
        ([{"video": "a.mp4", "frame": 0, "boxes": [3]}], "a box with", "3"),
        ([{"video": "a.mp4", "boxes": [BOX]}], "for boxes", "stands there"),
        ([{"video": 7, "labels": 1}], "name of a file", "7"),
        ([{"video": "a.mp4", "frame": True, "labels": 1}], "number of a frame", "True"),
        ([{"video": "a.mp4", "frame": "1", "labels": 1}], "number of a frame", "'1'"),
        ([{"video": "a.mp4", "seconds": "1", "labels": 1}], "a number", "'1'"),
        ([{"video": "a.mp4", "labels": [[1]]}], "a class", "[1]"),
        ([{"video": "a.mp4", "labels": {"lion": 1}}], "a class", "lion"),
        ([{"video": "a.mp4", "labels": [1] * 101}], "at most 100", "101"),
        ([{"video": "a.mp4", "labels": 1, "label": 1}], "only", "label"),
        ([{"labels": 1}], "name of a file", "None"),
        (["a.mp4"], "a row", "a.mp4"),
    ],
)
def test_a_wrong_value_in_json_is_named(tmp_path, rows, expected, found):
    with pytest.raises(ShiftlakeError) as caught:
        labelled(tmp_path, rows).keys()
    assert expected in str(caught.value.expected)
    assert found in str(caught.value.found)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('[\n{"video": "a", "labels": 1},\n{"video": "b", "labels": 99}\n]', 3, "0 to 29"),
        ('[\n{"video": "a", "labels": 1}\n{"video": "b"}\n]', 3, "a comma"),
        ('[\n{"video": "a", "labels": 1},\n]', 3, "behind a comma"),
        ('[\n{"video": "a", "labels": 1}', 2, "a comma"),
        ('[\n{"video": "a", "video": "b", "labels": 1}\n]', 2, "once"),
        ('{"a.mp4": ["lion"]}', 1, "a list of rows"),
        ("[{'video': 1}]", 1, "JSON"),
        ("[1] [2]", 1, "a row"),
        ('[\n\n{"video": "a", "labels": 1}]\n{}', 4, "behind the list"),
        ("[" * 100_000, 1, "a row"),
        ('[{"video": "a", "labels": ' + "9" * 5000 + "}]", 1, ""),
        ("", 1, "a list of rows"),
        (b'[\n{"video": "\xff\xfe"}]', 2, "UTF-8"),
    ],
)
def test_json_that_is_none_or_of_another_shape_is_refused_with_its_line(
    tmp_path, text, line, expected
):
    source = labelled(tmp_path, [])
    path = tmp_path / "own" / "l.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ShiftlakeError) as caught:
        source.keys()
    assert caught.value.where == f"l.json, line {line}"
    assert expected in str(caught.value.expected)


def test_a_file_of_a_gigabyte_is_refused_and_not_read(tmp_path):
    source = labelled(tmp_path, [])
    with (tmp_path / "own" / "l.json").open("wb") as file:
        file.truncate(1 << 30)
    assert labels_file.MOST_BYTES < (1 << 30)
    with pytest.raises(ShiftlakeError, match="at most 268,435,456 bytes"):
        source.keys()
    (tmp_path / "own" / "l.json").unlink()
    with pytest.raises(ShiftlakeError, match="No such file"):
        source.keys()


def test_a_video_cannot_have_labels_for_all_of_it_and_for_moments(tmp_path):
    rows = [{"video": "a.mp4", "labels": 1}, {"video": "a.mp4", "frame": 0, "labels": 1}]
    with pytest.raises(ShiftlakeError, match="both"):
        labelled(tmp_path, rows).keys()


def test_the_fingerprint_changes_with_the_labels_and_with_nothing_else(tmp_path):
    rows = [{"video": "a.mp4", "frame": 0, "labels": 1}]
    first = labelled(tmp_path / "1", rows).fingerprint()
    moved = labelled(tmp_path / "elsewhere", rows)
    (tmp_path / "elsewhere" / "own" / "videos" / "a.mp4").write_bytes(b"x")
    assert moved.fingerprint() == first
    assert labelled(tmp_path / "2", rows, "dense: true\n").fingerprint() != first
    rows[0]["labels"] = 2
    assert labelled(tmp_path / "3", rows).fingerprint() != first


def test_a_source_travels_without_its_labels(tmp_path):
    rows = [{"video": f"{n}.mp4", "frame": at, "labels": 1} for n in range(50) for at in range(50)]
    source = labelled(tmp_path, rows)
    before = [source.clip(key) for key in source.keys()]  # noqa: SIM118
    travelling = pickle.dumps(source)
    assert len(travelling) < 5000
    there = pickle.loads(travelling)
    assert [there.clip(key) for key in there.keys()] == before  # noqa: SIM118


def test_the_demo_has_every_kind_of_trouble_and_the_same_bytes_each_time(tmp_path):
    source = demo_source(tmp_path / "one")
    again = demo_source(tmp_path / "two")
    assert source.fingerprint() == again.fingerprint()
    files = {each.name: each.read_bytes() for each in (tmp_path / "one").rglob("*.mp4")}
    assert files == {each.name: each.read_bytes() for each in (tmp_path / "two").rglob("*.mp4")}
    clips = {key: source.clip(key) for key in source.keys()}  # noqa: SIM118
    assert source.missing() == (labelled_videos.ABSENT,)
    assert clips["empty"].path is not None
    assert files[labelled_videos.EMPTY] == b""
    labels = {key: {each.labels for each in clips[key].segments[0].annotations} for key in clips}
    assert labels["lion_and_zebra"] == {(15, 29), (15,)}
    assert labels["bear_then_zebra"] == {(2,), (29,)}
    assert () in labels["airplane_leaves"]
    assert len(clips["bus_three_frames"].segments[0].annotations) == 3
    hidden = [
        box.occluded
        for each in clips["bus_is_passed"].segments[0].annotations
        for box in each.boxes or ()
    ]
    assert 8 < sum(map(bool, hidden)) < 20
    for key, clip in clips.items():
        for each in clip.segments[0].annotations:
            for box in each.boxes or ():
                assert 0 <= box.xmin < box.xmax <= 96, key
                assert 0 <= box.ymin < box.ymax <= 96, key
