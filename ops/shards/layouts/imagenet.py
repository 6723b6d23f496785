"""Layouts in ILSVRC-1000's label space: folders that are wnids or integers, and flat files.

The label is always looked up by wnid, by number or by the validation image's number, never by a
folder's position: ImageNet-A, -O and -R hold subsets, and ImageNetV2's folders are unpadded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from ops.catalog import DatasetSpec, classes
from ops.errors import ShiftlakeError
from ops.shards.layouts.base import Ignored, Layout, is_image_name, stem_key
from ops.shards.sample import Sample

_WNID = re.compile(r"n\d{8}")
_NO_IMAGE = Ignored("not named as an image")
_VAL = re.compile(r"(?:^|/)(ILSVRC2012_val_\d{8})\.[^./]+$")


def label_of(wnid: str) -> int:
    """ILSVRC index of a wnid: its rank among the 1,000 sorted wnids."""
    return classes.index_of(wnid)


def is_class(wnid: str) -> bool:
    """Whether a folder name is one of the 1,000 wnids."""
    return wnid in _wnids()


@cache
def _wnids() -> frozenset[str]:
    return frozenset(classes.ilsvrc().wnids)


class FlatVal(Layout):
    """``ILSVRC2012_val_<8 digits>.JPEG``, flat; labels from the list of all 50,000."""

    CLASS_LISTS = ("ilsvrc", "ilsvrc_val_labels")

    def key(self, name: str) -> str | Ignored:
        """Key of a validation image: its published name without the suffix."""
        found = _VAL.search(name)
        return found[1] if found and is_image_name(name) else Ignored("not a validation image")

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a validation image."""
        stem = str(self.key(name))
        label = self.label(stem, name)
        wnid = classes.ilsvrc().wnids[label]
        return self.finish(name, data, source_key=stem, labels=[label], wnid=wnid)

    def label(self, stem: str, where: str) -> int:
        """Label of a validation image, by the number in its name.

        Raises
        ------
        ShiftlakeError
            If there is no such number.
        """
        number = int(stem.removeprefix("ILSVRC2012_val_"))
        labels = classes.val_labels()
        if not 1 <= number <= len(labels):
            raise ShiftlakeError(
                "A validation image has a number that does not exist.",
                expected=f"1 to {len(labels)}",
                found=number,
                where=where,
                remedy="check the archive against the catalog's hash",
            )
        return labels[number - 1]


class WnidFolder(Layout):
    """``<top>/<wnid>/<file>``; with a mask, only the wnids of that subset are classes."""

    CLASS_LISTS = ("ilsvrc",)

    def __init__(self, spec: DatasetSpec, side: Mapping[str, bytes]) -> None:
        super().__init__(spec, side)
        self._allowed = (
            frozenset(classes.ilsvrc().wnids[index] for index in classes.subset(spec.mask))
            if spec.mask
            else frozenset(classes.ilsvrc().wnids)
        )

    def key(self, name: str) -> str | Ignored:
        """``<wnid>/<file stem>``: the bare file name is not unique."""
        parts = PurePosixPath(name).parts
        if len(parts) < 2 or not _WNID.fullmatch(parts[-2]):
            return Ignored("not in a class folder")
        if parts[-2] not in self._allowed:
            return Ignored("class folder not in the benchmark's class list")
        return stem_key(name, 2) if is_image_name(name) else _NO_IMAGE

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an image in a class folder."""
        path = PurePosixPath(name)
        wnid = path.parts[-2]
        source = f"{wnid}/{path.stem}"
        return self.finish(name, data, source_key=source, labels=[label_of(wnid)], wnid=wnid)


class TrainNested(WnidFolder):
    """A tar of tars, ``<wnid>.tar`` holding ``<wnid>_<number>.JPEG``."""

    def nested(self, name: str) -> bool:
        """Look into the class tars."""
        return name.endswith(".tar")

    def key(self, name: str) -> str | Ignored:
        """``<wnid>/<wnid>_<number>``."""
        path = PurePosixPath(name)
        wnid = path.parent.name.removesuffix(".tar")
        if not is_class(wnid):
            return Ignored("not in a class tar")
        return f"{wnid}/{stem_key(name, 1)}" if is_image_name(name) else _NO_IMAGE

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a training image."""
        path = PurePosixPath(name)
        wnid = path.parent.name.removesuffix(".tar")
        labels = [label_of(wnid)]
        return self.finish(name, data, source_key=path.stem, labels=labels, wnid=wnid)


class IntegerFolder(Layout):
    """``<top>/<0..999>/<file>``: the folder's number is the label (ImageNetV2)."""

    CLASS_LISTS = ("ilsvrc",)

    def key(self, name: str) -> str | Ignored:
        """``<folder>/<file stem>``."""
        parts = PurePosixPath(name).parts
        if len(parts) < 2 or not _is_index(parts[-2]):
            return Ignored("not in a class folder")
        return stem_key(name, 2) if is_image_name(name) else _NO_IMAGE

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an image in a numbered folder."""
        path = PurePosixPath(name)
        label = int(path.parts[-2])
        wnid = classes.ilsvrc().wnids[label]
        source = f"{path.parts[-2]}/{path.stem}"
        return self.finish(name, data, source_key=source, labels=[label], wnid=wnid)


class ImageNetO(WnidFolder):
    """``<top>/<wnid>/<content>_<confidence>.JPEG``: out of distribution, so without a label.

    The folder is the class a ResNet-50 wrongly predicts, the name tells the true content.
    """

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an out-of-distribution image."""
        path = PurePosixPath(name)
        content, _, confidence = path.stem.rpartition("_")
        return self.finish(
            name,
            data,
            source_key=f"{path.parts[-2]}/{path.stem}",
            labels=[],
            folder_wnid=path.parts[-2],
            content=content or path.stem,
            resnet50_confidence=float(confidence) if _is_number(confidence) else None,
        )


class ImageNetC(Layout):
    """``<corruption>/<severity>/<wnid>/ILSVRC2012_val_<8 digits>.JPEG``, no top folder."""

    CLASS_LISTS = ("ilsvrc",)

    def __init__(self, spec: DatasetSpec, side: Mapping[str, bytes]) -> None:
        super().__init__(spec, side)
        self._folder = f"{self.condition}/"

    def wanted(self, name: str) -> bool:
        """Only the files of this corruption and severity."""
        return name.startswith(self._folder)

    def key(self, name: str) -> str | Ignored:
        """``<wnid>/<validation image>``."""
        parts = PurePosixPath(name).parts
        if len(parts) != len(self.condition.split("/")) + 2 or not is_class(parts[-2]):
            return Ignored("not in a class folder")
        # Sequences of ImageNet-P are videos.
        named = name.endswith(".mp4") if self.extension == "mp4" else is_image_name(name)
        return stem_key(name, 2) if named else _NO_IMAGE

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a corrupted validation image."""
        path = PurePosixPath(name)
        wnid = path.parts[-2]
        return self.finish(
            name,
            data,
            source_key=path.stem,
            labels=[label_of(wnid)],
            wnid=wnid,
            **self.condition_fields(),
        )

    def condition_fields(self) -> dict[str, Any]:
        """What the condition adds to a sample's JSON."""
        return {"corruption": self.spec.group, "severity": self.spec.severity}


class ImageNetP(ImageNetC):
    """``<perturbation>/<wnid>/ILSVRC2012_val_<8 digits>.mp4``: a sequence is one sample."""

    extension = "mp4"

    def condition_fields(self) -> dict[str, Any]:
        """What the condition adds to a sample's JSON."""
        return {"perturbation": self.spec.group}


def _is_index(text: str) -> bool:
    # Signs such as a superscript two are digits, too, and no integers.
    return text.isascii() and text.isdigit() and len(text) <= 3


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?([eE][-+]?\d+)?", text))
