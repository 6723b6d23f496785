"""Stored files that cannot be understood: collected, never raised, so that one closes no view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ops.errors import ShiftlakeError
from ops.storage import Root

_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True)
class Unreadable:
    """A stored file that is damaged.

    Parameters
    ----------
    path : str
        Below the root.
    why : str
        In one line.
    remedy : str
        What to do.
    """

    path: str
    why: str
    remedy: str

    @property
    def reason(self) -> str:
        """File, reason and remedy, in one line."""
        return f"{self.path} cannot be read ({self.why}): {self.remedy}"


def read_as(
    root: Root, path: str, kind: type[_M], remedy: str, **more: object
) -> _M | Unreadable | None:
    """Read a JSON file as the class that wrote it.

    Parameters
    ----------
    root : Root
    path : str
    kind : type
        The pydantic class.
    remedy : str
        For a user, should it be damaged.
    more
        Fields that the file does not hold.

    Returns
    -------
    object of `kind`, Unreadable or None
        None where the file has gone since it was listed.
    """
    try:
        content = root.read_json(path)
        if not isinstance(content, dict):
            return Unreadable(path, f"a {type(content).__name__} instead of an object", remedy)
        return kind.model_validate({**content, **more})
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
        return Unreadable(path, why, remedy)
    except ShiftlakeError as error:
        return Unreadable(path, " ".join(str(error.found).split()), remedy)
