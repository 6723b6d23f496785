"""Text as SQL writes it, for where a parameter cannot stand."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A string of SQL with its quotes, whatever stands in it."""
    return "'" + text.replace("'", "''") + "'"
