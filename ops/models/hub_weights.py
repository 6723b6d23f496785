"""Weights files of the Hugging Face hub, read here instead of by the library that names them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import torch

from ops.models.extras import extra
from ops.models.weights import read_state_dict, suffix_of

_NAMES = ("model.safetensors", "pytorch_model.bin")
_OPEN_CLIP = {"open_clip_pytorch_model.bin": "open_clip_model.safetensors"}


def read_hub_weights(
    repository: str, *, revision: str | None = None, filename: str | None = None
) -> dict[str, torch.Tensor]:
    """Fetch a repository's weights and read them without running anything that is inside.

    Whether a library asks the unpickler for tensors alone depends on its release.

    Parameters
    ----------
    repository : str
        ``organisation/repository``.
    revision : str or None
        A branch, tag or commit; the hub's default where it is None.
    filename : str or None
        A file of it; ``model.safetensors``, else ``pytorch_model.bin``, where it is None. Of a
        pickle its safetensors twin is taken where there is one.

    Returns
    -------
    dict of str to torch.Tensor

    Raises
    ------
    ShiftlakeError
        If huggingface_hub is missing, or the file would run code or is damaged.
    Exception
        What the hub's client raises where it does not give the file.
    """
    where = f"{repository}@{revision}" if revision else repository
    hub = extra("huggingface_hub", "hugging_face", where)
    absent = extra("huggingface_hub.utils", "hugging_face", where).EntryNotFoundError
    *before, last = _candidates(filename)
    for name in before:
        try:
            found = hub.hf_hub_download(repository, name, revision=revision)
        except absent:
            continue
        return read_state_dict(Path(found), suffix_of(Path(name)), where=f"{where}, {name}")
    found = hub.hf_hub_download(repository, last, revision=revision)
    return read_state_dict(Path(found), suffix_of(Path(last)), where=f"{where}, {last}")


def _candidates(filename: str | None) -> tuple[str, ...]:
    if filename is None:
        return _NAMES
    path = PurePosixPath(filename)
    if path.suffix == ".safetensors":
        return (filename,)
    twin = _OPEN_CLIP.get(path.name, path.with_suffix(".safetensors").name)
    return (str(path.with_name(twin)), filename)
