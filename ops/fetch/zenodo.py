"""Zenodo's own statement of a file: size, md5 and download link, where the catalog lacks them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

from ops.catalog import SourceFile
from ops.fetch.body import Transient, Unavailable
from ops.fetch.http import read_document

API_VARIABLE = "SHIFTLAKE_ZENODO_API"
PUBLIC_API = "https://zenodo.org/api"


@dataclass(frozen=True)
class Statement:
    """What the record says of one file; `md5` as published, `url` its download link."""

    size: int | None
    md5: str | None
    url: str | None


def state(file: SourceFile, log: Callable[[str], None]) -> Statement | None:
    """Ask the API for a file of a Zenodo record.

    Parameters
    ----------
    file : SourceFile
        Files without a Zenodo record are not asked for.
    log : callable
        Told why nothing came; a silent or changed API never stops a download.

    Returns
    -------
    Statement or None

    Notes
    -----
    ``GET <api>/records/<id>`` answers ``files[]`` with ``key``, ``size``, ``checksum``
    (``md5:<hex>``) and ``links.self``. ``$SHIFTLAKE_ZENODO_API`` moves it to a proxy.
    """
    if file.zenodo_record is None:
        return None
    base = os.environ.get(API_VARIABLE, "").rstrip("/") or PUBLIC_API
    try:
        record = json.loads(read_document(f"{base}/records/{file.zenodo_record}", timeout=20))
        entry = next(item for item in record["files"] if item["key"] == file.name)
        checksum = str(entry.get("checksum") or "")
        return Statement(
            size=int(entry["size"]) if "size" in entry else None,
            md5=checksum if checksum.startswith("md5:") else None,
            url=(entry.get("links") or {}).get("self"),
        )
    except (Transient, Unavailable) as error:
        log(f"Zenodo's API did not answer for record {file.zenodo_record}: {error}")
    except StopIteration:
        log(f"Zenodo's record {file.zenodo_record} lists no {file.name}")
    except (ValueError, KeyError, TypeError, AttributeError):
        log(f"Zenodo's API answered record {file.zenodo_record} in an unknown form")
    return None


def is_moved() -> bool:
    """Whether the user pointed the API elsewhere, and so wants its links first."""
    return bool(os.environ.get(API_VARIABLE))
