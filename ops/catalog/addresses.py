"""What can be told from an address alone: its file name, its Zenodo record, whether it downloads.

No request is made here.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

# Host (without "www.") -> what the path of a real download looks like there; a page that a person
# has to click through matches nothing.
_DOWNLOAD_PATHS = {
    "huggingface.co": re.compile(r"/resolve/"),
    "drive.google.com": re.compile(r"^/uc$"),
    "kaggle.com": re.compile(r"^/api/"),
    "opendatalab.com": re.compile(r"(?!)"),
}
_ZENODO_RECORD = re.compile(r"^/records?/(\d+)(?:/|$)")


def is_direct_download(url: str) -> bool:
    """Whether `url` names a file to download, not a landing page or a folder."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if pattern := _DOWNLOAD_PATHS.get(host):
        return pattern.search(parts.path) is not None
    return bool(file_name(url))


def file_name(url: str) -> str:
    """Last path component of `url`, without query; empty where the path ends in a slash."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def zenodo_record(url: str) -> str | None:
    """Record number of a Zenodo file, as its API wants it."""
    parts = urlsplit(url)
    if (parts.hostname or "") not in ("zenodo.org", "www.zenodo.org"):
        return None
    match = _ZENODO_RECORD.match(parts.path)
    return match.group(1) if match else None


def mirrored(prefix: str, benchmark: str, name: str) -> str:
    """Address of a file on a mirror laid out as ``<prefix>/<benchmark>/<name>``.

    `prefix` is a URL or a local folder, which becomes a ``file://`` URL.
    """
    base = prefix if "://" in prefix else Path(prefix).absolute().as_uri()
    return f"{base.rstrip('/')}/{quote(benchmark)}/{quote(name)}"


def without_secrets(url: str) -> str:
    """`url` as it may be shown: no user, password, query or fragment."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
