"""An entry that came with results of another place names code that nobody here chose."""

from __future__ import annotations

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry


def refuse_imported(entry: ModelEntry, where: object) -> None:
    """Refuse to run such an entry, before anything that it names is looked at.

    Raises
    ------
    ShiftlakeError
        If it was imported.
    """
    if entry.imported:
        raise ShiftlakeError(
            "The model cannot be run here.",
            expected="a model that was registered here",
            found="imported with its results: neither its weights nor its code were taken in",
            where=where,
            remedy=f"register {entry.name} here to run it",
        )
