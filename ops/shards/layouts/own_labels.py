"""Layouts of the benchmarks with a label space of their own: CIFAR-100, Caltech, SUN."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import numpy as np

from ops.errors import ShiftlakeError
from ops.fetch.archive_members import Members, Reader, Span
from ops.pixels import encode_png
from ops.shards.layouts.base import Ignored, Layout, stem_key
from ops.shards.sample import Sample, safe_key


class CifarBinary(Layout):
    """CIFAR-100's binary archive: records of coarse byte, fine byte, 3,072 CHW bytes.

    The pixels have no file format, so each record becomes a PNG that stores them as they are.
    """

    extension = "png"
    RECORD = 2 + 3 * 32 * 32

    def wanted(self, name: str) -> bool:
        """Only the records of this split."""
        return PurePosixPath(name).name == f"{self.condition}.bin"

    def prepare(self, members: Members) -> Members:
        """Replace the file of records by its records."""
        records = Members()
        for position, name in enumerate(members.names):
            span = members.span(position)
            if span.size % self.RECORD:
                raise ShiftlakeError(
                    "A CIFAR-100 file does not hold whole records.",
                    expected=f"a multiple of {self.RECORD} bytes",
                    found=f"{span.size:,} bytes",
                    where=name,
                    remedy="fetch the archive again",
                )
            for number in range(span.size // self.RECORD):
                start = span.offset + number * self.RECORD
                records.add(
                    f"{name}#{number:05d}", Span(span.path, start, self.RECORD, file=span.file)
                )
        return records

    def key(self, name: str) -> str | Ignored:
        """``<split>/<number of the record>``."""
        return f"{self.condition}/{name.rpartition('#')[2]}"

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a record."""
        source = f"{self.condition}/{name.rpartition('#')[2]}"
        planes = np.frombuffer(data, np.uint8, offset=2).reshape(3, 32, 32)
        image = encode_png(planes.transpose(1, 2, 0))
        return self.finish(name, image, source_key=source, labels=[data[1]], coarse=data[0])


class Caltech101(Layout):
    """A tar.gz in a zip; labels are positions among the sorted class folders.

    ``BACKGROUND_Google`` is left out, as torchvision does, so that 101 classes and 8,677 images
    remain.
    """

    BACKGROUND = "BACKGROUND_Google"
    _IMAGE = re.compile(r"image_\d{4}\.jpg")

    def nested(self, name: str) -> bool:
        """Look into the tar of images."""
        return PurePosixPath(name).name == "101_ObjectCategories.tar.gz"

    def prepare(self, members: Members) -> Members:
        """Learn the class folders."""
        images = map(PurePosixPath, members.names)
        folders = {path.parent.name for path in images if self._IMAGE.fullmatch(path.name)}
        self.names = sorted(folders - {self.BACKGROUND})
        return members

    def key(self, name: str) -> str | Ignored:
        """``<class>/image_<4 digits>``."""
        path = PurePosixPath(name)
        if not self._IMAGE.fullmatch(path.name):
            return Ignored("not an image of a class")
        if path.parent.name == self.BACKGROUND:
            return Ignored("background image")
        return stem_key(name, 2)

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an image in a class folder."""
        path = PurePosixPath(name)
        folder = path.parent.name
        source = f"{folder}/{path.stem}"
        labels = [self.names.index(folder)]
        return self.finish(name, data, source_key=source, labels=labels, class_name=folder)


class Caltech256(Layout):
    """``256_ObjectCategories/NNN.name/NNN_MMMM.jpg``: the label is the folder's number less 1.

    ``257.clutter`` stays, with label 256. Stray files and folders inside classes are left out.
    """

    _FILE = re.compile(r"(?:.*/)?(\d{3})\.([^/]+)/(\d{3})_\d{4}\.jpg")

    def key(self, name: str) -> str | Ignored:
        """``<folder>/<file stem>``, dots encoded."""
        found = self._FILE.fullmatch(name)
        if not found or found[1] != found[3]:
            return Ignored("not an image of a class")
        return stem_key(name, 2)

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an image in a class folder."""
        path = PurePosixPath(name)
        number, _, class_name = path.parent.name.partition(".")
        labels = [int(number) - 1]
        return self.finish(name, data, source_key=path.stem, labels=labels, class_name=class_name)


class Sun397(Layout):
    """``SUN397/<letter>/<class>[/<sub>]/sun_<id>.jpg``; labels in the order of ClassName.txt."""

    def prepare(self, members: Members) -> Members:
        """Read the order of the classes."""
        lists = [
            position
            for position, name in enumerate(members.names)
            if PurePosixPath(name).name == "ClassName.txt"
        ]
        if not lists:
            raise ShiftlakeError(
                "SUN-397's archive lacks its list of classes.",
                expected="SUN397/ClassName.txt",
                found=f"{len(members):,} other files",
                where=self.spec.name,
                remedy="fetch the archive again",
            )
        with Reader() as reader:
            text = reader.read(members.span(lists[0])).decode()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        self.position = {line.strip("/"): label for label, line in enumerate(lines)}
        return members

    def key(self, name: str) -> str | Ignored:
        """``<class>[/<sub>]/<file stem>``: the leading letter says nothing."""
        path = PurePosixPath(name)
        if not path.name.startswith("sun_"):
            return Ignored("not an image of a class")
        folder = self._folder(name)
        if folder not in self.position:
            return Ignored("folder not in ClassName.txt")
        return safe_key(f"{folder.partition('/')[2]}/{path.stem}")

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of an image in a class folder."""
        folder = self._folder(name)
        return self.finish(
            name,
            data,
            source_key=PurePosixPath(name).stem,
            labels=[self.position[folder]],
            class_name=folder.partition("/")[2],
        )

    def _folder(self, name: str) -> str:
        parts = PurePosixPath(name).parent.parts
        return "/".join(parts[1:] if parts and parts[0] == "SUN397" else parts)
