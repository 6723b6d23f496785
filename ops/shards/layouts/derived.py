"""Layouts that read no image archive: ReaL's labels, and subsets of sealed datasets."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.fetch.archive import index_archive
from ops.fetch.archive_members import Members, Span, Wanted
from ops.shards.layouts.base import Ignored, Layout, parse_json
from ops.shards.layouts.imagenet import FlatVal, ImageNetC
from ops.shards.sample import Sample


class RealLabels(Layout):
    """``real.json``: list i, counted from 0, belongs to ``ILSVRC2012_val_<i + 1>``.

    Samples hold no image; their keys are those of the validation images they join to. An empty
    list stays: that image is left out of ReaL accuracy, numerator and denominator.
    """

    def index(self, archives: list[Path], spool: Path, wanted: Wanted) -> Members:
        """Read the lists; a list is a member of no bytes."""
        lists = parse_json(archives[0].read_bytes(), archives[0])
        if not isinstance(lists, list) or not all(
            isinstance(entry, list) and all(type(value) is int for value in entry)
            for entry in lists
        ):
            raise ShiftlakeError(
                "The ReaL labels cannot be understood.",
                expected="a JSON list of lists of class indices",
                found=type(lists).__name__,
                where=archives[0],
                remedy="remove the file and fetch it again",
            )
        wrong = [value for entry in lists for value in entry if not 0 <= value < 1000]
        if wrong:
            raise ShiftlakeError(
                "The ReaL labels hold indices that are no class.",
                expected="0 to 999",
                found=wrong[:5],
                where=archives[0],
                remedy="remove the file and fetch it again",
            )
        self.lists: list[list[int]] = lists
        members = Members()
        for number in range(len(lists)):
            members.add(f"real.json#{number}", Span(str(archives[0]), 0, 0))
        return members

    def key(self, name: str) -> str | Ignored:
        """Key of the validation image the list belongs to."""
        return f"ILSVRC2012_val_{int(name.rpartition('#')[2]) + 1:08d}"

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a list."""
        labels = self.lists[int(name.rpartition("#")[2])]
        source = str(self.key(name))
        return self.finish(name, None, source_key=source, labels=labels, has_cls=False)


class ClassSubset(Layout):
    """`n_per_class` images of each class of sealed datasets.

    The choice is keyed by seed and source image and by nothing else, so that every subset of the
    same photographs, corrupted or not, shows the same ones.
    """

    def index(self, archives: list[Path], spool: Path, wanted: Wanted) -> Members:
        """Index the images in the sealed shards."""
        members = Members()
        for shard in archives:
            members.extend(index_archive(shard, spool=spool, wanted=wanted))
        return members

    def wanted(self, name: str) -> bool:
        """Only the images of the samples."""
        return name.endswith(".jpg")

    def wnid(self, name: str) -> str:
        """Class of a sample, by the name of its image in a shard."""
        return PurePosixPath(name).parent.name

    def prepare(self, members: Members) -> Members:
        """Choose the images of each class."""
        limit = int(self.spec.parameters["n_per_class"])
        seed = int(self.spec.parameters["seed"])
        drawn: dict[str, list[tuple[bytes, str]]] = {}
        for name in members.names:
            wnid = self.wnid(name)
            draw = hashlib.sha256(f"{seed}/{wnid}/{PurePosixPath(name).stem}".encode()).digest()
            drawn.setdefault(wnid, []).append((draw, name))
        self.chosen = {name for of_class in drawn.values() for _, name in sorted(of_class)[:limit]}
        return members

    def beyond(self) -> Ignored:
        """Why an image is not one of the subset."""
        return Ignored(f"beyond {self.spec.parameters['n_per_class']} a class")


class SeveritySubset(ClassSubset, ImageNetC):
    """MiniImageNet-C, out of a sealed ImageNet-C condition; 50 a class is everything there is."""

    def key(self, name: str) -> str | Ignored:
        """The key of the sample in ImageNet-C."""
        path = PurePosixPath(name)
        return f"{path.parent.name}/{path.stem}" if name in self.chosen else self.beyond()

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample; `source_file` is the name in the published ImageNet-C."""
        sample = super().sample(name, data)
        path = PurePosixPath(name)
        published = f"{self.condition}/{path.parent.name}/{path.stem}.JPEG"
        return replace(sample, meta={**sample.meta, "source_file": published})


class ValSubset(ClassSubset, FlatVal):
    """Some validation images of each class, where all of them would take too long."""

    def wnid(self, name: str) -> str:
        """Class of a validation image, by its number."""
        return classes.ilsvrc().wnids[self.label(PurePosixPath(name).stem, name)]

    def key(self, name: str) -> str | Ignored:
        """The key of the validation image."""
        return super().key(name) if name in self.chosen else self.beyond()

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample; `source_file` is the published name."""
        sample = super().sample(name, data)
        return replace(sample, meta={**sample.meta, "source_file": f"{sample.key}.JPEG"})
