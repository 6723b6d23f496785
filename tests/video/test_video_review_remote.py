"""A review on S3 keeps the promises of one on a disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_decisions import accept_all, say
from made_mining import key, mine_by_hand
from moto.server import ThreadedMotoServer

from ops.catalog import load
from ops.storage import Root, open_root
from ops.video.review import Review, carry, freeze, frozen_versions, seal_reviewed
from ops.video.review.checks import check_reviewed
from ops.video.review.refused import OlderMining
from ops.video.review.tables import review_events, reviewed_frames

SETS = {("a", 5): (4, 6), ("b", 9): (8,)}


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Root]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("SHIFTLAKE_SCRATCH", str(tmp_path / "scratch"))
    bucket = f"lake-{uuid.uuid4().hex[:8]}"
    root = open_root(f"s3://{bucket}/team")
    root.fs.mkdir(bucket)
    yield root
    server.stop()


def test_from_the_first_decision_to_the_sealed_set(root: Root) -> None:
    assert len(review_events(root)) == len(reviewed_frames(root)) == 0
    mine_by_hand(root, "things", SETS)
    one, two = Review.open(root, "things"), Review.open(root, "things")
    accept_all(one, "anna")
    say(two, "pair", "ben", key("a", 5, 6), "unsure")
    assert one.refresh().pair(key("a", 5, 6)).state == "contested"
    assert one.undo("ben") is not None
    assert two.refresh().pair_states()["accepted"] == 3
    frozen = freeze(root, "things", load())
    assert frozen_versions(root, "things") == [frozen.version]
    assert seal_reviewed(root, load(), "things").n_samples == 5
    assert check_reviewed(root, load(), "things") == []
    assert len(review_events(root)) == one.n_events == 7
    assert reviewed_frames(root)["current"].to_pylist() == [True] * 5
    old = one.mined_version
    mine_by_hand(root, "things", SETS, salt="again")
    with pytest.raises(OlderMining):
        seal_reviewed(root, load(), "things")
    assert carry(root, "things", old).recorded == 5
