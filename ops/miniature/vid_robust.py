"""ImageNet-Vid-Robust: the frames and metadata in the shared archive, and the side files."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ops.catalog import classes as catalog_classes
from ops.miniature.classes import CHOSEN, LOOKS
from ops.miniature.keyed import generator
from ops.miniature.motion import clip, together
from ops.miniature.publication import Publication
from ops.miniature.tars import Member

TOP = "imagenet_vid_ytbb_robust/imagenet-vid-robust"
ALL = [*range(-10, 0), *range(1, 11)]


@dataclass(frozen=True)
class FrameSet:
    """One anchor: its snippet, its frame number, the offsets it has and who is in the picture."""

    snippet: str
    anchor: int
    offsets: list[int]
    label: int
    second: int | None
    alone: frozenset[int]

    def path(self, offset: int) -> str:
        """Return the key of a frame in the metadata."""
        return f"val/{self.snippet}/{self.anchor + offset:06d}.JPEG"

    def labels(self, offset: int) -> list[int]:
        """Return the accepted classes of a frame."""
        if self.second is None or offset in self.alone:
            return [self.label]
        return sorted([self.label, self.second])


def looks_by_class(space: str) -> dict[int, list[int]]:
    """Return the chosen ILSVRC indices of each class of a video label space that has any."""
    mapped = catalog_classes.video(space).ilsvrc_indices
    found = {
        label: [index for index in CHOSEN if index in indices]
        for label, indices in enumerate(mapped)
    }
    return {label: indices for label, indices in found.items() if indices}


def publish(publication: Publication) -> list[Member]:
    """Write the side files; return the members of the shared archive."""
    looks = looks_by_class("imagenet_vid30")
    labels: dict[str, list[int]] = {}
    neighbours: dict[str, list[str]] = {}
    members: list[Member] = []
    for rank, each in enumerate(_frame_sets(publication, looks)):
        rng = generator(publication.seed, "vid-robust", each.snippet)
        choice = looks[each.label]
        parts = LOOKS[choice[rank % len(choice)]]
        if each.second is not None:
            parts = together(parts, LOOKS[looks[each.second][0]])
        frames = clip(parts, rng, sorted([0, *each.offsets]), rough=rank % 3 == 0)
        neighbours[each.path(0)] = [each.path(offset) for offset in sorted(each.offsets)]
        for offset, content in frames.items():
            labels[each.path(offset)] = each.labels(offset)
            members.append((f"{TOP}/{each.path(offset)}", content))
            publication.note(
                "imagenet_vid_robust/clean", f"{TOP}/{each.path(offset)}", each.labels(offset)
            )
    sides = {"labels": labels, "pmsets": neighbours} | class_maps("imagenet_vid30")
    for name, value in sides.items():
        content = json.dumps(value).encode()
        publication.put("imagenet-vid-robust", f"vid_robust_{name}", f"{name}.json", content)
    for name in ("labels", "pmsets"):
        members.append((f"{TOP}/metadata/{name}.json", json.dumps(sides[name]).encode()))
    for name, value in _misc().items():
        members.append((f"{TOP}/misc/{name}.json", json.dumps(value).encode()))
    return members


def class_maps(space: str) -> dict[str, object]:
    """Return `class_idx_map` and `rev_class_idx_map` of a video label space."""
    mapped = catalog_classes.video(space).ilsvrc_indices
    forward = {str(index): label for label, found in enumerate(mapped) for index in found}
    back = {str(label): list(found) for label, found in enumerate(mapped) if found}
    return {"class_idx_map": forward, "rev_class_idx_map": back}


def _frame_sets(publication: Publication, looks: dict[int, list[int]]) -> list[FrameSet]:
    sets = []
    labels = list(looks)
    for rank, label in enumerate(labels * publication.size.video_sets):
        year = 2015 + 2 * (rank % 2)
        snippet, anchor, offsets = f"ILSVRC{year}_val_{1000 * rank + 2003:08d}", 40 + rank, ALL
        second: int | None = None
        alone: frozenset[int] = frozenset()
        if rank == 0:  # The published set that has no neighbour, under its own name.
            snippet, anchor, offsets = "ILSVRC2015_val_00057000", 44, []
        elif rank == 1:  # A set with holes.
            offsets = [offset for offset in ALL if offset not in (-4, 3, 4)]
        elif rank == 2:  # An anchor near the start of its snippet.
            anchor, offsets = 3, [offset for offset in ALL if offset >= -3]
        elif rank == 3:  # Two classes in every frame.
            second = labels[(rank + 1) % len(labels)]
        elif rank == 4:  # Neighbours whose labels differ from the anchor's, never disjoint.
            second, alone = labels[(rank + 2) % len(labels)], frozenset({-10, -9, 9, 10})
        sets.append(FrameSet(snippet, anchor, offsets, label, second, alone))
    return sets


def _misc() -> dict[str, object]:
    ilsvrc, video = catalog_classes.ilsvrc(), catalog_classes.video("imagenet_vid30")
    groups = list(zip(video.names, video.wnids, video.ilsvrc_indices, strict=True))
    return {
        "wnid_map": {ilsvrc.wnids[i]: wnid for _, wnid, found in groups for i in found},
        "rev_wnid_map": {wnid: [ilsvrc.wnids[i] for i in found] for _, wnid, found in groups},
        "imagenet_class_index": {str(i): [ilsvrc.wnids[i], ilsvrc.names[i]] for i in range(1000)},
        "imagenet_vid_class_index": {
            str(n): [wnid, name] for n, (name, wnid, _) in enumerate(groups)
        },
        "vid_class_name_to_imagenet_idx": {name: list(found) for name, _, found in groups},
    }
