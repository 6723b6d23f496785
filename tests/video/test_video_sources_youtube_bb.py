"""The tables of YouTube-BB, and videos of which most are gone."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest
from made_sources import BB, with_yaml, youtube_bb_source

from ops import catalog
from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.miniature import youtube_bb
from ops.storage import open_root
from ops.video.clip import Annotation, Box
from ops.video.mining import mine
from ops.video.sources import VideoSource, read_source, ytbb_tables

ROW = "AAAAAAAAAAA,1067,17,zebra,0,present,0.1,0.8,0.25,0.9\n"


def tables(folder: Path, *content: str) -> VideoSource:
    """A source of tables written by hand, and without a video."""
    names = [f"{number}.csv" for number in range(len(content))]
    text = f"kind: youtube_bb\nvideos: videos\nlabels: [{', '.join(names)}]\n"
    place = with_yaml(folder, "own", text)
    for name, rows in zip(names, content, strict=True):
        (place / name).write_text(rows)
    return read_source(folder, "own")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the published tables as ``bb``; nothing in it is changed."""
    folder = tmp_path_factory.mktemp("bb")
    youtube_bb_source(folder)
    return folder


def test_the_pair_of_x_comes_first(tmp_path):
    clip = tables(tmp_path, ROW).clip("AAAAAAAAAAA")
    (annotation,) = clip.segments[0].annotations
    assert annotation == Annotation(
        (17,), seconds=1.067, boxes=(Box(17, 0.1, 0.25, 0.8, 0.9, track="0"),), relative=True
    )


def test_times_stay_times_and_are_never_frames(made):
    """Multiplied by a frame rate they would name another frame at most rates there are."""
    clip = read_source(made, "bb").clip("miniBusZeb3")
    moments = [each for segment in clip.segments for each in segment.annotations]
    assert {each.frame for each in moments} == {None}
    assert {each.seconds for each in moments} == {0.133, 1.133, 2.133}
    assert not clip.dense


def test_an_absent_object_has_no_label_and_its_box_of_minus_one_is_none(made):
    clip = read_source(made, "bb").clip("mini_Birds2")
    second = {segment.key: segment for segment in clip.segments}["1-1"]
    assert [each.labels for each in second.annotations] == [(1,), (1,), ()]
    assert [len(each.boxes or ()) for each in second.annotations] == [1, 1, 0]
    assert second.annotations[-1].boxes == ()


def test_a_segment_is_a_video_a_class_and_an_object(made):
    source = read_source(made, "bb")
    assert [each.key for each in source.clip("mini_Birds2").segments] == ["1", "1-0", "1-1"]
    assert [each.key for each in source.clip("miniBusZeb3").segments] == ["17", "17-1", "4", "4-0"]
    assert source.rule == "anchor"


def test_classes_are_told_by_name_for_22_and_23_are_in_use_for_both(tmp_path):
    names = classes.video("ytbb24").names
    assert (names[22], names[23]) == ("none", "car")
    rows = "".join(
        f"{number}{name}______,0,{number},{name},present\n"
        for number, name in ((22, "car"), (23, "car"), (22, "none"), (23, "none"))
    )
    source = tables(tmp_path, rows)
    labels = {key: source.clip(key).segments[0].annotations[0].labels for key in source.keys()}  # noqa: SIM118
    assert labels == {
        "22car______": (23,),
        "23car______": (23,),
        "22none______": (22,),
        "23none______": (22,),
    }


def test_videos_are_found_by_id_and_the_missing_ones_are_named(made):
    source = read_source(made, "bb")
    assert len(source.keys()) == 7
    assert source.clip("-miniAirpl1").path == made / "bb" / "videos" / "-miniAirpl1.mp4"
    gone = source.clip("miniGone004")
    assert gone.path is None
    assert gone.problem == "no video miniGone004 in the folder of videos"
    assert gone.segments, "its labels are known all the same"
    assert source.missing() == ("miniCarCar6", "miniGone004", "miniNoneNo7")


def test_other_containers_count_and_what_a_downloader_leaves_does_not(tmp_path):
    videos = tmp_path / "own" / "videos"
    source = tables(tmp_path, ROW)
    videos.mkdir()
    for left in ("AAAAAAAAAAA.mp4.part", "AAAAAAAAAAA.json", "AAAAAAAAAAA.f137.mp4"):
        (videos / left).write_bytes(b"x")
    assert source.clip("AAAAAAAAAAA").path is None
    (videos / "AAAAAAAAAAA.WEBM").write_bytes(b"x")
    again = read_source(tmp_path, "own")
    assert again.clip("AAAAAAAAAAA").file == "AAAAAAAAAAA.WEBM"
    (videos / "AAAAAAAAAAA.mkv").write_bytes(b"x")
    both = read_source(tmp_path, "own")
    twice = both.clip("AAAAAAAAAAA")
    assert "AAAAAAAAAAA.WEBM, AAAAAAAAAAA.mkv" in str(twice.problem)
    assert (twice.file, both.missing()) == ("AAAAAAAAAAA", ()), "it is there, but which one is it"
    with pytest.raises(ShiftlakeError, match="expected one video AAAAAAAAAAA") as caught:
        mine(open_root(tmp_path / "lake"), catalog.load(), both, workers=1)
    assert "{'failed': 1}" in str(caught.value.found)


def test_packing_and_the_order_of_tables_make_no_difference(made, tmp_path):
    packed = read_source(made, "bb")
    names = []
    for file in reversed(youtube_bb.FILES.values()):
        plain = file.removesuffix(".gz")
        (tmp_path / plain).write_bytes(gzip.decompress((made / "bb" / file).read_bytes()))
        names.append(f"../{plain}")
    text = f"kind: youtube_bb\nvideos: {made}/bb/videos\nlabels: [{', '.join(names)}]\n"
    with_yaml(tmp_path, "plain", text)
    plain_source = read_source(tmp_path, "plain")
    assert plain_source.fingerprint() == packed.fingerprint()
    for key in packed.keys():  # noqa: SIM118
        assert plain_source.clip(key) == packed.clip(key)


def test_a_row_twice_is_one_and_two_that_contradict_are_a_reason(tmp_path):
    absent = ROW.replace("present,0.1,0.8,0.25,0.9", "absent,-1,-1,-1,-1")
    assert tables(tmp_path, ROW + ROW).clip("AAAAAAAAAAA").segments[0].annotations
    clip = tables(tmp_path, ROW, absent).clip("AAAAAAAAAAA")
    assert "17-0 at 1067 ms" in str(clip.problem)
    assert not clip.segments


def test_uncertain_seconds_are_unknown(tmp_path):
    rows = "B_B-BBBBBBB,0,17,zebra,uncertain\nB_B-BBBBBBB,1000,17,zebra,present\n"
    (segment,) = tables(tmp_path, rows).clip("B_B-BBBBBBB").segments
    assert [each.seconds for each in segment.annotations] == [1.0]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("../../../etc,1067,17,zebra,0,present,0.1,0.8,0.25,0.9\n", "a YouTube id"),
        ("AAAAAAAAAAA,1067.5,17,zebra,0,present,0.1,0.8,0.25,0.9\n", "whole number for timestamp"),
        ("AAAAAAAAAAA,-5,17,zebra,0,present,0.1,0.8,0.25,0.9\n", "milliseconds"),
        ("AAAAAAAAAAA,99999999999999999999,17,zebra,0,present,0.1,0.8,0.25,0.9\n", "whole number"),
        ("AAAAAAAAAAA,1067,17,unicorn,0,present,0.1,0.8,0.25,0.9\n", "a class of ytbb24"),
        ("AAAAAAAAAAA,1067,16,zebra,0,present,0.1,0.8,0.25,0.9\n", "17 of zebra"),
        ("AAAAAAAAAAA,1067,17,zebra,x,present,0.1,0.8,0.25,0.9\n", "whole number for object_id"),
        ("AAAAAAAAAAA,1067,17,zebra,0,gone,0.1,0.8,0.25,0.9\n", "present or absent"),
        ("AAAAAAAAAAA,1067,17,zebra,0,present,nan,0.8,0.25,0.9\n", "xmin, xmax, ymin, ymax"),
        ("AAAAAAAAAAA,1067,17,zebra,0,present,0.8,0.1,0.25,0.9\n", "xmin, xmax, ymin, ymax"),
        ("AAAAAAAAAAA,1067,17,zebra,0,present,0.1,800,0.25,0.9\n", "xmin, xmax, ymin, ymax"),
        ("AAAAAAAAAAA,1067,17,zebra,0,present,0.1,0.8,0.25\n", "10 values"),
        ('AAAAAAAAAAA,1067,17,zebra,0,present,0.1,0.8,0.25,"0.9\n', ""),
    ],
)
def test_a_wrong_row_is_named_by_its_line(tmp_path, row, expected):
    source = tables(tmp_path, ROW * 4000 + row + ROW)
    with pytest.raises(ShiftlakeError) as caught:
        source.keys()
    assert "line 4001" in str(caught.value.where)
    assert str(caught.value.where).startswith("0.csv")
    assert expected in str(caught.value.expected)


@pytest.mark.parametrize("text", ["a,b,c\n", "youtube_id\ttimestamp\n", "<html>\n", "\x1f\x8b\x08"])
def test_another_file_is_refused_by_its_number_of_columns(tmp_path, text):
    with pytest.raises(ShiftlakeError, match="5 or 10 values"):
        tables(tmp_path, text).keys()


def test_a_head_that_should_not_be_there_is_told(tmp_path):
    head = "youtube_id,timestamp_ms,class_id,class_name,object_presence\n"
    with pytest.raises(ShiftlakeError, match="line 1") as caught:
        tables(tmp_path, head + "AAAAAAAAAAA,0,17,zebra,present\n").keys()
    assert "whole number" in str(caught.value.expected)


def test_an_empty_or_missing_table(tmp_path):
    assert tables(tmp_path, "").keys() == ()
    with_yaml(tmp_path, "bb", BB)
    with pytest.raises(ShiftlakeError, match=r"classification_train\.csv\.gz"):
        read_source(tmp_path, "bb").keys()


def test_a_file_that_unpacks_to_more_than_there_can_be_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ytbb_tables, "MOST_BYTES", 1 << 20)
    source = tables(tmp_path, "")
    place = tmp_path / "own"
    (place / "0.csv.gz").write_bytes(gzip.compress(ROW.encode() * 200_000))
    (place / "source.yaml").write_text("kind: youtube_bb\nvideos: v\nlabels: 0.csv.gz\n")
    source = read_source(tmp_path, "own")
    with pytest.raises(ShiftlakeError, match="1,048,576 bytes unpacked"):
        source.keys()
    (place / "0.csv.gz").write_bytes(gzip.compress(ROW.encode() * 100)[:-20])
    with pytest.raises(ShiftlakeError, match=r"0\.csv\.gz"):
        read_source(tmp_path, "own").keys()


def test_many_rows_of_many_videos_are_kept_apart_and_travel_light(tmp_path):
    rows = [
        f"video{n:06d},{1000 * second},{n % 24},{classes.video('ytbb24').names[n % 24]},present\n"
        for second in range(3)
        for n in range(20_000)
    ]
    source = tables(tmp_path, "".join(rows))
    assert len(source.keys()) == 20_000
    assert len(pickle.dumps(source)) < 2000
    for n in (0, 1, 12_345, 19_999):
        (segment,) = source.clip(f"video{n:06d}").segments
        assert segment.key == str(n % 24)
        assert [each.seconds for each in segment.annotations] == [0.0, 1.0, 2.0]
