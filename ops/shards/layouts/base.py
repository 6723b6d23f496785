"""What a layout is: the rule from a published file's name to a sample's key and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from ops.catalog.classes import fingerprint
from ops.errors import ShiftlakeError
from ops.fetch.archive import index_archive
from ops.fetch.archive_members import Members, Wanted
from ops.shards.sample import Sample, media_format, safe_key

if TYPE_CHECKING:
    from ops.catalog import DatasetSpec

_IMAGE_SUFFIXES = frozenset(("bmp", "gif", "jpeg", "jpg", "png", "tif", "tiff", "webp"))


class Ignored(str):
    """The reason why a published file is no sample of a dataset."""

    __slots__ = ()


class Layout:
    """The rule of one dataset; subclasses say what a name means.

    A layout is made once, sees the whole index in :meth:`prepare`, gives a key for every name,
    and then travels to the workers, where :meth:`sample` sees one file's bytes at a time.

    Parameters
    ----------
    spec : DatasetSpec
        The dataset.
    side : mapping of str to bytes
        Contents of the small files the dataset needs beside its archive, by file id.
    """

    extension = "jpg"
    # Raised by one whenever a rule of the layout changes what it makes of the same archive.
    VERSION: ClassVar[int] = 1
    # Class data of the catalog that keys and labels come from; a mask adds its own.
    CLASS_LISTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: DatasetSpec, side: Mapping[str, bytes]) -> None:
        self.spec = spec
        self.side = dict(side)
        self.condition = spec.name.split("/", 1)[1]

    @classmethod
    def rules(cls, spec: DatasetSpec) -> dict[str, Any]:
        """What determines keys and labels beside the sources, for the dataset's version."""
        lists = (*cls.CLASS_LISTS, *([spec.mask] if spec.mask else []))
        return {"version": cls.VERSION, "classes": {name: fingerprint(name) for name in lists}}

    def index(self, archives: list[Path], spool: Path, wanted: Wanted) -> Members:
        """Index what the dataset is made of; `wanted` may ask for more than this dataset's part."""

        def nested(name: str) -> bool:
            return not is_apple_double(name) and self.nested(name)

        return index_archive(archives[0], spool=spool, wanted=wanted, nested=nested)

    def wanted(self, name: str) -> bool:
        """Whether a member is worth inflating; a cheap first sieve."""
        return True

    def nested(self, name: str) -> bool:
        """Whether a member is an archive to look into."""
        return False

    def prepare(self, members: Members) -> Members:
        """See the whole index once; may read members, or replace them by others."""
        return members

    def key(self, name: str) -> str | Ignored:
        """Key of the sample a file becomes, or why it is none."""
        raise TypeError(f"{type(self).__name__} gives no keys")

    def group(self, key: str) -> str:
        """Samples of one group, adjacent by key, never lie in two shards."""
        return key

    def sample(self, name: str, data: bytes) -> Sample:
        """Make the sample of a file."""
        raise TypeError(f"{type(self).__name__} gives no samples")

    def finish(
        self,
        name: str,
        data: bytes | None,
        *,
        source_key: str,
        labels: list[int],
        has_cls: bool = True,
        **extra: Any,
    ) -> Sample:
        """Put a sample together; `extra` goes into its JSON member."""
        key = self.key(name)
        assert not isinstance(key, Ignored), f"{name} has no key: {key}"
        meta = {
            "benchmark": self.spec.name.split("/", 1)[0],
            "condition": self.condition,
            "source_key": source_key,
            "source_file": name,
            "labels": labels,
            **extra,
        }
        if data is not None:
            meta["format"] = media_format(data)
        cls = labels[0] if has_cls and len(labels) == 1 else None
        return Sample(key, data, self.extension, cls, meta)


def is_apple_double(name: str) -> bool:
    """Whether a file is what macOS packs beside each real one: ``__MACOSX/``, ``._<name>``."""
    return "/._" in f"/{name}" or "/__MACOSX/" in f"/{name}"


def is_image_name(name: str) -> bool:
    """Whether a file is named as an image, and is not hidden."""
    file = name.rpartition("/")[2]
    return file.rpartition(".")[2].lower() in _IMAGE_SUFFIXES and not file.startswith(".")


def parse_json(data: bytes, where: object) -> Any:
    """Content of a published JSON file.

    Raises
    ------
    ShiftlakeError
        If it is not JSON.
    """
    try:
        return json.loads(data)
    except ValueError as error:
        raise ShiftlakeError(
            "A published file is not the JSON it should be.",
            expected="JSON",
            found=f"{data[:40]!r}: {error}",
            where=where,
            remedy="remove the file and fetch it again",
        ) from error


def stem_key(name: str, levels: int) -> str:
    """Key from the last `levels` parts of a path, without the file's suffix."""
    parts = name.split("/")[-levels:]
    parts[-1] = PurePosixPath(parts[-1]).stem
    return safe_key("/".join(parts))


def missing_files(dataset: str, what: str, names: list[str]) -> ShiftlakeError:
    """The error for files that the annotations name and the archive lacks."""
    return ShiftlakeError(
        f"{dataset}: the archive lacks files that its annotations name.",
        expected=f"{what}, all present",
        found=f"{len(names):,} missing, such as {sorted(names)[:3]}",
        where=dataset,
        remedy="fetch the archive and the annotation files again; they do not belong together",
    )
