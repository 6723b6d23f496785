"""Which published files are still to be had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ops.catalog import Catalog, SourceFile
from ops.fetch import standing
from ops.shards import has_manifest
from ops.storage import Root


@dataclass(frozen=True)
class Downloads:
    """Files that are not here.

    Parameters
    ----------
    bytes : int
        Size of those that can be fetched, as far as the catalog states it.
    unsized : tuple of str
        Names of those that can be fetched and whose size nobody states.
    by_hand : tuple of str
        Names of those behind a login, which a person has to add; not in `bytes`.
    """

    bytes: int
    unsized: tuple[str, ...]
    by_hand: tuple[str, ...]


def downloads(root: Root, files: Iterable[SourceFile]) -> Downloads:
    """What of some published files is still to be had."""
    missing = [file for file in files if standing(root, file) is None]
    fetched = [file for file in missing if not file.manual]
    return Downloads(
        bytes=sum(file.bytes.value or 0 for file in fetched),
        unsized=tuple(_name(file) for file in fetched if file.bytes.value is None),
        by_hand=tuple(_name(file) for file in missing if file.manual),
    )


def files_to_build(root: Root, catalog: Catalog, dataset: str) -> tuple[SourceFile, ...]:
    """Files a dataset is built from, and what of its parents is not sealed; none if it is sealed.

    :meth:`ops.catalog.Catalog.sources` gives the archives behind a sealed parent, too.
    """
    if has_manifest(root, dataset):
        return ()
    spec = catalog.dataset(dataset)
    files = [catalog.file(spec.benchmark, file_id) for file_id in spec.files]
    for parent in spec.derived_from:
        files += files_to_build(root, catalog, parent)
    return tuple({(file.benchmark, file.id): file for file in files}.values())


def _name(file: SourceFile) -> str:
    # Several benchmarks have a blur.tar.
    return f"{file.benchmark}/{file.name}"
