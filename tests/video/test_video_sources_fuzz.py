"""Whatever stands in a file of labels: it is read, or refused in the project's own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_sources import labelled, with_yaml

from ops.errors import ShiftlakeError
from ops.video.sources import VideoSource, parse_entry, read_source
from ops.video.sources.vid_xml import parse_frame

QUICK = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["lion", "n02129165", "a.mp4", "../x", 0, 1, 0.5])
)
NAMES = st.sampled_from(["video", "frame", "seconds", "labels", "boxes", "label", "xmin", "xmax"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
CELLS = st.text(max_size=12) | st.sampled_from(
    ["a.mp4", "lion", "zebra", "nan", "-1", "0", "1e9", "present", "AAAAAAAAAAA", "", '"', ";"]
)
TABLE = st.lists(st.lists(CELLS, min_size=1, max_size=11), max_size=5)


def refusal(source: VideoSource) -> ShiftlakeError | None:
    """Read all of a source; only the project's own error may come out."""
    try:
        keys = source.keys()
    except ShiftlakeError as error:
        return error
    for key in keys:
        source.clip(key)
    return None


def readable(source: VideoSource) -> None:
    found = refusal(source)
    assert found is None or (str(found.expected) and str(found.found)), found


@QUICK
@given(st.lists(VALUES, max_size=4) | VALUES)
def test_any_json(tmp_path: Path, value: object) -> None:
    source = labelled(tmp_path, [])
    (tmp_path / "own" / "l.json").write_text(json.dumps(value))
    readable(source)


@QUICK
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-16")))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    readable(labelled(tmp_path, data))
    source = labelled(tmp_path, [])
    (tmp_path / "own" / "l.json").write_bytes(data)
    readable(source)


@QUICK
@given(TABLE)
def test_any_table(tmp_path: Path, rows: list[list[str]]) -> None:
    text = "".join(",".join(row) + "\n" for row in rows)
    readable(
        labelled(tmp_path, ("video,frame,labels,xmin,xmax\n" + text).encode("utf-8", "replace"))
    )
    place = with_yaml(tmp_path, "bb", "kind: youtube_bb\nvideos: v\nlabels: t.csv\n")
    (place / "t.csv").write_bytes(text.encode("utf-8", "replace"))
    readable(read_source(tmp_path, "bb"))


PIECES = st.sampled_from(
    [
        *("<annotation>", "</annotation>", "<object>", "</object>", "<bndbox>", "</bndbox>"),
        *(
            "<name>",
            "</name>",
            "n02129165",
            "<xmin>",
            "</xmin>",
            "12",
            "&amp;",
            "&x;",
            "<!--",
            "-->",
        ),
        *(
            "-->",
            "<![CDATA[",
            "]]>",
            "<?x?>",
            "<!DOCTYPE a>",
            "\0",
            "é",
            "<size>",
            "</size>",
            "<width>",
        ),
    ]
)


@QUICK
@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=50))
def test_any_xml(text: str) -> None:
    found = "expected "
    try:
        parse_frame(text.encode("utf-8", "replace"))
    except ValueError as error:
        found = str(error)
    assert found.startswith("expected ")


@QUICK
@given(st.dictionaries(st.sampled_from(["kind", "videos", "labels", "mining", "root"]), VALUES))
def test_any_source_yaml(value: dict[str, object]) -> None:
    data = json.dumps(value | {"kind": value.get("kind", "folder")}).encode()
    with pytest.raises(ShiftlakeError) as caught:
        parse_entry(data, "some/source.yaml")
    assert str(caught.value.where).startswith("some/source.yaml: ")
