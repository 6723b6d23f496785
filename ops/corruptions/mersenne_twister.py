"""The doubles of NumPy's legacy generator, a block at a time, for compiled code.

Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
pseudo-random number generator" (TOMACS 1998): MT19937. A state is a key of 624 words and a
position in it; NumPy makes a double of [0, 1) of 53 bits of two words in a row.

Here: from a state to doubles. What is drawn from them: :mod:`ops.corruptions.replayed_poisson`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled

Words = npt.NDArray[np.uint32]
Doubles = npt.NDArray[np.float64]

WORDS = 624
PER_BLOCK = WORDS // 2
_AHEAD = 397


@compiled(inline=True)
def _twisted(word: np.uint32, following: np.uint32, ahead: np.uint32) -> np.uint32:
    joined = (word & np.uint32(0x80000000)) | (following & np.uint32(0x7FFFFFFF))
    odd = np.uint32(0x9908B0DF) * (joined & np.uint32(1))
    return ahead ^ (joined >> np.uint32(1)) ^ odd


@compiled()
def twist(key: Words) -> None:
    """Advance a key by one block."""
    for i in range(WORDS - _AHEAD):
        key[i] = _twisted(key[i], key[i + 1], key[i + _AHEAD])
    for i in range(WORDS - _AHEAD, WORDS - 1):
        key[i] = _twisted(key[i], key[i + 1], key[i + _AHEAD - WORDS])
    key[WORDS - 1] = _twisted(key[WORDS - 1], key[0], key[_AHEAD - 1])


@compiled()
def doubles(key: Words, before: np.uint32, start: int, out: Doubles) -> int:
    """Make doubles of a block's words, in order.

    Parameters
    ----------
    key : uint32 array, shape (624,)
        Of the block.
    before : uint32
        The last of the key of the block before, used where ``start`` is -1.
    start : int
        Word to start with; -1 for the last of the block before.
    out : float64 array, shape (312,)
        Receives them.

    Returns
    -------
    int
        How many. One word is left over where ``start`` is odd.
    """
    words = np.empty(WORDS + 1, np.uint32)
    words[0] = before
    words[1:] = key
    for i in range(WORDS + 1):
        word = words[i]
        word ^= word >> np.uint32(11)
        word ^= (word << np.uint32(7)) & np.uint32(0x9D2C5680)
        word ^= (word << np.uint32(15)) & np.uint32(0xEFC60000)
        words[i] = word ^ (word >> np.uint32(18))
    halves = words[start + 1 :]
    count = len(halves) // 2
    for i in range(count):
        # Signed: processors convert those to double in one step.
        upper = np.int32(halves[2 * i] >> np.uint32(5)) * 67108864.0
        out[i] = (upper + np.int32(halves[2 * i + 1] >> np.uint32(6))) / 9007199254740992.0
    return count
