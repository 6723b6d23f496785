"""Published files, verified: download, resume, recognise what was got by hand.

What belongs here: how bytes come from a publisher (or a person) to ``sources/`` and what proves
that they are the right ones. What is in an archive is the next stage's subject.
"""

from ops.fetch.add import add
from ops.fetch.download import fetch
from ops.fetch.errors import (
    AllUrlsFailed,
    AmbiguousFile,
    DiskFull,
    FetchError,
    ManualFile,
    UnknownFile,
    WrongContent,
)
from ops.fetch.probe import Offer, probe
from ops.fetch.receipt import Receipt, read_receipt, standing, verify_source
from ops.fetch.stored import drop_local, local_source
from ops.fetch.transfer import Patience

__all__ = [
    "AllUrlsFailed",
    "AmbiguousFile",
    "DiskFull",
    "FetchError",
    "ManualFile",
    "Offer",
    "Patience",
    "Receipt",
    "UnknownFile",
    "WrongContent",
    "add",
    "drop_local",
    "fetch",
    "local_source",
    "probe",
    "read_receipt",
    "standing",
    "verify_source",
]
