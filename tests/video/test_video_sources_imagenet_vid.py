"""ImageNet-Vid as it is unpacked, and XML that nobody should have written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from made_sources import VID, imagenet_vid_source, with_yaml

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.miniature import imagenet_vid
from ops.video.clip import Box
from ops.video.published import frame_number
from ops.video.sources import VideoSource, read_source
from ops.video.sources.vid_xml import parse_frame, read_frame

SNIPPET = "ILSVRC2015_val_00000000"
PANDA = """<annotation><folder>ILSVRC2015_val_00030000</folder><filename>000000</filename>
<source><database>ILSVRC_2015</database></source><size><width>1280</width><height>720</height></size>
<object><trackid>0</trackid><name>n02510455</name>
<bndbox><xmax>855</xmax><xmin>449</xmin><ymax>682</ymax><ymin>304</ymin></bndbox>
<occluded>1</occluded><generated>0</generated></object></annotation>"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vid")
    imagenet_vid_source(folder)
    return folder


@pytest.fixture
def source(tree: Path, tmp_path: Path) -> VideoSource:
    """A copy that a test may damage."""
    shutil.copytree(tree / "vid", tmp_path / "vid")
    return read_source(tmp_path, "vid")


def xml(tmp_path: Path, number: int = 0, snippet: str = SNIPPET) -> Path:
    top = tmp_path / "vid" / "ILSVRC2015"
    return top / "Annotations" / "VID" / "val" / snippet / f"{number:06d}.xml"


def test_a_published_file_is_read_whatever_the_order_of_its_corners():
    frame = parse_frame(PANDA.encode())
    assert frame.size == (1280, 720)
    assert frame.boxes == (Box(12, 449, 304, 855, 682, track="0", occluded=True, generated=False),)
    assert classes.video("imagenet_vid30").names[12] == "giant_panda"


def test_all_thirty_classes_are_told_by_wordnet_id_in_the_order_of_the_labels():
    wnids = classes.video("imagenet_vid30").wnids
    boxes = [parse_frame(PANDA.replace("n02510455", str(wnid)).encode()).boxes[0] for wnid in wnids]
    assert [box.label for box in boxes] == list(range(30))


def test_every_frame_is_labelled_and_flags_are_kept(source):
    clip = source.clip(SNIPPET)
    (segment,) = clip.segments
    assert clip.dense
    assert source.rule == "frame"
    assert clip.path is not None
    assert len(segment.annotations) == len(list(clip.path.iterdir())) == 26
    assert [each.frame for each in segment.annotations] == list(range(26))
    assert {each.labels for each in segment.annotations} == {(4,)}
    generated = [box.generated for each in segment.annotations for box in each.boxes or ()]
    assert generated == [at % 3 != 0 for at in range(26)], "interpolated boxes count, and say so"
    hidden = source.clip("ILSVRC2017_val_00004000").segments[0].annotations
    assert {box.occluded for each in hidden for box in each.boxes or ()} == {True, False}


def test_a_frame_without_an_object_shows_no_class(source):
    annotations = source.clip("ILSVRC2015_val_00001000").segments[0].annotations
    assert () in {each.labels for each in annotations}
    assert {each.boxes for each in annotations if not each.labels} == {()}


def test_two_classes_in_one_frame(source):
    annotations = source.clip("ILSVRC2015_val_00002000").segments[0].annotations
    assert {each.labels for each in annotations} == {(15,), (15, 29)}


def test_snippets_are_those_of_the_lists_and_those_that_are_annotated(source, tmp_path):
    assert source.keys() == tuple(sorted(imagenet_vid.VAL)), "2017's are in no list of 2015"
    shutil.rmtree(xml(tmp_path).parent)
    again = read_source(tmp_path, "vid")
    assert again.keys() == source.keys()
    assert "annotates no frame" in str(again.clip(SNIPPET).problem)


def test_the_training_split_lies_one_folder_deeper(tree):
    with_yaml(tree, "train", VID.replace("ILSVRC2015", "../vid/ILSVRC2015") + "split: train\n")
    source = read_source(tree, "train")
    assert source.keys() == ("ILSVRC2015_train_00005000", "ILSVRC2015_train_00010000")
    clip = source.clip("ILSVRC2015_train_00010000")
    assert clip.file == "Data/VID/train/ILSVRC2015_VID_train_0001/ILSVRC2015_train_00010000"
    assert clip.path is not None
    assert len(clip.segments[0].annotations) == 12


def test_pictures_can_come_from_the_clips_the_frames_were_cut_from(tree):
    text = VID.replace("ILSVRC2015", "../vid/ILSVRC2015")
    with_yaml(tree, "clips", text + "pictures: snippets\n")
    frames, clips = read_source(tree, "vid").clip(SNIPPET), read_source(tree, "clips").clip(SNIPPET)
    assert clips.path is not None
    assert clips.path.name == f"{SNIPPET}.mp4"
    assert clips.path.read_bytes()[4:8] == b"ftyp"
    assert clips.segments == frames.segments, "picture n of the clip is file n"


def test_pictures_that_are_not_there_are_a_reason_and_no_error(source, tmp_path):
    shutil.rmtree(tmp_path / "vid" / "ILSVRC2015" / "Data" / "VID" / "val" / SNIPPET)
    clip = source.clip(SNIPPET)
    assert clip.path is None
    assert clip.problem == f"Data/VID/val/{SNIPPET} is not there"
    assert source.missing() == (SNIPPET,)


def test_labels_follow_their_pictures_where_some_are_missing(source, tmp_path):
    """Frames are told by their place in the folder; a lost picture must move no label."""
    folder = tmp_path / "vid" / "ILSVRC2015" / "Data" / "VID" / "val" / "ILSVRC2015_val_00002000"
    whole = source.clip("ILSVRC2015_val_00002000").segments[0].annotations
    for number in (0, 1, 7):
        (folder / f"{number:06d}.JPEG").unlink()
    left = source.clip("ILSVRC2015_val_00002000").segments[0].annotations
    assert [each.frame for each in left] == list(range(21))
    numbers = [each for each in range(24) if each not in (0, 1, 7)]
    assert [each.labels for each in left] == [whole[number].labels for number in numbers]


BOMB = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">{}]>'.format(
    "".join(f'<!ENTITY {chr(99 + n)} "{f"&{chr(98 + n)};" * 10}">' for n in range(12))
)
OBJECT = PANDA[PANDA.index("<object>") : PANDA.index("</annotation>")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BOMB + PANDA.replace("ILSVRC_2015", "&n;"), "without a document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd">' + PANDA, "without a document type"),
        (PANDA.replace("ILSVRC_2015", "&x;"), "XML"),
        ("<a>" * 100_000, "annotation"),
        ("<annotation>" * 50_000, "inside one another"),
        (PANDA[:-30], "XML"),
        ("", "XML"),
        ("<html></html>", "annotation"),
        (PANDA.replace("449", "nan"), "pixels for xmin"),
        (PANDA.replace("449", "-inf"), "pixels for xmin"),
        (PANDA.replace("449", "1e300"), "pixels for xmin"),
        (PANDA.replace("449", "900"), "xmin <= xmax"),
        (PANDA.replace("<xmin>449</xmin>", ""), "pixels for xmin"),
        (PANDA.replace("<xmin>449</xmin>", "<xmin>4</xmin><xmin>5</xmin>"), "one xmin"),
        (PANDA.replace("<xmin>449", "<xmin>" + "4" * 5000), "pixels for xmin"),
        (PANDA.replace("n02510455", "n99999999"), "a class of imagenet_vid30"),
        (PANDA.replace("<name>n02510455</name>", ""), "name of every object"),
        (PANDA.replace("<generated>0", "<generated>maybe"), "0 or 1"),
        (PANDA.replace("<width>1280", "<width>0"), "width and height"),
        (PANDA.replace(OBJECT, OBJECT * 1001), "objects"),
        (PANDA + " " * (1 << 20), "bytes"),
    ],
)
def test_hostile_or_broken_xml_is_a_reason_beside_its_clip(source, tmp_path, text, expected):
    xml(tmp_path, 3).write_text(text)
    with pytest.raises(ValueError, match=expected):
        read_frame(xml(tmp_path, 3))
    clip = source.clip(SNIPPET)
    assert expected in str(clip.problem)
    assert f"{SNIPPET}/000003.xml" in str(clip.problem)
    assert str(tmp_path) not in str(clip.problem)
    assert not clip.segments[0].annotations
    assert source.clip("ILSVRC2015_val_00003000").problem is None, "the others are as good"


def test_a_list_of_snippets_names_nothing_outside(source, tmp_path):
    lists = tmp_path / "vid" / "ILSVRC2015" / "ImageSets" / "VID" / "val.txt"
    with lists.open("a") as file:
        file.write("../../../../etc/000000 99\n")
    with pytest.raises(ShiftlakeError, match="line 92"):
        source.keys()


def test_without_annotations_the_error_says_where_to_point(tmp_path):
    with_yaml(tmp_path, "vid", VID)
    with pytest.raises(ShiftlakeError, match="Annotations/VID/val") as caught:
        read_source(tmp_path, "vid").keys()
    assert "`root`" in caught.value.remedy


def test_the_fingerprint_is_that_of_the_labels(source, tmp_path):
    before = source.fingerprint()
    assert before == read_source(tmp_path, "vid").fingerprint()
    shutil.rmtree(tmp_path / "vid" / "ILSVRC2015" / "Data")
    assert source.fingerprint() == before, "no picture is a label"
    text = xml(tmp_path).read_text()
    xml(tmp_path).write_text(text.replace("n01503061", "n02129165"))
    assert source.fingerprint() != before


def test_published_sets_are_given_clip_by_clip(source, tmp_path):
    frames = [f"val/{SNIPPET}/{at:06d}.JPEG" for at in range(2, 23)]
    anchor = frames.pop(10)
    (tmp_path / "pmsets.json").write_text(json.dumps({anchor: frames}))
    (tmp_path / "labels.json").write_text(json.dumps({each: [4] for each in [anchor, *frames]}))
    text = VID + "frame_sets: {pmsets: ../pmsets.json, labels: ../labels.json}\n"
    (tmp_path / "vid" / "source.yaml").write_text(text)
    with_sets = read_source(tmp_path, "vid")
    assert source.frame_sets(SNIPPET) is None
    (found,) = with_sets.frame_sets(SNIPPET) or ()
    assert (found.anchor, found.neighbours) == (anchor, tuple(frames))
    assert with_sets.frame_sets("ILSVRC2015_val_00001000") == ()
    assert with_sets.fingerprint() != source.fingerprint()
    (clip := source.clip(SNIPPET).path) and (clip / "000000.JPEG").unlink()
    (moved,) = with_sets.frame_sets(SNIPPET) or ()
    assert moved.anchor == f"val/{SNIPPET}/000011.JPEG", "the twelfth picture is now the eleventh"
    assert with_sets.clip(SNIPPET).problem is None
    (clip / "000020.JPEG").unlink()
    lost = "picture 20 of the published frame set of 12 is not there"
    assert with_sets.clip(SNIPPET).problem == lost


def with_published(tmp_path: Path, pmsets: dict[str, list[str]]) -> VideoSource:
    (tmp_path / "pmsets.json").write_text(json.dumps(pmsets))
    paths = [path for anchor, of in pmsets.items() for path in (anchor, *of)]
    (tmp_path / "labels.json").write_text(json.dumps({path: [4] for path in paths}))
    text = VID + "frame_sets: {pmsets: ../pmsets.json, labels: ../labels.json}\n"
    (tmp_path / "vid" / "source.yaml").write_text(text)
    return read_source(tmp_path, "vid")


def test_a_published_set_whose_snippet_is_nowhere_is_a_video_that_is_missing(source, tmp_path):
    """ILSVRC2017's part of the validation set is easily forgotten: half of the sets are of it."""
    gone = "ILSVRC2017_val_00000042"
    with_sets = with_published(tmp_path, {f"val/{gone}/000005.JPEG": [f"val/{gone}/000006.JPEG"]})
    assert set(with_sets.keys()) == {*source.keys(), gone}
    clip = with_sets.clip(gone)
    assert (clip.path, clip.video) == (None, gone)
    assert clip.problem == f"Data/VID/val/{gone} is not there"
    assert with_sets.missing() == (gone,)


def test_published_offsets_are_not_bent_by_pictures_that_are_missing_between(source, tmp_path):
    anchor, far = (f"val/{SNIPPET}/{at:06d}.JPEG" for at in (5, 9))
    clip = with_published(tmp_path, {anchor: [far]}).clip(SNIPPET)
    assert clip.problem is None
    (clip.path / "000007.JPEG").unlink()
    clip = with_published(tmp_path, {anchor: [far]}).clip(SNIPPET)
    assert clip.problem == "pictures between 5 and 9 of a published frame set are not there"


@pytest.mark.parametrize(
    ("anchor", "neighbours"),
    [
        ("val/../000001.JPEG", []),
        ("val/a b/000001.JPEG", []),
        ("val/./1.JPEG/..", []),
        ("val/a/000001.JPEG", ["val/b/000002.JPEG"]),
        ("val/a/000001.JPEG", ["000002.JPEG"]),
        ("val/a/000001.JPEG", ["val/a/000002.JPEG", "val/a/2.JPEG"]),
        ("val/a/000001.JPEG", ["val/a/frame-1.JPEG"]),
    ],
)
def test_a_published_set_is_of_one_snippet_and_leads_nowhere_else(
    source, tmp_path, anchor, neighbours
):
    with pytest.raises(ShiftlakeError, match="not of one snippet"):
        with_published(tmp_path, {anchor: neighbours}).keys()


def test_a_name_of_nothing_but_digits_is_a_number_all_the_same():
    assert frame_number(f"val/a/{'0' * 6_000}17.JPEG") == 17


def test_annotations_that_cannot_be_read_do_not_tell_where_they_lie(source, tmp_path, monkeypatch):
    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("ops.video.sources.imagenet_vid.read_frame", refused)
    problem = source.clip(SNIPPET).problem
    assert problem == (
        f"Annotations/VID/val/{SNIPPET}/000000.xml: cannot be read, Permission denied"
    )
