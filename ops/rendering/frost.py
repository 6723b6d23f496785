"""The frost photographs of a lake: its own fetched copies first, then those of the machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.fetch import standing
from ops.rendering.engines import Textures, engine
from ops.rendering.recipe import RENDERED_LAYOUTS
from ops.storage import Root, open_root

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec


class FrostUnavailable(ShiftlakeError):
    """The photographs that frost shows are missing, or are not the published ones."""


def textures(root: Root | str, catalog: Catalog) -> Textures:
    """The frost photographs that a dataset of this lake shows.

    Parameters
    ----------
    root : Root or str
        Where ``shiftlake fetch`` put them, if it did.
    catalog : Catalog
        Names them, and knows their hashes.

    Returns
    -------
    tuple of 5 uint8 arrays, shape (height, width, 3)
        RGB, in the order of their numbers.

    Raises
    ------
    FrostUnavailable
        If there are none, or they are not those of the catalog.
    """
    from ops.corruptions.textures import FILE_IDS, decode, found

    root = open_root(root)
    files = [catalog.file("imagenet-c", file_id) for file_id in FILE_IDS]
    try:
        receipts = [standing(root, file) for file in files]
        if not all(receipts):
            return found()
        contents = [root.read_bytes(file.path) for file in files]
        for file, receipt, content in zip(files, receipts, contents, strict=True):
            digest = hashlib.sha256(content).hexdigest()
            # The very bytes that are shown: the size of a file says little of its content.
            if receipt is not None and digest != receipt.sha256:
                raise ShiftlakeError(
                    "A fetched frost photograph has changed since it was verified.",
                    expected=f"sha256 {receipt.sha256}",
                    found=f"sha256 {digest}",
                    where=root.at(file.path),
                    remedy=f"remove it and fetch it again: shiftlake fetch {file.id}",
                )
        return decode(contents)
    except ShiftlakeError as error:
        raise FrostUnavailable(
            error.what,
            expected=error.expected,
            found=error.found,
            where=error.where,
            remedy=error.remedy,
        ) from error


def shows_frost(spec: DatasetSpec) -> bool:
    """Whether a dataset is rendered with the photographs."""
    named = RENDERED_LAYOUTS.get(spec.layout)
    return named is not None and engine(named[0]).needs_textures(spec)


def without_frost(
    root: Root, catalog: Catalog, specs: Sequence[DatasetSpec]
) -> tuple[list[DatasetSpec], FrostUnavailable | None]:
    """The datasets that can be made with or without the photographs, and why the others cannot.

    A missing photograph keeps frost from being made, and what derives from it, but nothing else.

    Returns
    -------
    (list of DatasetSpec, FrostUnavailable or None)
        All of `specs`, if the photographs are there or none shows them.
    """
    lacking = {spec.name for spec in specs if shows_frost(spec)}
    if not lacking:
        return list(specs), None
    try:
        textures(root, catalog)
    except FrostUnavailable as error:
        for _ in specs:
            lacking |= {spec.name for spec in specs if lacking.intersection(spec.derived_from)}
        return [spec for spec in specs if spec.name not in lacking], error
    return list(specs), None


def frost_left_out(
    error: FrostUnavailable, specs: Sequence[DatasetSpec], sealed: Sequence[str]
) -> FrostUnavailable:
    """The error at the end of a rendering that made everything but frost.

    Parameters
    ----------
    error : FrostUnavailable
        Why it could not.
    specs : sequence of DatasetSpec
        What was asked for.
    sealed : sequence of str
        Names of what is sealed nevertheless; if none, `error` says it all.
    """
    if not sealed:
        return error
    left_out = [spec.name for spec in specs if spec.name not in sealed]
    return FrostUnavailable(
        f"{error.what} Not made: {', '.join(left_out)}.",
        expected=error.expected,
        found=f"{error.found}; sealed without it: {', '.join(sealed)}",
        where=error.where,
        remedy=f"{error.remedy.rstrip('.')}. Then build again: what is sealed is left alone.",
    )
