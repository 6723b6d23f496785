"""Philox4x32-10 for many keys at once, on whatever device: the words of :mod:`..philox`.

Here: words and half-words from keys and a purpose, one row for each image. The generator is
described beside its compiled form, :mod:`ops.corruptions.philox`; the two give the same bits.
"""

from __future__ import annotations

import torch
from torch import Tensor

_MULTIPLIER_0 = 0xD2511F53
_MULTIPLIER_1 = 0xCD9E8D57
_WEYL_0 = 0x9E3779B9
_WEYL_1 = 0xBB67AE85
_ROUNDS = 10
_LOW = 0xFFFFFFFF


def words(keys: Tensor, purpose: int, n: int, part: int = 0) -> Tensor:
    """Random words of several keys under one purpose.

    Parameters
    ----------
    keys : int64 tensor, shape (images, 2)
        Two numbers of 32 bits for each image.
    purpose : int
        The second word of the counter.
    n : int
        Words for each image.
    part : int
        The third word of the counter.

    Returns
    -------
    int64 tensor, shape (images, n)
        In [0, 2**32), lane after lane, on the device of the keys.
    """
    blocks = -(-n // 4)
    key_0, key_1 = keys[:, :1], keys[:, 1:]
    c0 = torch.arange(blocks, device=keys.device)[None]
    c1 = torch.full_like(key_0, purpose)
    c2, c3 = torch.full_like(key_0, part), torch.zeros_like(key_0)
    # A product can pass 2**63 and wrap into the sign. Its bits stay right; an arithmetic shift
    # fills its upper half with copies of the sign, which a mask takes off before it is multiplied
    # again. A word that only enters an exclusive-or may keep its upper half until then.
    for i in range(_ROUNDS):
        x, y = c0 * _MULTIPLIER_0, c2 * _MULTIPLIER_1
        c0 = ((y >> 32) ^ c1 ^ (key_0 + i * _WEYL_0)) & _LOW
        c2 = ((x >> 32) ^ c3 ^ (key_1 + i * _WEYL_1)) & _LOW
        c1, c3 = y, x
    return torch.cat((c0, c1 & _LOW, c2, c3 & _LOW), 1)[:, :n]


def halves(keys: Tensor, purpose: int, n: int, part: int = 0) -> Tensor:
    """Random half-words: the lower, then the upper half of each word.

    Parameters
    ----------
    keys : int64 tensor, shape (images, 2)
        Two numbers of 32 bits for each image.
    purpose : int
        The second word of the counter.
    n : int
        Half-words for each image.
    part : int
        The third word of the counter.

    Returns
    -------
    int64 tensor, shape (images, n)
        In [0, 2**16).
    """
    whole = words(keys, purpose, -(-n // 2), part)
    return torch.stack((whole & 0xFFFF, whole >> 16), 2).flatten(1)[:, :n]
