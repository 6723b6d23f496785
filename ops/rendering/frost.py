"""The frost photographs of a lake: its own fetched copies first, then those of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.fetch import standing
from ops.rendering.engines import Textures
from ops.storage import Root, open_root

if TYPE_CHECKING:
    from ops.catalog import Catalog


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
    ShiftlakeError
        If there are none, or they are not those of the catalog.
    """
    from ops.corruptions.textures import FILE_IDS, decode, found

    root = open_root(root)
    files = [catalog.file("imagenet-c", file_id) for file_id in FILE_IDS]
    if all(standing(root, file) is not None for file in files):
        return decode([root.read_bytes(file.path) for file in files])
    return found()
