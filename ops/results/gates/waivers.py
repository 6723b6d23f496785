"""Waivers: losses that somebody has accepted, with a reason and until a date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Strict, StringConstraints

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Waiver(BaseModel):
    """One loss that is accepted for a time.

    Attributes
    ----------
    candidate : str
        A model, or a pattern of models (``student-*``).
    benchmark : str
        A benchmark (``imagenet_a``), one of its conditions (``imagenet_c/fog/3``) or a pattern.
    reason, by : str
        Why, and who answers for it; not empty.
    expires : date
        The last day on which it counts.
    missing : bool
        Whether it also accepts that there are no runs to compare. Nothing accepts a baseline that
        is not the one that the gate is about.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidate: Said
    benchmark: Said
    reason: Said
    by: Said
    expires: date
    missing: Annotated[bool, Strict()] = False

    def is_about(self, candidate: str, benchmark: str, condition: str) -> bool:
        """Whether it speaks of this candidate on this benchmark."""
        names = (benchmark, f"{benchmark}/{condition}")
        return fnmatchcase(candidate, self.candidate) and any(
            fnmatchcase(name, self.benchmark) for name in names
        )

    def counts(self, today: date) -> bool:
        """Whether it has not expired."""
        return today <= self.expires


def waiver_for(
    waivers: Sequence[Waiver],
    candidate: str,
    benchmark: str,
    condition: str,
    *,
    missing: bool = False,
) -> Waiver | None:
    """The waiver of a candidate on a benchmark, the one that lasts longest; None without one.

    Of a missing verdict, rather one that accepts it. It may have expired, or not accept it: that
    is said where it is not applied.
    """
    about = [each for each in waivers if each.is_about(candidate, benchmark, condition)]
    return max(about, key=lambda each: (each.missing or not missing, each.expires), default=None)
