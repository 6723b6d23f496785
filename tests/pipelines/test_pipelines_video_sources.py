"""``shiftlake video``: from a folder of videos to sealed frame sets, and mistakes on the way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ops.errors import ShiftlakeError
from ops.miniature import labelled_videos, youtube_bb
from ops.shards import read_manifest
from ops.storage import open_root
from ops.video.sources import read_source
from pipelines.cli import video
from pipelines.cli.terminal import out

app = typer.Typer()
video.add_commands(app)


@app.callback()
def _group() -> None:
    """With a callback the one group keeps its name."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHIFTLAKE_ROOT", str(tmp_path / "lake"))
    monkeypatch.setenv("SHIFTLAKE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SHIFTLAKE_VIDEOS", str(tmp_path / "videos"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    # Where tests run side by side a terminal of 80 columns is simulated, which cuts tables.
    monkeypatch.setattr(out, "width", 140)
    return tmp_path


def run(*words: object) -> str:
    done = CliRunner().invoke(app, ["video", *map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drawn videos; nothing in it is changed."""
    return labelled_videos.write(tmp_path_factory.mktemp("drawn") / "mine")


def add_demo(made: Path, *more: str) -> str:
    files = ("--videos", str(made / "videos"), "--labels", str(made / "labels.json"))
    how = ("--label-space", "imagenet_vid30", "--dense", "--synthetic")
    return run("add", "animals", "--kind", "folder", *files, *how, *more)


def test_a_folder_becomes_a_source_and_the_source_frame_sets(place, drawn):
    assert "no sources in" in run("list")
    assert "16 clips, 1 of them not there" in add_demo(drawn)
    assert "animals folder imagenet_vid30 16 1 –" in run("list").replace("│", "").replace("  ", " ")
    told = run("check", "animals", "--open")
    assert "16 clips named, 13 there, 1 missing, 2 that cannot be used" in told
    assert "29 zebra" in told
    assert "missing: lost.mp4: not in the folder of videos" in told
    assert "breaks_off.mp4" in told
    sealed = run("mine", "animals", "--workers", 1)
    manifest = read_manifest(open_root(place / "lake"), "frame_sets/animals")
    assert f"pairs, as {manifest.version}" in sealed
    assert manifest.synthetic
    assert "13 sets" in sealed
    assert "no set: lost.mp4: not in the folder of videos" in sealed
    assert manifest.version[:6] in run("list")
    other = run("mine", "animals", "--k", 2, "--workers", 1)
    assert manifest.version not in other, "another k is another dataset"


def test_what_is_stored_tells_nothing_of_this_machine(place, drawn):
    add_demo(drawn)
    run("mine", "animals", "--workers", 1)
    for each in (place / "lake").rglob("*"):
        if each.is_file():
            content = each.read_bytes()
            assert str(place).encode() not in content, each
            assert str(drawn).encode() not in content, each


def test_a_source_is_written_only_once_everything_has_been_read(place, drawn):
    made = shutil.copytree(drawn, place / "mine")
    (made / "labels.json").write_text('[{"video": "zebra_stands.mp4", "labels": "zbra"}]')
    with pytest.raises(ShiftlakeError, match="perhaps zebra"):
        add_demo_as_it_is(made)
    (made / "labels.json").write_text('[{"video": "elsewhere.mp4", "labels": "zebra"}]')
    with pytest.raises(ShiftlakeError, match="none of 1"):
        add_demo_as_it_is(made)
    (made / "labels.json").write_text('[{"video": "zebra_stands.mp4", "labels": 1}]')
    with pytest.raises(ShiftlakeError, match="no such label space"):
        add_demo_as_it_is(made, "imagenet_vid31")
    assert not (place / "videos").exists()
    (made / "labels.json").write_text('[{"video": "zebra_stands.mp4", "labels": "zebra"}]')
    assert "1 clips, 0 of them not there" in add_demo_as_it_is(made)
    with pytest.raises(ShiftlakeError, match="already"):
        add_demo_as_it_is(made)


def add_demo_as_it_is(made: Path, space: str = "imagenet_vid30") -> str:
    files = ("--videos", made / "videos", "--labels", made / "labels.json")
    return run("add", "own", "--kind", "folder", *files, "--label-space", space)


def test_paths_inside_the_folder_of_the_source_stay_relative(place, drawn):
    own = shutil.copytree(drawn, place / "videos" / "own")
    (own / "source.yaml").unlink()
    add_demo_as_it_is(own)
    assert "videos: videos\nlabels: labels.json\n" in (own / "source.yaml").read_text()
    assert len(read_source(place / "videos", "own").keys()) == 16


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("add", "own", "--kind", "film"), "imagenet_vid, youtube_bb, folder"),
        (("add", "Own", "--kind", "folder"), "small letters"),
        (("add", "own", "--kind", "folder", "--videos", "v"), "a value"),
        (("add", "own", "--kind", "folder", "--root", "v", "--videos", "v"), "a value"),
        (("add", "own", "--kind", "imagenet_vid", "--root", "nowhere"), "Annotations/VID"),
        (("add", "own", "--kind", "youtube_bb", "--videos", "v", "--labels", "l"), "be read"),
        (("check", "own"), "a folder with a source.yaml"),
        (("mine", "own"), "a folder with a source.yaml"),
        (("official",), "--pmsets and --labels"),
        (("official", "--pmsets", "a.json"), "--pmsets and --labels"),
    ],
)
def test_mistakes_on_the_command_line_are_told(place, words, expected):
    with pytest.raises(ShiftlakeError) as caught:
        run(*words)
    assert expected in str(caught.value.expected)


def test_missing_youtube_ids_go_to_a_file_and_nothing_is_fetched(place):
    made = youtube_bb.write(place / "bb")
    tables = [word for file in youtube_bb.FILES.values() for word in ("--labels", made / file)]
    run("add", "bb", "--kind", "youtube_bb", "--videos", made / "videos", *tables)
    told = run("check", "bb", "--missing", place / "ids.txt")
    assert "7 clips named, 3 there, 3 missing, 1 that cannot be used" in told
    ids = (place / "ids.txt").read_text().splitlines()
    assert ids == ["miniCarCar6", "miniGone004", "miniNoneNo7"]


def test_a_choice_of_the_mining_that_cannot_be_used(place, drawn):
    add_demo(drawn)
    with pytest.raises(ShiftlakeError, match="the option for k"):
        run("mine", "animals", "--k", 0)


def test_a_broken_source_does_not_hide_the_others(place, drawn):
    add_demo(drawn)
    broken = place / "videos" / "broken"
    broken.mkdir()
    (broken / "source.yaml").write_text("kind: folder\n")
    told = run("list")
    assert "animals" in told
    assert "shiftlake video check broken" in told


def test_published_files_are_counted(place):
    pmsets, labels = place / "pmsets.json", place / "labels.json"
    frames = [f"val/s/{at:06d}.JPEG" for at in range(21)]
    pmsets.write_text(json.dumps({frames[10]: frames[:10] + frames[11:], "val/t/000000.JPEG": []}))
    labels.write_text(json.dumps({each: [4] for each in [*frames, "val/t/000000.JPEG"]}))
    told = run("official", "--pmsets", pmsets, "--labels", labels)
    assert "ImageNet-Vid-Robust │ 2 │ 20 │ 22 │ 1 │ 2 │ 1: 2" in told
