"""Weights in Caffe's layout: a ``.caffemodel``, which is a protobuf message ``NetParameter``.

Only what holds weights is read. ``NetParameter`` has its layers in field 100 (``LayerParameter``:
name 1, blobs 7), or in older files in field 2 (``V1LayerParameter``: name 4, blobs 6). A
``BlobProto`` has its values in field 5, and its shape in field 7 or, in older files, as num,
channels, height and width in fields 1 to 4.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from ops.errors import ShiftlakeError

# For each form of a layer: its field in the net, and the fields of its name and blobs.
_LAYERS = {100: (1, 7), 2: (4, 6)}
_VALUES, _SHAPE, _LEGACY_SHAPE = 5, 7, (1, 2, 3, 4)
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_caffe_weights(path: Path, where: object = None) -> dict[str, torch.Tensor]:
    """Weights of a ``.caffemodel`` file, under the names of its layers.

    Parameters
    ----------
    path : Path
        As Caffe wrote it.
    where : object
        What to call the file in an error; `path` by default.

    Returns
    -------
    dict of str to torch.Tensor
        ``<layer>.weight`` and ``<layer>.bias`` in float32. Legacy shapes lose their leading ones.
        The first convolution's inputs, which Caffe has in the order blue, green, red, are turned
        into red, green, blue.

    Raises
    ------
    ShiftlakeError
        If the file is cut or holds no weights.
    """
    found: dict[str, torch.Tensor] = {}
    try:
        for field, layer in _messages(memoryview(path.read_bytes())):
            if field not in _LAYERS or not isinstance(layer, memoryview):
                continue
            name_field, blob_field = _LAYERS[field]
            name, blobs = "", []
            for inner, value in _messages(layer):
                if isinstance(value, memoryview):
                    if inner == name_field:
                        name = bytes(value).decode()
                    elif inner == blob_field:
                        blobs.append(_blob(value))
            for kind, blob in zip(("weight", "bias"), blobs, strict=False):
                found[f"{name}.{kind}"] = blob.flatten() if kind == "bias" else blob
        if not found:
            raise ValueError("no layer with blobs")
    except (ValueError, IndexError, UnicodeDecodeError, struct.error, OSError) as error:
        raise ShiftlakeError(
            "The Caffe weights cannot be read.",
            expected="a complete .caffemodel file",
            found=str(error) or type(error).__name__,
            where=where or path,
            remedy="get the file again",
        ) from error
    first = next((key for key, value in found.items() if value.ndim == 4), None)
    if first is not None and found[first].shape[1] == 3:
        found[first] = found[first].flip(1)
    return found


def _blob(message: memoryview) -> torch.Tensor:
    legacy = dict.fromkeys(_LEGACY_SHAPE, 1)
    shape: list[int] | None = None
    parts: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
    for field, value in _messages(message):
        if field in legacy and isinstance(value, int):
            legacy[field] = value
        elif field == _SHAPE and isinstance(value, memoryview):
            shape = list(_dimensions(value))
        elif field == _VALUES and isinstance(value, memoryview):
            parts.append(np.frombuffer(value, dtype="<f4"))
    values = np.concatenate(parts) if parts else np.empty(0, np.float32)
    if shape is None:
        shape = list(legacy.values())
        while len(shape) > 1 and shape[0] == 1:
            shape = shape[1:]
    if math.prod(shape) != len(values):
        raise ValueError(f"{len(values):,} values for the shape {shape}")
    return torch.from_numpy(values.astype(np.float32)).view(shape)


def _dimensions(message: memoryview) -> Iterator[int]:
    for field, value in _messages(message):
        if field != 1:
            continue
        if isinstance(value, int):
            yield value
        else:
            place = 0
            while place < len(value):
                number, place = _varint(value, place)
                yield number


def _messages(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Fields of a protobuf message: number, and an integer or the bytes inside."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            number, place = _varint(data, place)
            yield field, number
            continue
        if wire == _BYTES:
            length, place = _varint(data, place)
        elif wire in (_FIXED32, _FIXED64):
            length = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"no protobuf message: wire type {wire} at byte {place}")
        if place + length > len(data):
            raise ValueError(f"it ends {place + length - len(data):,} bytes too early")
        yield field, data[place : place + length]
        place += length


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    number, shift = 0, 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
        if shift > 63:
            raise ValueError(f"no protobuf message: an endless number at byte {place}")
