"""The folder that a bundle is written to: what may be there, and what of it is removed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from ops.errors import ShiftlakeError
from ops.results.bundle.manifest import (
    DATABASE,
    DATABASE_HASH,
    MANIFEST,
    UNFINISHED,
    Unfinished,
    check_path,
    read_manifest,
)
from ops.storage import Root

_OWN = (MANIFEST, DATABASE, DATABASE_HASH, UNFINISHED)


def check_folder(root: Root, bundle: Root) -> None:
    """Refuse a folder of the storage root, and one that holds anything but a bundle.

    Raises
    ------
    ShiftlakeError
    """
    if _inside(bundle, root):
        raise ShiftlakeError(
            "A bundle cannot be written into the storage root.",
            expected="a folder outside the root",
            found=bundle.url,
            where=root.url,
            remedy="choose another folder",
        )
    _of_a_bundle(bundle)


def clear(bundle: Root, planned: Iterable[str]) -> None:
    """Remove the older bundle, and note what the new one will consist of.

    Removed is what the older manifest names. Whatever happens from now on, the next export knows
    from the note which files are a bundle's.

    Raises
    ------
    ShiftlakeError
        If one of the planned files is there and belongs to no bundle.
    """
    older, planned = _of_a_bundle(bundle), set(planned)
    there = set(bundle.list(""))
    if strangers := sorted((planned & there) - older):
        raise _other_files(bundle, strangers)
    note = {
        "format": "unfinished shiftlake results",
        "files": sorted({*older, *planned} - {*_OWN}),
    }
    bundle.write_json(UNFINISHED, note)
    # First, so that what is left of the older one is no bundle.
    for path in sorted(older & there - {UNFINISHED}, key=lambda path: (path != MANIFEST, path)):
        bundle.remove(path)


def _of_a_bundle(bundle: Root) -> set[str]:
    """Paths that a bundle in the folder consists of, finished or not; none if it is empty."""
    there = bundle.list("")
    if not there:
        return set()
    named: set[str] = set()
    try:
        if bundle.exists(UNFINISHED):
            note = Unfinished.model_validate_json(bundle.read_bytes(UNFINISHED))
            for path in note.files:
                check_path(path, bundle)
            named.update(note.files)
        # A manifest beside the note is that of the older bundle, or of one that is whole.
        if bundle.exists(MANIFEST) or not named:
            named.update(read_manifest(bundle).files)
    except (ValidationError, ShiftlakeError) as error:
        raise _other_files(bundle, there) from error
    return {*named, *_OWN}


def _inside(bundle: Root, root: Root) -> bool:
    if bundle.is_local != root.is_local:
        return False
    if bundle.is_local:
        return Path(bundle.url).resolve().is_relative_to(Path(root.url).resolve())
    return f"{bundle.url}/".startswith(f"{root.url}/")


def _other_files(bundle: Root, found: list[str]) -> ShiftlakeError:
    return ShiftlakeError(
        "The folder for the bundle holds other files.",
        expected="a new or empty folder, or an older bundle",
        found=", ".join(found[:3]) + (" …" if len(found) > 3 else ""),
        where=bundle.url,
        remedy="choose another folder",
    )
