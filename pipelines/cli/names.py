"""Names and patterns on the command line, and errors that must not stop the other names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase

from ops.errors import ShiftlakeError
from pipelines.cli.terminal import err


def matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names that match a pattern, or lie below it, in their own order."""
    return [
        name
        for name in names
        if any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}/") for pattern in patterns)
    ]


def every(patterns: Sequence[str], names: Sequence[str], what: str) -> list[str]:
    """Names that match; each pattern has to match one.

    Raises
    ------
    ShiftlakeError
        If a pattern matches nothing.
    """
    for pattern in patterns:
        if not matching([pattern], names):
            near = get_close_matches(pattern, names, 3, 0.6)
            some = f"one of {len(names)}, such as {', '.join(names[:4])}" if names else "one"
            raise ShiftlakeError(
                f"No {what} has this name.",
                expected=f"perhaps {', '.join(near)}" if near else some,
                found=pattern if names else f"{pattern}, and no {what} at all",
                where="the command line",
                remedy="shiftlake datasets lists what can be built, and what is sealed",
            )
    return matching(patterns, names)


class Failures:
    """Errors of single items, shown as they come; the command fails at its end."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        """Show an error of one item, and go on with the next."""
        try:
            yield
        except ShiftlakeError as error:
            self.names.append(name)
            err.print(str(error), style="red", highlight=False, markup=False)

    def raise_any(self) -> None:
        """Fail if any item did.

        Raises
        ------
        ShiftlakeError
            That names the items.
        """
        if self.names:
            raise ShiftlakeError(
                "Not everything could be done.",
                expected="no failure",
                found=f"{len(self.names)} failed: {', '.join(self.names)}",
                where="this command",
                remedy="see above; what succeeded stays",
            )
