"""Philox4x32-10, the counter-based generator behind every keyed draw.

Here: words of 32 bits from a key and a counter. What is made of them: :mod:`ops.corruptions.keyed`.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). One block
is four 32-bit words: ten rounds turn the counter ``(c0, c1, c2, c3)`` and the key ``(k0, k1)``
into four words. In a round, with ``hi`` and ``lo`` the halves of a 64-bit product,

    c0, c1, c2, c3 = (hi(0xCD9E8D57 * c2) ^ c1 ^ k0, lo(0xCD9E8D57 * c2),
                      hi(0xD2511F53 * c0) ^ c3 ^ k1, lo(0xD2511F53 * c0))

and before every round but the first ``k0 += 0x9E3779B9`` and ``k1 += 0xBB67AE85`` (mod 2**32).

``n`` words are ``ceil(n / 4)`` blocks with ``c0`` counting the blocks and the rest of the counter
fixed. They lie in planes, not in blocks: word ``i`` is lane ``i // n_blocks`` of block
``i % n_blocks``, so that neighbouring blocks are worked on side by side in one vector register.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ops.compiled import compiled

Words = npt.NDArray[np.uint32]

ROUNDS = 10
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@compiled()
def _fill(
    key_0: int, key_1: int, first: int, second: int, third: int, fourth: int, out: Words
) -> None:
    """Write the blocks of one counter into ``out``, lane by lane."""
    blocks = len(out) // 4
    lane_0, lane_1 = out[:blocks], out[blocks : 2 * blocks]
    lane_2, lane_3 = out[2 * blocks : 3 * blocks], out[3 * blocks :]
    for block in range(blocks):
        c0, c1 = np.uint64(first + block) & _LOW, np.uint64(second)
        c2, c3 = np.uint64(third), np.uint64(fourth)
        k0, k1 = np.uint64(key_0), np.uint64(key_1)
        for _ in range(ROUNDS):
            x = _MULTIPLIER_0 * c0
            y = _MULTIPLIER_1 * c2
            c0, c1 = (y >> _HALF) ^ c1 ^ k0, y & _LOW
            c2, c3 = (x >> _HALF) ^ c3 ^ k1, x & _LOW
            k0, k1 = (k0 + _WEYL_0) & _LOW, (k1 + _WEYL_1) & _LOW
        lane_0[block] = c0
        lane_1[block] = c1
        lane_2[block] = c2
        lane_3[block] = c3


def words(key: tuple[int, int], counter: tuple[int, int, int, int], n: int) -> Words:
    """Random words of one key and counter.

    Parameters
    ----------
    key : tuple of 2 int
        32 bits each.
    counter : tuple of 4 int
        32 bits each; the first is that of the first block and counts up.
    n : int
        How many.

    Returns
    -------
    uint32 array, shape (n,)
        In planes, as told above; the first ``n`` where ``n`` is no multiple of four.
    """
    out = np.empty(4 * -(-n // 4), np.uint32)
    _fill(*key, *counter, out)
    return out[:n]
