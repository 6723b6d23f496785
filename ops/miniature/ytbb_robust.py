"""YTBB-Robust: frames in the shared archive, and the review files with every trap they have."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from ops.catalog import classes as catalog_classes
from ops.miniature.animals import quadruped
from ops.miniature.classes import LOOKS
from ops.miniature.geometry import Part, regular
from ops.miniature.keyed import generator
from ops.miniature.motion import clip, together
from ops.miniature.publication import Publication
from ops.miniature.tars import Member
from ops.miniature.things import car
from ops.miniature.vid_robust import ALL, class_maps, looks_by_class

TOP = "imagenet_vid_ytbb_robust/ytbb-robust/ytbb_videos"
HOME = "/home/ubuntu/data/ytbb/ytbb_videos/"
COW, NONE, CAR = 6, 22, 23
REVIEWS = ["good", "unsure", "bad"]
PAIR_LABELS = [
    "correct", "problematic", "incorrect", "dont know", "similar", "dissimilar", "deformation",
    "background-change", "occlusion-increased", "blur-increase", "bad-anchor",
]  # fmt: skip


@dataclass(frozen=True)
class Anchor:
    """One candidate anchor and what its reviewers said, in the order they said it."""

    video: str
    time_ms: int
    fps: float
    label: int
    parts: list[Part]
    reviews: list[list[str]] = field(default_factory=lambda: [["good"]])
    added: list[int] = field(default_factory=list)
    bad_pair: bool = False

    @property
    def folder(self) -> str:
        """Name of the folder of its frames."""
        return f"{self.video}_{self.time_ms}"

    def path(self, offset: int) -> str:
        """Return `<folder>/frame-<n>.jpg`; n counts frames at the video's own rate."""
        return f"{self.folder}/frame-{math.ceil(self.time_ms * self.fps / 1000) + offset}.jpg"

    @property
    def kept(self) -> bool:
        """Whether the published rules keep it: good, not bad, not unsure, no bad-anchor pair."""
        last = self.reviews[-1] if self.reviews else []
        return last == ["good"] and not self.bad_pair


def publish(publication: Publication) -> list[Member]:
    """Write the side files; return the members of the shared archive."""
    anchors = _anchors(publication)
    members: list[Member] = []
    pairs: list[dict[str, object]] = []
    for rank, anchor in enumerate(anchors):
        rng = generator(publication.seed, "ytbb-robust", anchor.folder)
        frames = clip(anchor.parts, rng, sorted([0, *ALL]), rough=rank % 3 == 1)
        members += [(f"{TOP}/{anchor.path(offset)}", data) for offset, data in frames.items()]
        info = {
            "fps": anchor.fps,
            "anchor": math.ceil(anchor.time_ms * anchor.fps / 1000),
            "timestamp": anchor.time_ms,
            "pmk_dist": 10,
        }
        members.append((f"{TOP}/{anchor.folder}/info.json", json.dumps(info).encode()))
        similar = _review_pairs(anchor, rank, pairs)
        if anchor.kept:
            labels = sorted({anchor.label, *anchor.added})
            for offset in sorted([0, *similar]):
                path = f"{TOP}/{anchor.path(offset)}"
                publication.note("ytbb_robust/clean", path, labels)
    _side_files(publication, anchors, pairs)
    return members


def _anchors(publication: Publication) -> list[Anchor]:
    looks = {label: LOOKS[found[0]] for label, found in looks_by_class("ytbb24").items()}
    bird, zebra = 1, 17
    plain = [
        Anchor(f"mini{label:02d}{n:05d}", 1000 * (n + 2) + 400, 30.0, label, parts)
        for n in range(publication.size.video_sets)
        for label, parts in looks.items()
    ]
    cow = quadruped((120, 76, 50), (220, 170, 150))
    odd: list[Part] = [(regular(0, 0, 0.8, 5), (90, 120, 100))]
    both = together(looks[bird], looks[zebra])
    special = [
        Anchor("mini_car-001", 2067, 30.0, CAR, car((190, 60, 60))),
        Anchor("mini_none001", 4200, 25.0, NONE, odd),
        Anchor("mini_cow_001", 5400, 15.0, COW, cow),
        # Two anchors of one video, at another frame rate, one with a class added by a reviewer.
        Anchor("mini_two_001", 3000, 24.0, bird, looks[bird]),
        Anchor("mini_two_001", 9000, 24.0, bird, both, added=[zebra]),
        Anchor("mini_bad_001", 1200, 30.0, bird, odd, reviews=[["bad"]]),
        Anchor("mini_uns_001", 1200, 30.0, bird, odd, reviews=[["good", "unsure"]]),
        Anchor("mini_nil_001", 1200, 30.0, bird, odd, reviews=[[]]),
        Anchor("mini_csv_001", 1200, 30.0, bird, odd, reviews=[]),
        # A key that was annotated twice: the last entry wins.
        Anchor("mini_gtb_001", 1200, 30.0, bird, odd, reviews=[["good"], ["bad"]]),
        Anchor("mini_btg_001", 1200, 30.0, zebra, looks[zebra], reviews=[["bad"], ["good"]]),
        Anchor("mini_pmk_001", 1200, 30.0, zebra, odd, bad_pair=True),
    ]
    return plain + special


def _review_pairs(anchor: Anchor, rank: int, pairs: list[dict[str, object]]) -> list[int]:
    """Append the reviews of an anchor's pairs; return the offsets that count as similar."""
    similar = []
    for offset in ALL:
        verdicts = [["similar"]]
        if rank % 4 == 2 and offset in (-10, -9):
            verdicts = [["dissimilar"]]
        elif rank % 4 == 2 and offset == 10:
            verdicts = [["similar", "blur-increase"]]
        elif rank % 5 == 3 and offset == 9:
            verdicts = [["dissimilar"], ["correct", "similar"]]
        elif rank % 5 == 3 and offset == 10:
            verdicts = [["similar"], ["dont know"]]
        elif rank % 6 == 4 and offset == 8:
            continue  # A pair nobody reviewed.
        if anchor.bad_pair and offset == 5:
            verdicts = [["bad-anchor"]]
        ends = [HOME + anchor.path(0), HOME + anchor.path(offset)]
        key = ",".join(ends if rank % 2 else [anchor.path(0), anchor.path(offset)])
        for verdict in verdicts:
            indices = [PAIR_LABELS.index(word) for word in verdict]
            pairs.append({"key": key, "labels": indices, "notes": ""})
        if verdicts[-1] in (["similar"], ["correct", "similar"]):
            similar.append(offset)
    return similar


def _side_files(
    publication: Publication, anchors: list[Anchor], pairs: list[dict[str, object]]
) -> None:
    names = list(catalog_classes.video("ytbb24").names)
    vocabulary = REVIEWS + names
    annotations: list[dict[str, object]] = []
    for rank, anchor in enumerate(anchors):
        for n, review in enumerate(anchor.reviews):
            # The same frame under an absolute and a relative key is still the same frame.
            key = anchor.path(0) if (rank + n) % 4 == 3 else HOME + anchor.path(0)
            words = [*review, *(names[label] for label in anchor.added)]
            labels = [vocabulary.index(word) for word in words]
            annotations.append({"key": key, "labels": labels, "notes": ""})
    # The CSV numbers two classes the other way round: 22 is car and 23 is none.
    swap = {NONE: CAR, CAR: NONE}
    rows = ["ytid,time_ms,label"]
    rows += [f"{a.video},{a.time_ms},{swap.get(a.label, a.label)}" for a in anchors]
    files: dict[str, tuple[str, object]] = {
        "ytbb_anchor_labels": (
            "anchor_labels.json",
            {"labels": vocabulary, "annotations": annotations},
        ),
        "ytbb_pmk_labels": ("pmk_labels.json", {"labels": PAIR_LABELS, "annotations": pairs}),
        "ytbb_class_index": (
            "ytbb_class_index.json",
            {str(n): name for n, name in enumerate(names)},
        ),
    }
    for name, value in class_maps("ytbb24").items():
        files[f"ytbb_{name}"] = (f"{name}.json", value)
    for file_id, (file_name, value) in files.items():
        publication.put("ytbb-robust", file_id, file_name, json.dumps(value).encode())
    publication.put(
        "ytbb-robust",
        "ytbb_anchors_csv",
        "ytbb_robustness_test_anchors_full.csv",
        "".join(f"{row}\r\n" for row in rows).encode(),
    )
