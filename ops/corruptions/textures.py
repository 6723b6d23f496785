"""The frost photographs: where they are found, and whether they are the published ones.

Here: reading them. They are of unknown provenance and are never part of this project: they come
from the sources (``shiftlake fetch``), from a folder of one's own, or from an installed
``imagecorruptions``, which is looked into and never imported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from ops import catalog
from ops.errors import ShiftlakeError

Textures = tuple[npt.NDArray[np.uint8], ...]

FOLDER_VARIABLE = "SHIFTLAKE_FROST"
# A sixth photograph is published and never drawn: the official code draws one of five.
FILE_IDS = tuple(f"frost_texture_frost{number}" for number in (1, 2, 3, 4, 5))
_REMEDY = (
    f"Run `shiftlake fetch {' '.join(FILE_IDS)}`; outside a lake, name the folder that holds them "
    f"(in a lake: sources/imagenet-c) in ${FOLDER_VARIABLE}, or `pip install --no-deps "
    "imagecorruptions`, which carries them."
)


def found() -> Textures:
    """The frost photographs of this machine, read once for each value of the variable.

    Looked for in the folder ``$SHIFTLAKE_FROST``, then in an installed ``imagecorruptions``.

    Returns
    -------
    tuple of 5 uint8 arrays, shape (height, width, 3)
        RGB, in the order of their numbers.

    Raises
    ------
    ShiftlakeError
        There are none, or their hash is not that of the catalog.
    """
    return found_at(os.environ.get(FOLDER_VARIABLE) or None)


@cache
def found_at(named: str | None) -> Textures:
    """As :func:`found`, for a value of the variable; what was found once is kept."""
    if named:
        return read(Path(named))
    package = find_spec("imagecorruptions")
    for place in (package and package.submodule_search_locations) or ():
        folder = Path(place) / "frost"
        if folder.is_dir():
            return read(folder)
    raise ShiftlakeError(
        "Frost needs the published photographs, and none are here.",
        expected=f"{len(FILE_IDS)} photographs of ice",
        found=f"no ${FOLDER_VARIABLE}, no installed imagecorruptions",
        where="this machine",
        remedy=_REMEDY,
    )


def read(folder: Path) -> Textures:
    """Read the frost photographs of a folder, under the names they are published by.

    Parameters
    ----------
    folder : pathlib.Path
        Holds ``frost1.png`` to ``frost5.jpg``.

    Returns
    -------
    tuple of 5 uint8 arrays, shape (height, width, 3)
        RGB, in the order of their numbers.

    Raises
    ------
    ShiftlakeError
        One is missing, or its hash is not that of the catalog.
    """
    facts = catalog.load()
    contents = []
    for file_id in FILE_IDS:
        file = facts.file("imagenet-c", file_id)
        path = folder / file.name
        if not path.is_file():
            raise ShiftlakeError(
                "A frost photograph is missing.",
                expected=f"a file {file.name}",
                found="none",
                where=folder,
                remedy=_REMEDY,
            )
        content = path.read_bytes()
        for algorithm, expected in list(file.hashes.items())[:1]:
            if (digest := hashlib.new(algorithm, content).hexdigest()) != expected:
                raise ShiftlakeError(
                    "A frost photograph is not the published one.",
                    expected=f"{algorithm} {expected}",
                    found=digest,
                    where=path,
                    remedy=_REMEDY,
                )
        contents.append(content)
    return decode(contents)


def decode(contents: Sequence[bytes]) -> Textures:
    """Frost photographs from the bytes of their files, in the order of their numbers.

    Parameters
    ----------
    contents : sequence of bytes
        PNG or JPEG; an alpha channel is dropped.

    Returns
    -------
    tuple of uint8 arrays, shape (height, width, 3)
        RGB, not writeable.

    Raises
    ------
    ShiftlakeError
        One cannot be decoded.
    """
    textures: list[npt.NDArray[np.uint8]] = []
    for number, content in enumerate(contents, 1):
        image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
        if image is None:
            raise ShiftlakeError(
                "A frost photograph cannot be decoded.",
                expected="a PNG or JPEG file",
                found=f"{len(content)} bytes that begin with {content[:4]!r}",
                where=f"photograph {number}",
                remedy=_REMEDY,
            )
        texture = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)
        texture.flags.writeable = False
        textures.append(texture)
    return tuple(textures)
