"""The one error every stage raises: expected, found, where, and what to do."""

from __future__ import annotations


class ShiftlakeError(Exception):
    """A problem a user can act on.

    Parameters
    ----------
    what : str
        One sentence that names the problem.
    expected, found : object
        The two sides of the contradiction, as a user would write them.
    where : object
        File, shard, sample or URL (credentials already removed) the problem is in.
    remedy : str
        What the user can do now.
    """

    def __init__(
        self, what: str, *, expected: object, found: object, where: object, remedy: str
    ) -> None:
        self.what = what
        self.expected = expected
        self.found = found
        self.where = where
        self.remedy = remedy
        super().__init__(
            f"{what}\n  expected: {expected}\n  found:    {found}\n"
            f"  where:    {where}\n  to do:    {remedy}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders by pickling; keyword-only arguments need the long way.
        return (
            _rebuild,
            (type(self), self.what, self.expected, self.found, self.where, self.remedy),
        )


def _rebuild(
    kind: type[ShiftlakeError],
    what: str,
    expected: object,
    found: object,
    where: object,
    remedy: str,
) -> ShiftlakeError:
    return kind(what, expected=expected, found=found, where=where, remedy=remedy)
