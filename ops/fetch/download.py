"""From a catalog entry to a verified file under the root: URLs in turn, verdict, receipt."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ops.catalog import SourceFile
from ops.fetch import hashing, space, zenodo
from ops.fetch.body import Transient, Unavailable
from ops.fetch.credentials import clean, how_to_sign_in, scrub
from ops.fetch.errors import AllUrlsFailed, ManualFile
from ops.fetch.expected import Expected, by_catalog, complete
from ops.fetch.partial import Partial, folder_in, sole
from ops.fetch.receipt import Receipt, issue, read_receipt, standing
from ops.fetch.refusal import keep_aside
from ops.fetch.stored import adopt, publish
from ops.fetch.transfer import Patience, Transfer, WrongAnswer
from ops.storage import Root, open_root

Log = Callable[[str], None]
Progress = Callable[[int, int | None], None]


def fetch(
    root: Root | str,
    file: SourceFile,
    *,
    progress: Progress | None = None,
    log: Log | None = None,
    patience: Patience | None = None,
    again: bool = False,
) -> Receipt:
    """Bring a published file under the root, verified.

    Returns at once where a verified copy stands. A broken download is continued, also by a later
    process or from another mirror; what does not match the catalog is kept aside and the next
    URL tried. Two processes may ask for the same file: one downloads, the other waits.

    Parameters
    ----------
    root : Root or str
        Local or remote.
    file : SourceFile
        From :meth:`ops.catalog.Catalog.file`.
    progress : callable, optional
        Called with (bytes here, bytes in all or None) several times a second.
    log : callable, optional
        Called with one line for each thing worth knowing; none holds a credential. The default
        is the ``ops.fetch`` logger.
    patience : Patience, optional
        How often and how long to retry.
    again : bool
        Download even where a verified copy stands, and trust what comes as on first use if the
        catalog states no hash. The copy at hand is replaced only by a verified one.

    Returns
    -------
    Receipt
        As published beside the file.

    Raises
    ------
    ManualFile
        If the publisher offers no direct download.
    AllUrlsFailed
        If every URL failed; the message lists each with its reason.
    DiskFull
        If there is not enough room; what is downloaded already is kept.

    Examples
    --------
    >>> file = catalog.file("imagenet-a", "imagenet_a_tar")  # doctest: +SKIP
    >>> fetch(root, file).verified_by  # doctest: +SKIP
    ['sha256: catalog', 'size: catalog']
    """
    root = open_root(root)
    tell = _scrubbed(log)
    if not again and (receipt := standing(root, file)):
        return receipt
    folder = folder_in(root.scratch())
    with sole(folder, file, tell):
        # The one we waited for may have brought it.
        if not again and (receipt := standing(root, file) or adopt(root, file, tell)):
            return receipt
        earlier = None if again else read_receipt(root, file)
        known = by_catalog(file)
        if not known.hashes and earlier:
            # Trust on first use: later downloads have to be the same file.
            known.learn("first use", None, {"sha256": earlier.sha256})
        return _download(
            root, file, known, folder, progress or _silent, tell, patience or Patience()
        )


def _download(
    root: Root,
    file: SourceFile,
    expected: Expected,
    folder: Path,
    progress: Progress,
    log: Log,
    patience: Patience,
) -> Receipt:
    urls = _ask_zenodo(file, expected, log)
    if not urls:
        raise _manual(file)
    partial = Partial(folder, file)
    if expected.size is not None:
        space.require(folder, max(0, expected.size - partial.size), file.name)
    failed: list[tuple[str, str]] = []
    with hashing.Hashing(expected.kinds) as hashes:
        transfer = Transfer(
            what=file.name,
            archive_format=file.archive_format.value,
            expected=expected,
            partial=partial,
            hashing=hashes,
            patience=patience,
            progress=progress,
            log=log,
        )
        for url in urls:
            # What one host states about its copy says nothing about the next host's.
            transfer.expected = copy.deepcopy(expected)
            try:
                digests = _obtain(root, file, url, transfer)
            except (Transient, Unavailable) as error:
                failed.append((clean(url), scrub(str(error))))
                log(f"{file.name}: {clean(url)}: {error}")
                continue
            size = partial.size
            receipt = issue(
                file, _stored_url(url), size, digests, transfer.expected, transfer.attempts
            )
            publish(root, file, partial.path, receipt)
            partial.forget()
            log(f"{file.name}: {size:,} bytes, verified by {', '.join(receipt.verified_by)}")
            return receipt
    raise _all_failed(file, failed)


def _obtain(root: Root, file: SourceFile, url: str, transfer: Transfer) -> dict[str, str]:
    """Hashes of the finished partial, once it is the right file.

    Raises Unavailable, with the contradiction, where `url` gives something else.
    """
    partial = transfer.partial
    digests, problem = _download_and_judge(root, file, url, transfer)
    if problem and partial.joined:
        transfer.log(f"{file.name}: the parts do not fit together; once more from the start")
        partial.discard()
        digests, problem = _download_and_judge(root, file, url, transfer)
    if problem:
        refused = _refused(root, file, partial.path, url, *problem)
        partial.discard()
        raise refused
    return digests


def _download_and_judge(
    root: Root, file: SourceFile, url: str, transfer: Transfer
) -> tuple[dict[str, str], tuple[str, str] | None]:
    """Hashes of what came, and its contradiction to the facts if there is one."""
    partial, expected = transfer.partial, transfer.expected
    try:
        transfer.run(url)
    except WrongAnswer as wrong:
        raise _refused(root, file, partial.aside, url, wrong.expected, wrong.found) from None
    digests = complete(partial.path, expected, transfer.hashing.digests())
    transfer.hashing.reset()
    return digests, expected.problem(partial.size, digests)


def _refused(
    root: Root, file: SourceFile, wrong: Path, url: str, expected: str, found: str
) -> Unavailable:
    rel = keep_aside(root, file, wrong, url=_stored_url(url), expected=expected, found=found)
    hint = f"; {how_to_sign_in(url)}" if file.access == "login" else ""
    return Unavailable(f"expected {expected}, found {found}; kept as {rel}{hint}")


def _ask_zenodo(file: SourceFile, expected: Expected, log: Log) -> list[str]:
    """The URLs to try; `expected` learns what only Zenodo knows."""
    urls = list(file.urls)
    if expected.size is not None and expected.hashes:
        return urls
    stated = zenodo.state(file, log)
    if stated is None:
        return urls
    if stated.md5 and expected.hashes.get("md5", "") not in ("", hashing.normal(stated.md5)):
        log(f"{file.name}: Zenodo states {stated.md5}, the catalog another md5, which decides")
    expected.learn("zenodo", stated.size, {"md5": stated.md5})
    if stated.url is None:
        return urls
    return list(dict.fromkeys([stated.url, *urls] if zenodo.is_moved() else [*urls, stated.url]))


def _stored_url(url: str) -> str:
    # A path of this machine means nothing to the next reader of the receipt.
    parts = urlsplit(url)
    return f"file:{Path(unquote(parts.path)).name}" if parts.scheme == "file" else clean(url)


def _manual(file: SourceFile) -> ManualFile:
    return ManualFile(
        f"{file.name} of {file.benchmark} has no direct download.",
        expected="a URL in the catalog",
        found="none",
        where=f"{file.benchmark}/{file.id}",
        remedy=f"{_by_hand(file)}; or give a URL in an overlay ($SHIFTLAKE_CATALOG)",
    )


def _all_failed(file: SourceFile, failed: list[tuple[str, str]]) -> AllUrlsFailed:
    lines = "".join(f"\n      {url}: {reason}" for url, reason in failed)
    return AllUrlsFailed(
        f"{file.name} of {file.benchmark} could not be downloaded.",
        expected="the published file from one of its URLs",
        found=f"{len(failed)} of {len(failed)} URLs failed:{lines}",
        where=f"{file.benchmark}/{file.id}",
        remedy=f"run again later: what came is kept; or {_by_hand(file)}; "
        "or point $SHIFTLAKE_MIRROR to a copy of your own",
    )


def _by_hand(file: SourceFile) -> str:
    how = f" ({file.how_to_get})" if file.how_to_get else ""
    return f"get the file by hand{how} and add it"


def _scrubbed(log: Log | None) -> Log:
    sink = log or logging.getLogger("ops.fetch").info
    return lambda text: sink(scrub(text))


def _silent(done: int, total: int | None) -> None:
    """Progress nobody watches."""
