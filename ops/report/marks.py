"""Marks beside numbers that must not be taken for what they look like."""

from __future__ import annotations

from ops.report.document import Number, Table, Text

SYNTHETIC, SEEN = "*", "†"
_SAID = {
    SYNTHETIC: "images drawn by a program: the number says nothing about the real benchmark.",
    SEEN: "fine-tuned on videos of this very set: the number says nothing about other videos.",
}


def explained(table: Table) -> list[Text]:
    """What each mark in a table means; nothing of those that are not there."""
    there = {
        sign for row in table.rows for cell in row if isinstance(cell, Number) for sign in cell.mark
    }
    return [Text(said, sign) for sign, said in _SAID.items() if sign in there]
