"""Two frame sets of the published benchmarks, real photographs, through everything there is.

They lie beside some checkouts; what is drawn elsewhere has no fur, no water and no shaky hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ops.catalog import load
from ops.storage import Root, open_root
from ops.video import FrameSet, counts, read_pmsets
from ops.video.checks import check_frame_sets
from ops.video.frame_sets import read_frame_sets
from ops.video.mining import mine, read_mined
from ops.video.mining.cuts import cuts
from ops.video.mining.similarity import look, one_thread
from ops.video.sources import read_source

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no published samples beside us")
TURTLE, CAT = 26, 9


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """Both sets as folders of frames of one's own, mined about their published anchors."""
    base = tmp_path_factory.mktemp("real")
    place = base / "videos" / "real"
    (place / "videos").mkdir(parents=True)
    (place / "videos" / "turtle").symlink_to(SAMPLES / "vid")
    (place / "videos" / "cat").symlink_to(SAMPLES / "ytbb")
    (place / "labels.csv").write_text("video,frame,labels\nturtle,10,turtle\ncat,10,domestic cat\n")
    (place / "source.yaml").write_text(
        "kind: folder\nvideos: videos\nlabels: labels.csv\nlabel_space: imagenet_vid30\n"
        "mining: {cuts: true}\n"
    )
    lake = open_root(base / "lake")
    mine(lake, load(), read_source(base / "videos", "real"), workers=1)
    return lake


def test_the_published_annotations_are_read() -> None:
    sets = read_pmsets(SAMPLES / "vid" / "pmsets.json", SAMPLES / "vid" / "labels.json")
    snippet = "val/ILSVRC2015_val_00000000"
    others = [number for number in range(432, 453) if number != 442]
    neighbours = tuple(f"{snippet}/{number:06d}.JPEG" for number in others)
    anchor = f"{snippet}/000442.JPEG"
    assert sets == (FrameSet(anchor, neighbours, dict.fromkeys((anchor, *neighbours), (TURTLE,))),)
    found = counts(sets)
    assert (found.sets, found.pairs, found.frames, found.empty) == (1, 20, 21, 0)


def test_mined_about_the_published_anchors_the_published_frames_are_found(root: Root) -> None:
    info = json.loads((SAMPLES / "ytbb" / "info.json").read_text())
    names = {
        "cat": [f"frame-{info['anchor'] + offset}.jpg" for offset in range(-10, 11)],
        "turtle": [f"{442 + offset:06d}.JPEG" for offset in range(-10, 11)],
    }
    folders = {"cat": "ytbb", "turtle": "vid"}
    for frames in read_frame_sets(root, "frame_sets/real"):
        clip = frames[0].meta["source_key"]
        published = [(SAMPLES / folders[clip] / name).read_bytes() for name in names.pop(clip)]
        assert [sample.image for sample in frames] == published, "no byte is another"
        assert [sample.meta["frame_offset"] for sample in frames] == list(range(-10, 11))
    assert not names
    problems = {
        name: found for name, (found, _) in check_frame_sets(root, "frame_sets/real").items()
    }
    assert not any(problems.values()), problems


def test_the_scores_of_accepted_pairs_are_those_measured_on_them(root: Root) -> None:
    pairs = read_mined(root, "real", "pairs").to_pylist()
    scores = {(row["frame_set"].split("/")[0], row["frame_offset"]): row for row in pairs}
    # Flow, structure behind it and sharpness as measured once with other code at 256 pixels.
    for at, displacement, structure, blur in (
        (("turtle", 1), 0.999, 0.974, 0.991),
        (("turtle", 10), 0.989, 0.923, 0.984),
        (("cat", 1), 0.970, 0.978, 0.988),
        (("cat", -10), 0.752, 0.706, 0.909),
    ):
        assert scores[at]["displacement"] == pytest.approx(displacement, abs=0.005)
        # How a picture is made smaller shows in its finest texture: gravel, here.
        assert scores[at]["structure"] == pytest.approx(structure, abs=0.045)
        assert scores[at]["blur"] == pytest.approx(blur, abs=0.005)
    for name in ("displacement", "structure", "blur", "histogram"):
        worst = min(scores["turtle", offset][name] for offset in range(-10, 11) if offset)
        assert worst > scores["cat", -10][name], "a cat that turns away is looked at first"
    first = max(pairs, key=lambda row: row["suspicion"])
    assert first["frame_set"].startswith("cat/")


def test_no_cut_is_seen_in_one_shot_and_one_between_two_is(root: Root) -> None:
    reasons = read_mined(root, "real", "left_out")["reason"].to_pylist()
    assert reasons == []
    with Image.open(SAMPLES / "vid" / "000442.JPEG") as photograph:
        turtle = np.asarray(photograph.resize((456, 256)))
    with one_thread():
        same, turned = look(turtle), look(np.ascontiguousarray(turtle[::-1, ::-1]))
        assert cuts([same, same, same, turned, turned]) == [3], "of the very same colours"
