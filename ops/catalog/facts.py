"""What a single fact is: a value, who says so, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Value = TypeVar("Value")

Status = Literal[
    "verified-locally",
    "multi-source",
    "single-source",
    "inferred",
    "unsourced",
    "unknown",
    "overlay",
]


class Record(BaseModel):
    """Base of everything in the catalog: frozen, and a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Sources = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class Fact(Record, Generic[Value]):
    """A value with its sources.

    Attributes
    ----------
    value
        The fact; None where it is unknown, never a guess.
    source : tuple of str
        ``github:<owner>/<repo>@<commit prefix>:<path>``, a URL, or a sentence.
    status : str
        How far to trust it; the words are explained in ``data/catalog.yaml``.
    note : str or None
    """

    value: Value
    source: Sources = ()
    status: Status = "overlay"
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_plain_value(cls, given: Any) -> Any:
        if isinstance(given, Fact):
            return {name: getattr(given, name) for name in Fact.model_fields}
        fact = dict(given) if isinstance(given, Mapping) and "value" in given else {"value": given}
        if "status" not in fact:
            fact["status"] = "unknown" if fact["value"] is None else "overlay"
        return fact


UNKNOWN: Fact[Any] = Fact(value=None, status="unknown")


def normalise_hash(text: str) -> str:
    """A hash as it is compared: lower case, without white space around it."""
    return text.strip().lower()


def _hex(digits: int) -> AfterValidator:
    def check(text: str) -> str:
        text = normalise_hash(text)
        if len(text) != digits or set(text) - set("0123456789abcdef"):
            raise ValueError(f"expected {digits} hexadecimal digits")
        return text

    return AfterValidator(check)


Md5 = Annotated[str, _hex(32)]
Sha1 = Annotated[str, _hex(40)]
Sha256 = Annotated[str, _hex(64)]
Size = Annotated[int, Field(ge=0, strict=True)]


class Quirk(Record):
    """Something upstream does that a reader has to know, and how to meet it."""

    id: str
    text: str
    severity: Literal["must-handle", "info"] = "must-handle"
    source: Sources = ()
