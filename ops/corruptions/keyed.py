"""Draws made from a key: the same numbers whatever the order, the worker or the machine.

Here: which words a purpose gets and how they become numbers. The generator of the words is
:mod:`ops.corruptions.philox`; the tables of laws are in :mod:`ops.corruptions.laws`.

The specification, to the bit:

* The generator's key is the 8-byte BLAKE2b digest of seed, dataset, corruption, severity and
  source key, written in UTF-8 with a zero byte between them, read as two little-endian words.
* The counter is ``(block, code of the purpose, part, 0)``; codes are in ``PURPOSES``, and ``part``
  is 0 but for the frames of a sequence.
* ``words(purpose, n)``: Philox4x32-10 in planes, as :mod:`ops.corruptions.philox` lays them out.
* ``halves(purpose, n)``: the 16-bit halves of ``words(purpose, ceil(n / 2))``, low half first.
* uniform: ``low + (high - low) * u`` in float64, with ``u = (word >> 8) * 2**-24``.
* integers: ``low + (word * (high - low) >> 32)``.
* normal: ``loc + scale * z[half]`` in float64, with ``z`` of :func:`ops.corruptions.laws.normal`.
* poisson: the alias law of :func:`ops.corruptions.laws.poisson` at ``half``.
* impulses: with ``t = round(amount * 2**15)``, a half below ``t`` is salt (+1), one of
  ``[t, 2 * t)`` pepper (-1), the rest 0.

A purpose asked for twice gives the same numbers twice.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ops.corruptions import laws
from ops.corruptions.arguments import is_whole
from ops.corruptions.draws import Doubles, Integers, Shape
from ops.errors import ShiftlakeError

# Part of every keyed pixel: a code is never given to another purpose.
PURPOSES: dict[str, int] = {
    "noise": 1,
    "counts": 2,
    "impulses": 3,
    "shifts": 4,
    "angle": 5,
    "layer": 6,
    "texture": 7,
    "row": 8,
    "column": 9,
    "heights": 10,
    "corners": 11,
    "field_x": 12,
    "field_y": 13,
}


@dataclass(frozen=True)
class Key:
    """What a picture's random numbers depend on, beside the corruption and its severity.

    Parameters
    ----------
    source_key : str
        The key of the source image in its dataset; not empty.
    seed : int
        Another seed, another realisation of the whole dataset. Of 64 bits with a sign.
    dataset : str, optional
        The family that is rendered. A stored dataset and the same one made on the fly share it.
        By default that of whatever is given the key: ``"imagenet_c"`` for corruptions,
        ``"imagenet_p"`` for sequences, ``"distorted"`` for DeepCorrect's distortions.

    Raises
    ------
    ShiftlakeError
        If one of them is of another type, empty, too large, or no text that can be digested.
    """

    source_key: str
    seed: int = 0
    dataset: str | None = None

    def __post_init__(self) -> None:
        _check_text("source_key", self.source_key)
        if self.dataset is not None:
            _check_text("dataset", self.dataset)
        if not is_whole(self.seed) or not -(2**63) <= self.seed < 2**63:
            raise ShiftlakeError(
                "This is no seed of a key.",
                expected="a whole number of 64 bits, from -2**63 to 2**63 - 1",
                found=repr(self.seed),
                where="Key.seed",
                remedy="Give an int: 0 is the seed of the rendered datasets.",
            )
        object.__setattr__(self, "seed", int(self.seed))

    def of(self, dataset: str) -> Key:
        """The same key of a family, unless it names one."""
        return self if self.dataset is not None else replace(self, dataset=dataset)


def given_key(key: object, dataset: str) -> Key:
    """The key that an argument stands for.

    Parameters
    ----------
    key : Key or str
        As a caller gave it; a string is the source key.
    dataset : str
        The family of a key that names none.

    Returns
    -------
    Key
        With a dataset.

    Raises
    ------
    ShiftlakeError
        If it is neither, or a string that no source key can be.
    """
    if isinstance(key, Key):
        return key.of(dataset)
    if isinstance(key, str):
        return Key(key, dataset=dataset)
    raise ShiftlakeError(
        "This is no key of an image.",
        expected="a Key or a str",
        found=f"{key!r} of type {type(key).__name__}",
        where="key",
        remedy="Give the key that the image has in its dataset: a number as str(number).",
    )


def _check_text(name: str, text: object) -> None:
    # A zero byte is what parts the texts of the digest; a lone surrogate has no UTF-8.
    if isinstance(text, str) and text and "\0" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return
    raise ShiftlakeError(
        f"This is no {name} of a key.",
        expected="a str, not empty, that UTF-8 can write, without a zero byte",
        found=f"{text!r} of type {type(text).__name__}",
        where=f"Key.{name}",
        remedy="Give the key that the image has in its dataset: a number as str(number)."
        if name == "source_key"
        else "Give a name such as 'imagenet_c', or none for that of what is made.",
    )


@dataclass(frozen=True)
class Keyed:
    """The draws of a key for one corruption at one severity.

    Parameters
    ----------
    key : Key
        The source image's; with a dataset.
    corruption : str
        Name of the corruption, perturbation or distortion.
    severity : int
        1 to 5, or the level.
    part : int
        Tells apart what one key makes several of, as the frames of a sequence.

    Raises
    ------
    ShiftlakeError
        If the key names no dataset: then two families would draw alike.
    """

    key: Key
    corruption: str
    severity: int
    part: int = 0

    def __post_init__(self) -> None:
        if self.key.dataset is None:
            raise ShiftlakeError(
                "It is not clear which family's draws are meant.",
                expected="a key with a dataset",
                found=repr(self.key),
                where="Keyed.key",
                remedy="Give Key(..., dataset=...), or key.of(dataset).",
            )

    @cached_property
    def philox_key(self) -> tuple[int, int]:
        """The generator's key, two words of 32 bits."""
        text = "\0".join(
            (
                str(self.key.seed),
                str(self.key.dataset),
                self.corruption,
                str(self.severity),
                self.key.source_key,
            )
        )
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")

    def words(self, purpose: str, n: int) -> npt.NDArray[np.uint32]:
        """Words of 32 random bits, uint32 of shape (n,)."""
        from ops.corruptions import philox  # compiled; not needed to talk about keys

        return philox.words(self.philox_key, (0, PURPOSES[purpose], self.part, 0), n)

    def halves(self, purpose: str, n: int) -> npt.NDArray[np.uint16]:
        """Words of 16 random bits, uint16 of shape (n,)."""
        words = self.words(purpose, (n + 1) // 2)
        return words.astype("<u4", copy=False).view("<u2")[:n]

    def normal(self, purpose: str, loc: float, scale: float, shape: Shape) -> Doubles:
        """Normal numbers, float64 of the given shape."""
        z = laws.normal()[self.halves(purpose, _size(shape))]
        return np.asarray(loc + scale * z.reshape(shape))

    def uniform(self, purpose: str, low: float, high: float, shape: Shape) -> Doubles:
        """Uniform numbers in [low, high), float64 of the given shape; ``()`` gives one number."""
        u = (self.words(purpose, _size(shape)) >> np.uint32(8)).astype(np.float64) * 2.0**-24
        return np.asarray(low + (high - low) * u.reshape(shape))

    def integers(self, purpose: str, low: int, high: int, shape: Shape) -> Integers:
        """Integers of [low, high), each equally likely; ``()`` gives one number."""
        words = self.words(purpose, _size(shape)).astype(np.uint64)
        steps = (words * np.uint64(high - low)) >> np.uint64(32)
        return np.asarray(low + steps.astype(np.int64).reshape(shape))

    def poisson(self, purpose: str, rate: Doubles) -> Integers:
        """One Poisson count for each rate, int64 of the rates' shape."""
        rates, which = np.unique(rate, return_inverse=True)
        halves = self.halves(purpose, rate.size)
        return laws.poisson(rates).counts(which.ravel(), halves).reshape(rate.shape)

    def impulses(self, purpose: str, amount: float, shape: Shape) -> npt.NDArray[np.int8]:
        """+1 (salt) and -1 (pepper) in equal parts of ``amount`` together, 0 elsewhere."""
        threshold = laws.impulse_threshold(amount)
        halves = self.halves(purpose, _size(shape)).reshape(shape)
        salt = halves < threshold
        return salt.astype(np.int8) - ((halves < 2 * threshold) & ~salt)


def _size(shape: Shape) -> int:
    return math.prod(shape)
