"""What a look at a source sees: names as two systems spell them, empty files, boxes outside."""

from __future__ import annotations

import unicodedata

import cv2
import numpy as np
import pytest
from made_sources import labelled

from ops.video.sources.survey import survey

NAME = "Hündin im Grünen.mp4"


@pytest.mark.parametrize(("on_disk", "in_labels"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_an_umlaut_is_found_however_it_is_written(tmp_path, on_disk, in_labels):
    source = labelled(tmp_path, f"video,labels\n{unicodedata.normalize(in_labels, NAME)},dog\n")
    folder = tmp_path / "own" / "videos"
    assert source.missing() != ()
    path = folder / unicodedata.normalize(on_disk, NAME)
    path.write_bytes(b"film")
    again = labelled(tmp_path, f"video,labels\n{unicodedata.normalize(in_labels, NAME)},dog\n")
    assert again.missing() == ()
    assert again.clip(again.keys()[0]).path.read_bytes() == b"film"


def test_an_empty_file_is_seen_without_opening_any(tmp_path):
    source = labelled(tmp_path, "video,labels\na.mp4,dog\nb.mp4,dog\n")
    (tmp_path / "own" / "videos" / "a.mp4").write_bytes(b"")
    found = survey(source)
    assert found.missing == {"b.mp4": "not in the folder of videos"}
    assert (found.there, found.unusable) == (0, ["a.mp4: 0 bytes"])


def test_boxes_and_moments_outside_are_told_of_videos_that_were_opened(tmp_path):
    rows = "walk,0,dog,0,0,40.6,30\nwalk,1,dog,-4,0,20,20\nwalk,1,dog,0,0,20,32\nwalk,432,dog,,,,\n"
    source = labelled(tmp_path, f"video,frame,labels,xmin,ymin,xmax,ymax\n{rows}")
    frames = tmp_path / "own" / "videos" / "walk"
    frames.mkdir()
    for number in range(2):
        cv2.imwrite(str(frames / f"{number}.jpg"), np.zeros((30, 40, 3), np.uint8))
    assert survey(source).remarks == []
    assert survey(source, open_videos=True).remarks == [
        "walk: 1 of 3 labelled moments lies behind its last frame, 1",
        "walk: 2 of 3 boxes leave its 40 x 30 pixels",
    ]
