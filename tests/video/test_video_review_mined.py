"""From films to a reviewed set that a catalog knows, with real mining under the review."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_decisions import accept_all, say

from ops.catalog import load
from ops.miniature import labelled_videos
from ops.shards.reader import read_shard
from ops.storage import Root, open_root
from ops.video.cataloguing import catalogued
from ops.video.mining import mine
from ops.video.review import Review, freeze, seal_reviewed
from ops.video.review.checks import check_reviewed
from ops.video.sources import read_source

SOURCE = "filmed_things"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    folder: Path = tmp_path_factory.mktemp("films")
    labelled_videos.write(folder / "videos" / SOURCE)
    root = open_root(folder / "lake")
    mine(root, load(), read_source(folder / "videos", SOURCE), workers=1)
    return root


def test_a_mined_source_is_reviewed_frozen_and_sealed(root: Root) -> None:
    review = Review.open(root, SOURCE, load())
    accept_all(review, "anna")
    doubtful = review.queue("ben", "pairs", limit=3)
    for key in doubtful:
        say(review, "pair", "ben", key, "dissimilar", reasons=["motion"])
        say(review, "joint", "anna", key, "similar")
        say(review, "joint", "ben", key, "dissimilar", reasons=["motion"])
    frozen = freeze(root, SOURCE, load())
    manifest = seal_reviewed(root, load(), SOURCE)
    mined = len(review.anchors) + len(review.pairs)
    assert (manifest.n_samples, frozen.n_frames) == (mined - 3, mined)
    keys = {
        sample.key
        for entry in manifest.shards
        for sample in read_shard(root, manifest, entry, hash=True)
    }
    assert keys.isdisjoint(doubtful)
    assert check_reviewed(root, load(), SOURCE) == []
    spec = catalogued(root, load()).dataset(f"reviewed_frame_sets/{SOURCE}")
    assert (spec.joined_to, spec.evaluate) == (f"frame_sets/{SOURCE}", False)
