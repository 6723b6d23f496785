"""From the name of a video to a key that is safe in a tar, in a URL and as a file name."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

# Longer keys would, with what comes behind them, leave no room in the name of an unpacked file.
_MOST = 120
# Of one part of a path on the file systems there are.
MOST_BYTES = 255


# A file of labels names each video once for every one of its frames.
@lru_cache(maxsize=1024)
def clip_key(name: str) -> str:
    """Percent-encode all but ASCII letters, digits, ``_`` and ``-``.

    A key over 120 characters is cut and ends in a hash of the whole name.

    Examples
    --------
    >>> clip_key("holiday 1/été")
    'holiday%201%2F%C3%A9t%C3%A9'
    """
    key = re.sub(
        rb"[^A-Za-z0-9_-]", lambda found: b"%%%02X" % found[0][0], name.encode("utf-8")
    ).decode("ascii")
    if len(key) <= _MOST:
        return key
    # Not in the middle of a percent-encoded byte.
    head = re.sub(r"%[0-9A-F]?$", "", key[: _MOST - 17])
    return f"{head}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


@lru_cache(maxsize=1024)
def refusal(name: str) -> str | None:
    """Why a name is no path to a video below a folder, or None if it is one.

    Parameters
    ----------
    name : str
        As a file of labels gives it, with ``/`` between its parts.
    """
    if not name:
        return "an empty name"
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in name):
        return "a control character"
    if any(0xD800 <= ord(sign) < 0xE000 for sign in name):
        return "half of a surrogate pair"
    if name.startswith("/") or re.match(r"[A-Za-z]:[\\/]", name) or "://" in name:
        return "an absolute path"
    parts = re.split(r"[\\/]", name)
    if ".." in parts:
        return "a path that leaves the folder of videos"
    if "" in parts or "." in parts:
        return "a part of the path that is empty or a dot"
    if any(len(part.encode()) > MOST_BYTES for part in parts):
        return f"a name of more than {MOST_BYTES} bytes"
    return None
