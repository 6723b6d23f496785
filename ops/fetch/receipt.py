"""The receipt beside a verified file: where it came from, what it is, what confirmed it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, ValidationError

from ops.catalog import SourceFile
from ops.fetch import hashing
from ops.fetch.errors import WrongContent
from ops.fetch.expected import Expected, by_catalog
from ops.storage import Root, paths


class Receipt(BaseModel):
    """A verified file.

    Attributes
    ----------
    benchmark, file, name : str
        Catalog ids, and the name on disk.
    url : str or None
        Where it came from, without credentials; None for a file added by hand.
    bytes : int
    sha256 : str
    md5, sha1 : str or None
        Only where they were computed.
    fetched_at : str
        ISO 8601, UTC.
    verified_by : list of str
        ``<fact>: <who says so>``, for example ``sha256: catalog``; ``first use`` where no hash
        was known.
    attempts : int
        Requests it took, over all URLs.
    """

    model_config = ConfigDict(frozen=True)

    benchmark: str
    file: str
    name: str
    url: str | None
    bytes: int
    md5: str | None = None
    sha1: str | None = None
    sha256: str
    fetched_at: str
    verified_by: list[str]
    attempts: int


def now() -> str:
    """The present moment, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def issue(
    file: SourceFile,
    url: str | None,
    size: int,
    digests: Mapping[str, str],
    expected: Expected,
    attempts: int,
) -> Receipt:
    """The receipt of bytes that were just found to be as `expected`; not yet written."""
    return Receipt(
        benchmark=file.benchmark,
        file=file.id,
        name=file.name,
        url=url,
        bytes=size,
        md5=digests.get("md5"),
        sha1=digests.get("sha1"),
        sha256=digests["sha256"],
        fetched_at=now(),
        verified_by=expected.verified_by(digests),
        attempts=attempts,
    )


def read_receipt(root: Root, file: SourceFile) -> Receipt | None:
    """The receipt of a file, or None where it was never verified.

    Raises
    ------
    WrongContent
        If there is a receipt that cannot be understood.
    """
    rel = paths.receipt(file.benchmark, file.name)
    if not root.exists(rel):
        return None
    try:
        return Receipt.model_validate(root.read_json(rel))
    except ValidationError as error:
        raise WrongContent(
            "A receipt cannot be understood.",
            expected="a receipt as Shiftlake writes it",
            found=f"{error.error_count()} wrong fields",
            where=root.at(rel),
            remedy="remove the receipt and fetch the file again",
        ) from error


def write_receipt(root: Root, file: SourceFile, receipt: Receipt) -> Receipt:
    """Publish a receipt; the file itself has to stand already."""
    root.write_json(paths.receipt(file.benchmark, file.name), receipt.model_dump())
    return receipt


def standing(root: Root, file: SourceFile) -> Receipt | None:
    """The receipt of a file that is there, of the right size, and still what the catalog expects.

    A local stat or one request; the bytes are not read, :func:`verify_source` does that.
    """
    receipt = read_receipt(root, file)
    if receipt is None or root.size(file.path) != receipt.bytes:
        return None
    kept = {kind: value for kind in hashing.KINDS if (value := getattr(receipt, kind))}
    return None if by_catalog(file).problem(receipt.bytes, kept) else receipt


def verify_source(root: Root, file: SourceFile) -> None:
    """Read a stored file again and compare it with its receipt.

    Raises
    ------
    WrongContent
        If it has no receipt, is gone, or its size or hash changed.
    """
    receipt = read_receipt(root, file)
    where = root.at(file.path)
    remedy = "fetch the file again; remove the stored copy first"
    if receipt is None:
        raise WrongContent(
            f"{file.name} was never verified.",
            expected="a receipt beside the file",
            found="none",
            where=where,
            remedy="fetch the file, or add it if you have it already",
        )
    size = root.size(file.path)
    if size != receipt.bytes:
        raise WrongContent(
            f"{file.name} has another size than when it was verified.",
            expected=f"{receipt.bytes:,} bytes",
            found="no file" if size is None else f"{size:,} bytes",
            where=where,
            remedy=remedy,
        )
    with root.open(file.path) as stream:
        found = hashing.of_file(stream, ("sha256",))["sha256"]
    if found != receipt.sha256:
        raise WrongContent(
            f"{file.name} has changed since it was verified.",
            expected=f"sha256 {receipt.sha256}",
            found=f"sha256 {found}",
            where=where,
            remedy=remedy,
        )
