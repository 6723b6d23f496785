"""Pickles as Python 2 wrote them: byte strings for text, and NumPy's old module names.

The published CIFAR archives hold such files. Python 3 cannot write them, and a reader that only
meets Python 3 pickles would not be tried by what upstream ships.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Value = str | int | list[str] | list[int] | NDArray[np.uint8]


def dumps(batch: Mapping[str, Value]) -> bytes:
    """Return a protocol-2 pickle of a dict with byte-string keys."""
    items = b"".join(_string(key) + _value(value) for key, value in batch.items())
    return b"\x80\x02}(" + items + b"u."


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, list):
        return b"](" + b"".join(_value(each) for each in value) + b"e"
    return _array(value)


def _string(text: str) -> bytes:
    return _bytes(text.encode())


def _bytes(raw: bytes) -> bytes:
    return b"T" + struct.pack("<i", len(raw)) + raw


def _array(array: NDArray[np.uint8]) -> bytes:
    rows, columns = array.shape
    empty = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85"
        + _string("b") + b"\x87R"
    )  # fmt: skip
    kind = (
        b"cnumpy\ndtype\n" + _string("u1") + b"K\x00K\x01\x87R(K\x03" + _string("|")
        + b"NNN" + _value(-1) + _value(-1) + b"K\x00tb"
    )  # fmt: skip
    shape = _value(rows) + _value(columns) + b"\x86"
    return empty + b"(K\x01" + shape + kind + b"\x89" + _bytes(array.tobytes()) + b"tb"
