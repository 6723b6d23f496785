"""A file got by hand: recognise which of the catalog's it is, and take it in with a receipt."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from ops.catalog import Catalog, SourceFile
from ops.fetch import hashing, page, space
from ops.fetch.errors import AmbiguousFile, FetchError, UnknownFile, WrongContent
from ops.fetch.expected import by_catalog, complete
from ops.fetch.partial import folder_in, sole
from ops.fetch.receipt import Receipt, issue, read_receipt, standing
from ops.fetch.stored import publish
from ops.storage import Root, open_root

# What browsers put into the name of a second download: "noise (1).tar".
_COPY_MARK = re.compile(r" ?\(\d+\)(?=\.|$)")


def add(root: Root | str, catalog: Catalog, path: str | Path) -> Receipt:
    """Take in a file that was downloaded by hand.

    It is recognised by its hash, whatever it is called; where the catalog knows no hash, by its
    name (and size, if known). The original stays where it is.

    Parameters
    ----------
    root : Root or str
        Local or remote.
    catalog : Catalog
    path : str or Path
        The file, as the publisher made it: not unpacked, not repacked.

    Returns
    -------
    Receipt
        As published beside the copy; its `url` is None.

    Raises
    ------
    UnknownFile
        If neither hash nor name is in the catalog.
    WrongContent
        If it is named like a published file and has another size or hash, or is a web page.
    AmbiguousFile
        If several entries fit and nothing tells which.
    DiskFull
    """
    root = open_root(root)
    given = Path(path)
    if not given.is_file():
        raise UnknownFile(
            "There is no such file to add.",
            expected="a downloaded archive or document",
            found="a folder" if given.is_dir() else "nothing",
            where=given,
            remedy="give the path of the file itself, not unpacked",
        )
    size = given.stat().st_size
    name = _COPY_MARK.sub("", given.name)
    candidates = [
        file
        for file in catalog.source_files()
        if (by_catalog(file).size or size) == size or file.name == name
    ]
    folder = folder_in(root.scratch())
    space.require(folder, size, given.name)
    copied = folder / f"add-{uuid.uuid4().hex[:12]}.part"
    try:
        with space.explained(folder, given.name):
            digests = _copy(given, copied, _kinds(candidates))
        file = _recognise(candidates, name, given, copied, digests)
        with sole(folder, file, lambda _: None):
            here = standing(root, file)
            if here is not None and here.sha256 == digests["sha256"]:
                return here
            _refuse_another_first_use(root, file, given, digests)
            expected = by_catalog(file)
            found = complete(copied, expected, digests)
            return publish(root, file, copied, issue(file, None, size, found, expected, 1))
    finally:
        copied.unlink(missing_ok=True)


def _kinds(candidates: Sequence[SourceFile]) -> tuple[str, ...]:
    wanted = {kind for file in candidates for kind in by_catalog(file).kinds}
    return tuple(kind for kind in hashing.KINDS if kind == "sha256" or kind in wanted)


def _copy(source: Path, target: Path, kinds: tuple[str, ...]) -> dict[str, str]:
    """Copy and hash in one pass: an archive of 148 GB is read once."""
    with (
        hashing.Hashing(kinds) as hashes,
        source.open("rb") as reading,
        target.open("wb", buffering=0) as writing,
    ):
        while piece := reading.read(hashing.PIECE):
            view = memoryview(piece)
            while view:
                view = view[writing.write(view) :]
            hashes.feed([piece])
        os.fsync(writing.fileno())
        return hashes.digests()


def _recognise(
    candidates: Sequence[SourceFile], name: str, given: Path, copied: Path, digests: dict[str, str]
) -> SourceFile:
    """The one entry that the file is. Hash first: a name proves nothing."""
    size = copied.stat().st_size
    by_hash = []
    for file in candidates:
        expected = by_catalog(file)
        found = complete(copied, expected, digests)
        if expected.matches(found) and not expected.problem(size, found):
            by_hash.append(file)
    if by_hash:
        named = [file for file in by_hash if file.name == name]
        return _only(by_hash if len(by_hash) == 1 else named or by_hash, given)
    named = [file for file in candidates if file.name == name]
    if not named:
        raise UnknownFile(
            "The file is none of the catalog's.",
            expected="a file whose hash, or else name, the catalog knows",
            found=f"{size:,} bytes, sha256 {digests['sha256']}",
            where=given,
            remedy="give it the publisher's name if the catalog lists no hash for it; "
            "a repacked archive cannot be used",
        )
    fitting = [file for file in named if _contradiction(file, copied, digests) is None]
    if not fitting:
        raise _wrong(named, given, copied, digests)
    file = _only(fitting, given)
    with copied.open("rb") as stream:
        head = stream.read(page.SNIFF_BYTES)
    if page.is_page(head, "", file.archive_format.value):
        raise WrongContent(
            f"What was saved as {given.name} is a web page.",
            expected=file.archive_format.value or "the published file",
            found=page.describe(head),
            where=given,
            remedy="open the link in a browser, sign in where asked, and save the file itself",
        )
    return file


def _contradiction(
    file: SourceFile, copied: Path, digests: dict[str, str]
) -> tuple[str, str] | None:
    expected = by_catalog(file)
    return expected.problem(copied.stat().st_size, complete(copied, expected, digests))


def _only(files: Sequence[SourceFile], given: Path) -> SourceFile:
    if len(files) == 1:
        return files[0]
    entries = ", ".join(f"{file.benchmark}/{file.id}" for file in files)
    raise AmbiguousFile(
        "The file could be several of the catalog's.",
        expected="a hash or a size that tells them apart",
        found=entries,
        where=given,
        remedy="state the size or a hash of the one meant in an overlay ($SHIFTLAKE_CATALOG), "
        "or fetch it from its URL",
    )


def _wrong(
    named: Sequence[SourceFile], given: Path, copied: Path, digests: dict[str, str]
) -> FetchError:
    pairs = [(file, _contradiction(file, copied, digests)) for file in named]
    told = [(f"{file.benchmark}/{file.id}", pair) for file, pair in pairs if pair]
    return WrongContent(
        f"{given.name} is not the published file of that name.",
        expected="; ".join(f"{entry}: {pair[0]}" for entry, pair in told),
        found="; ".join(dict.fromkeys(pair[1] for _, pair in told)),
        where=given,
        remedy="download it again: it may be cut short, repacked, or an older release",
    )


def _refuse_another_first_use(
    root: Root, file: SourceFile, given: Path, digests: dict[str, str]
) -> None:
    """Where no hash is published, the first copy decides what the file is."""
    earlier = read_receipt(root, file)
    if earlier and not by_catalog(file).hashes and earlier.sha256 != digests["sha256"]:
        raise WrongContent(
            f"{given.name} differs from the copy that was verified first.",
            expected=f"sha256 {earlier.sha256} (first use)",
            found=f"sha256 {digests['sha256']}",
            where=given,
            remedy=f"keep the first copy, or remove {root.at(file.path)} and its receipt",
        )
