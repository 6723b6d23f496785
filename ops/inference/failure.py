"""Why an evaluation could not be finished: told to who asked for it, and kept beside its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ops.errors import ShiftlakeError
from ops.storage import Root, paths

Kind = Literal["model", "memory", "refused", "error"]
# How torch, cuBLAS and cuDNN say that memory is short where they have no class for it.
_NO_MEMORY = ("DefaultCPUAllocator", "ALLOC_FAILED", "out of memory")


class ModelFailed(ShiftlakeError):
    """A model raised, or returned something else than finite logits of its classes."""


class OutOfMemory(ModelFailed):
    """There was no memory for the model, or for one image in it."""


class Unexpected(ShiftlakeError):
    """An exception that nobody foresaw, with its four parts."""


class Failure(BaseModel):
    """The fields of an error, and when it was met (UTC, ISO 8601).

    `kind` is ``model`` where the network raised or returned something else than logits, ``memory``
    where not even one image fit into the device, ``refused`` for what Shiftlake itself refuses, a
    damaged shard or classes that do not meet, and ``error`` for all else. A run that is sealed
    later beats it.
    """

    model_config = ConfigDict(frozen=True)

    what: str
    expected: str
    found: str
    where: str
    remedy: str
    at: str
    kind: Kind

    @classmethod
    def of(cls, error: ShiftlakeError) -> Failure:
        """The failure that an error tells of."""
        return cls(
            what=error.what,
            expected=str(error.expected),
            found=str(error.found),
            where=str(error.where),
            remedy=error.remedy,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            kind=_kind(error),
        )

    @property
    def reason(self) -> str:
        """What happened and where, in one line."""
        return f"{self.what} {self.found} ({self.where})"


def read_failure(root: Root, model: str, dataset: str, key: str) -> Failure | None:
    """Why the last try of an evaluation failed; None where it did not, or has not been tried.

    Raises
    ------
    ShiftlakeError
        If the file is damaged.
    """
    rel = paths.failure(model, dataset, key)
    try:
        return Failure.model_validate(root.read_json(rel))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ShiftlakeError(
            "The record of a failed evaluation cannot be read.",
            expected="the fields of an error",
            found=str(error.errors()[0]),
            where=root.at(rel),
            remedy="evaluate again",
        ) from error


@contextmanager
def failure_kept(root: Root, model: str, dataset: str, key: str) -> Iterator[None]:
    """Keep the reason if the block fails, and remove an older one if it does not.

    Raises
    ------
    ShiftlakeError
        As the block does, or in place of any other exception. An interrupt passes, and leaves
        nothing.
    """
    rel = paths.failure(model, dataset, key)
    try:
        yield
    except Exception as error:
        told = as_error(error, f"{model} on {dataset}")
        # A full disk or a lost connection, which may be the reason, must not hide it.
        with suppress(Exception):
            root.write_json(rel, Failure.of(told).model_dump(mode="json"))
        if told is error:
            raise
        raise told from error
    root.remove(rel)


@contextmanager
def blamed_on_model(model: str, shard: str, first_key: str) -> Iterator[None]:
    """Run a model on a batch; what goes wrong is an error that names the batch.

    Parameters
    ----------
    model, shard : str
        Names.
    first_key : str
        Sample key of the first image of the batch.

    Raises
    ------
    ModelFailed
        In place of any exception of the block.
    """
    where = f"{model} on {shard}, in the batch that begins with {first_key}"
    try:
        yield
    except ModelFailed:
        raise
    except ShiftlakeError as error:
        raise (OutOfMemory if short_of_memory(error) else ModelFailed)(
            error.what,
            expected=error.expected,
            found=error.found,
            where=where,
            remedy=error.remedy,
        ) from error
    except (Exception, SystemExit) as error:
        raise (OutOfMemory if short_of_memory(error) else ModelFailed)(
            f"The model raised {type(error).__name__}.",
            expected="a tensor of logits",
            found=_first_line(error),
            where=where,
            remedy="correct the model and register it again; other evaluations do not depend on it",
        ) from error


def as_error(error: Exception, where: str) -> ShiftlakeError:
    """Any exception as one with its four parts; a `ShiftlakeError` as it is."""
    if isinstance(error, ShiftlakeError):
        return error
    return (OutOfMemory if short_of_memory(error) else Unexpected)(
        f"The evaluation was ended by {type(error).__name__}.",
        expected="an evaluation without errors",
        found=_first_line(error),
        where=where,
        remedy="evaluate again: finished shards stay; where it returns, its traceback says more",
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:500] if lines else type(error).__name__


def short_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, says that a device or the host has no memory left."""
    while error is not None:
        # By name, since torch takes a second and a half to import.
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            return True
        if isinstance(error, RuntimeError) and any(each in str(error) for each in _NO_MEMORY):
            return True
        error = error.__cause__
    return False


def _kind(error: ShiftlakeError) -> Kind:
    if isinstance(error, OutOfMemory):
        return "memory"
    if isinstance(error, ModelFailed):
        return "model"
    return "error" if isinstance(error, Unexpected) else "refused"
