"""What the page about sources shows is what the code reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from made_sources import with_yaml

from ops.video.sources import read_source
from ops.video.sources.entry import KINDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "video-sources.md").read_text("utf-8")


def shown(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", shown("yaml"))
def test_every_source_yaml_is_one(tmp_path, text):
    with_yaml(tmp_path, "shown", text)
    entry = read_source(tmp_path, "shown").entry
    assert entry.kind in KINDS
    named = set(yaml.safe_load(text))
    fields = set(type(entry).model_fields) - {"synthetic", "licence", "mining", "label_space"}
    assert fields <= named, "the page shows every key of its own"


@pytest.mark.parametrize("language", ["csv", "json"])
def test_the_labels_files_are_read_as_the_page_says(tmp_path, language):
    (text,) = shown(language)
    place = with_yaml(
        tmp_path,
        "shown",
        f"kind: folder\nvideos: v\nlabels: l.{language}\nlabel_space: imagenet_vid30\n",
    )
    (place / f"l.{language}").write_text(text)
    source = read_source(tmp_path, "shown")
    assert source.clip("sea").segments[0].labels == (28,)
    first = source.clip("walk").segments[0].annotations[0]
    assert first.boxes is not None
    assert first.boxes[0].track == "a"
    if language == "csv":
        assert first.labels == (3, 8)
    else:
        assert source.clip("talk").segments[0].annotations[0].labels == (8,)


def test_the_page_names_every_choice_of_the_mining():
    model = next(iter(KINDS.values())).model_fields["mining"].annotation
    for name in getattr(model, "model_fields", {}):
        assert f"`{name}" in PAGE, name
