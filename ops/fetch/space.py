"""Room on the disk: asked for before a download, explained when it runs out in the middle."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ops.fetch.errors import DiskFull

# EFBIG: a quota by `ulimit -f`, or a file system that ends at 4 GiB; the cure is the same.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def margin(needed: int) -> int:
    """Bytes to leave free beside a file of `needed` bytes, so that the system stays alive."""
    return (1 << 20) + needed // 100


def require(folder: Path, needed: int, what: str) -> None:
    """Check that `needed` more bytes fit below `folder`.

    Raises
    ------
    DiskFull
        With the bytes needed, the bytes free and the folder.
    """
    free = shutil.disk_usage(folder).free
    if needed + margin(needed) > free:
        raise DiskFull(
            f"There is not enough room on the disk for {what}.",
            expected=f"{needed + margin(needed):,} bytes free ({needed:,} and a margin)",
            found=f"{free:,} bytes free",
            where=folder,
            remedy="free some space, or set SHIFTLAKE_ROOT or SHIFTLAKE_SCRATCH to a larger disk",
        )


@contextmanager
def explained(folder: Path, what: str) -> Iterator[None]:
    """Turn a full disk inside the block into a :class:`DiskFull` that says what is kept."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        free = shutil.disk_usage(folder).free
        raise DiskFull(
            f"The disk ran full in the middle of {what}.",
            expected="room for the rest of the file",
            found=f"{free:,} bytes free ({error.strerror})",
            where=folder,
            remedy="free some space and run again: the part already there is kept and continued",
        ) from error
