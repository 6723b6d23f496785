"""Events as CSV, a row each, out and in again."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.storage import Root
from ops.video.review.events import Event, read_event
from ops.video.review.imported import Imported, derived_id
from ops.video.review.review import Review
from ops.video.review.reviewed import Reviewed

if TYPE_CHECKING:
    from ops.catalog import Catalog

COLUMNS = tuple(Event.model_fields)
_NEEDED = ("kind", "reviewer", "subject")
_LISTS = ("reasons", "labels")
_NUMBERS = ("ms_spent", "shown")
# What a spreadsheet would take for a formula; the sign in front of it is its sign for text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_csv(review: Reviewed, *, any_mining: bool = False) -> str:
    """All events of a review by time, a row each; columns as the fields of :class:`Event`.

    Several labels or reasons are separated by spaces. A note that a spreadsheet would take for a
    formula has an apostrophe in front, which :func:`import_csv` takes away.

    Parameters
    ----------
    review : Reviewed
    any_mining : bool
        Leave out of which mining the review is: it can then be imported into any that has the same
        frame sets.
    """
    text = io.StringIO()
    # Signs of the line's end are quoted within a cell, and both of them may stand in a note.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for event in review.events:
        row = event.model_dump(mode="json")
        if any_mining:
            row["mined_version"] = ""
        row.update({name: " ".join(map(str, row[name])) for name in _LISTS})
        if row["note"].startswith((*_FORMULA, "'")):
            row["note"] = f"'{row['note']}"
        writer.writerow(row)
    return text.getvalue()


def import_csv(root: Root, source: str, catalog: Catalog | None, text: str) -> Imported:
    """Record the events of a CSV; those known already are not recorded again.

    Parameters
    ----------
    root : Root
    source : str
    catalog : Catalog, optional
    text : str
        With a header. The columns kind, reviewer and subject are needed, others may be missing;
        where `id` is empty it is derived from the row, where `mined_version` is, the row is about
        the sealed mining, whichever it is.

    Returns
    -------
    Imported

    Raises
    ------
    OlderMining
        If a row is about another mining than the sealed one.
    ShiftlakeError
        If the text is no such CSV, or a row cannot be recorded; nothing is recorded then.
    """
    review = Review.open(root, source, catalog)
    events = read_csv(text, review.mined_version)
    known = review.decisions().votes.events
    new = {event.id for event in events} - known.keys()
    review.record(events)
    return Imported(recorded=len(new), known=len(events) - len(new))


def read_csv(text: str, mined_version: str) -> list[Event]:
    """Events of a CSV; rows without `mined_version` are about the one given.

    Raises
    ------
    ShiftlakeError
        If the text is no such CSV.
    """
    try:
        reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        names = reader.fieldnames or ()
        lacking = [name for name in _NEEDED if name not in names]
        strange = [name for name in names if name not in COLUMNS]
        if lacking or strange:
            raise _unread(
                f"columns of {', '.join(COLUMNS)}",
                f"no {', '.join(lacking)}" if lacking else f"a column {strange[0]!r}",
                "header",
            )
        return [_event(row, mined_version, reader.line_num) for row in reader]
    except csv.Error as error:
        raise _unread("CSV", str(error), "the text") from error


def _event(row: dict[str | Any, Any], mined_version: str, line: int) -> Event:
    if None in row or None in row.values():
        raise _unread("as many cells as the header has", "more or fewer", f"line {line}")
    fields: dict[str, Any] = {name: value for name, value in row.items() if value != ""}
    fields.setdefault("mined_version", mined_version)
    for name in _LISTS:
        fields[name] = tuple(fields.get(name, "").split())
    if "note" in fields:
        fields["note"] = fields["note"].removeprefix("'")
    for name in ("labels", *_NUMBERS):
        if name in fields:
            fields[name] = _whole(fields[name], f"{name}, line {line}")
    fields.setdefault("id", derived_id(sorted(row.items())))
    return read_event(fields, f"line {line}")


def _whole(value: Any, where: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_whole(each, where) for each in value)
    if not (value.isascii() and value.isdigit() and len(value) < 16):
        raise _unread("a whole number", repr(value)[:80], where)
    return int(value)


def _unread(expected: object, found: object, where: object) -> ShiftlakeError:
    return ShiftlakeError(
        "This is no CSV of decisions.",
        expected=expected,
        found=found,
        where=where,
        remedy="take a file that was exported here as a pattern; nothing was recorded",
    )
