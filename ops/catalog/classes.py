"""Class lists: ILSVRC's thousand, their subsets, the validation labels and the video classes.

Read once, on first use. How a label is found in an archive is for the shard writers; what a model
does with a subset is for the metrics.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from ops.catalog.data_files import read_data
from ops.errors import ShiftlakeError

MASKS = ("imagenet_a", "imagenet_o", "imagenet_r")
VIDEO_LABEL_SPACES = ("imagenet_vid30", "ytbb24")
ILSVRC = "ilsvrc1000"


@dataclass(frozen=True)
class IlsvrcClasses:
    """The 1,000 ILSVRC classes; the position of a class is its index.

    Attributes
    ----------
    wnids : tuple of str
        WordNet ids in ascending order. Not the order of the devkit's ILSVRC2012_ID.
    names : tuple of str
        Keras short names; two of them occur twice (crane, maillot), so never key on one.
    """

    wnids: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class VideoClasses:
    """The classes of a video benchmark, and what they are in ILSVRC.

    Attributes
    ----------
    names : tuple of str
    wnids : tuple of str or None
        WordNet ids; None where the benchmark gives none.
    ilsvrc_indices : tuple of tuple of int
        ILSVRC indices of each class, 0 to 999; empty for a class that no index maps to.
    """

    names: tuple[str, ...]
    wnids: tuple[str | None, ...]
    ilsvrc_indices: tuple[tuple[int, ...], ...]


@cache
def ilsvrc() -> IlsvrcClasses:
    """The ILSVRC classes in index order."""
    wnids, names = zip(*read_data("classes/ilsvrc.json")["classes"], strict=True)
    return IlsvrcClasses(wnids, names)


@cache
def _index() -> Mapping[str, int]:
    return MappingProxyType({wnid: index for index, wnid in enumerate(ilsvrc().wnids)})


def index_of(wnid: str) -> int:
    """ILSVRC index of a wnid, 0 to 999.

    Raises
    ------
    ShiftlakeError
        If it is not one of the 1,000.
    """
    index = _index().get(wnid)
    if index is None:
        raise ShiftlakeError(
            "A wnid is not one of the ILSVRC classes.",
            expected="one of 1,000 wnids, n01440764 to n15075141",
            found=wnid,
            where="class lists",
            remedy="check the folder or label it comes from",
        )
    return index


@cache
def subset(mask: str) -> tuple[int, ...]:
    """ILSVRC indices of a subset, 200 in ascending order.

    The three lists differ (A and O share 59 classes, A and R 86, O and R 36).

    Parameters
    ----------
    mask : {"imagenet_a", "imagenet_o", "imagenet_r"}
    """
    _require(mask, MASKS, "class subset")
    return tuple(sorted(index_of(wnid) for wnid in read_data(f"classes/{mask}.json")["wnids"]))


@cache
def val_labels() -> tuple[int, ...]:
    """ILSVRC index of every validation image, 50,000.

    Entry ``i`` belongs to ``ILSVRC2012_val_{i+1:08d}``.
    """
    return tuple(read_data("classes/ilsvrc_val_labels.json")["labels"])


@cache
def video(label_space: str) -> VideoClasses:
    """Classes of a video label space, in label order.

    Parameters
    ----------
    label_space : {"imagenet_vid30", "ytbb24"}
    """
    _require(label_space, VIDEO_LABEL_SPACES, "video label space")
    entries = read_data(f"classes/{label_space}.json")["classes"]
    return VideoClasses(
        names=tuple(entry["name"] for entry in entries),
        wnids=tuple(entry.get("wnid") for entry in entries),
        ilsvrc_indices=tuple(tuple(entry["ilsvrc_indices"]) for entry in entries),
    )


@cache
def fingerprint(name: str) -> str:
    """sha256 of the class data that labels come from, so that a correction can be told.

    Parameters
    ----------
    name : str
        ``ilsvrc`` (the wnids in order), ``ilsvrc_val_labels``, a class subset or a video label
        space (names and wnids in order).
    """
    content: object
    if name == "ilsvrc":
        content = ilsvrc().wnids
    elif name == "ilsvrc_val_labels":
        content = val_labels()
    elif name in VIDEO_LABEL_SPACES:
        content = (video(name).names, video(name).wnids)
    else:
        content = subset(name)
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def understands(model_space: str, label_space: str) -> bool:
    """Whether outputs in one label space can be read as labels of another.

    They can in the same one, and ILSVRC's in a video label space, whose classes stand for some
    of ILSVRC's.
    """
    projected = model_space == ILSVRC and label_space in VIDEO_LABEL_SPACES
    return projected or model_space == label_space


def _require(name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        raise ShiftlakeError(
            f"There is no such {what}.",
            expected=f"one of {', '.join(known)}",
            found=name,
            where="class lists",
            remedy="correct the name",
        )
