"""Sealed shards as a torch dataset, through webdataset, verified while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
import webdataset as wds
from PIL import Image
from webdataset.compat import FluidInterface

from ops import pixels
from ops.errors import ShiftlakeError
from ops.shards.manifest import Manifest, ShardEntry, read_manifest
from ops.shards.reader import read_shard
from ops.shards.sample import Sample
from ops.storage import Root, open_root

Transform = Callable[[Image.Image], Any]


class ShardPipeline(wds.DataPipeline, FluidInterface):  # type: ignore[misc]
    """A webdataset pipeline that can be continued: ``.map``, ``.shuffle``, ``.batched`` ..."""


def open_dataset(
    root: str | Root | None,
    dataset: str,
    *,
    transform: Transform | None = None,
    decode: bool = True,
    verify: Literal["size", "hash"] = "size",
) -> ShardPipeline:
    """Open a sealed dataset for torch.

    Parameters
    ----------
    root : str, Root or None
        Storage root, local or ``s3://``; None for ``$SHIFTLAKE_ROOT``.
    dataset : str
        Name, such as ``imagenetv2/matched_frequency`` or, where a benchmark has just one
        condition, the benchmark (``imagenet_a``).
    transform : callable, optional
        From an RGB `PIL.Image.Image` to whatever the model takes. Without it `image` is a uint8
        tensor of shape (3, height, width).
    decode : bool
        False leaves the published bytes in `image`.
    verify : {"size", "hash"}
        Sizes and counts are always compared with the manifest; "hash" adds the sha256.

    Returns
    -------
    ShardPipeline
        A `torch.utils.data.IterableDataset` of dicts with `key` (str), `image`, `label` (int,
        -1 where there is not exactly one), `labels` (list of int) and `meta` (dict). Shards are
        split over nodes and `DataLoader` workers, each sample is seen once. `len` is known.
        For a dataset of labels alone (``imagenet_real``) the images come from the dataset it is
        joined to, and `labels` are its own.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    ShardDamaged
        While iterating, if a shard is not what was sealed.
    ShiftlakeError
        While iterating, if an image does not decode.
    """
    storage = open_root(root)
    manifest = read_manifest(storage, resolve(storage, dataset))
    labels: dict[str, list[int]] | None = None
    if manifest.joined_to is not None:
        labels = {
            sample.key: sample.meta["labels"]
            for entry in manifest.shards
            for sample in read_shard(storage, manifest, entry, hash=verify == "hash")
        }
        manifest = read_manifest(storage, manifest.joined_to)
    read = partial(read_shard, storage, manifest, hash=verify == "hash")
    finish = partial(_finish, labels=labels, decode=decode, transform=transform)
    return pipeline_of(manifest, read, finish)


def pipeline_of(
    manifest: Manifest,
    read: Callable[[ShardEntry], Iterator[Any]],
    finish: Callable[[Any], dict[str, Any]],
) -> ShardPipeline:
    """A pipeline over the shards of a manifest, split over nodes and workers.

    Parameters
    ----------
    manifest : Manifest
    read : callable
        Gives the samples of one shard.
    finish : callable
        Makes of a sample the dict that is yielded.
    """
    pipeline = ShardPipeline(
        _Shards(manifest),
        wds.split_by_node,
        wds.split_by_worker,
        _Reading(read),
        wds.map(finish),
    )
    pipeline.with_length(manifest.n_samples, silent=True)
    return pipeline


def resolve(root: Root, dataset: str) -> str:
    """Full name of a dataset: a benchmark with one sealed condition may stand for it."""
    if "/" in dataset:
        return dataset
    found = [
        path.removeprefix("shards/").removesuffix("/manifest.json")
        for path in root.list(f"shards/{dataset}")
        if path.endswith("/manifest.json")
    ]
    return found[0] if len(found) == 1 else dataset


class _Shards(torch.utils.data.IterableDataset[ShardEntry]):
    """The entries of a manifest, for webdataset to split over nodes and workers."""

    def __init__(self, manifest: Manifest) -> None:
        self._entries = manifest.shards

    def __iter__(self) -> Iterator[ShardEntry]:
        return iter(self._entries)


class _Reading:
    """Stage from shard entries to samples."""

    def __init__(self, read: Callable[[ShardEntry], Iterator[Any]]) -> None:
        self._read = read

    def __call__(self, entries: Iterator[ShardEntry]) -> Iterator[Any]:
        for entry in entries:
            yield from self._read(entry)


def _finish(
    sample: Sample,
    *,
    labels: dict[str, list[int]] | None,
    decode: bool,
    transform: Transform | None,
) -> dict[str, Any]:
    own = sample.meta["labels"] if labels is None else labels.get(sample.key, [])
    image: Any = sample.image
    if decode and image is not None and sample.extension != "mp4":
        rgb = _decoded(sample, image)
        if transform is not None:
            image = transform(rgb)
        else:
            image = torch.from_numpy(np.array(rgb)).permute(2, 0, 1).contiguous()
    label = own[0] if len(own) == 1 else -1
    return {"key": sample.key, "image": image, "label": label, "labels": own, "meta": sample.meta}


def _decoded(sample: Sample, data: bytes) -> Image.Image:
    try:
        return pixels.decode(data)
    except pixels.UndecodableImage as error:
        raise ShiftlakeError(
            "An image does not decode.",
            expected="an image Pillow reads",
            found=error.found,
            where=f"{sample.meta.get('benchmark')}/{sample.meta.get('condition')}: {sample.key}",
            remedy="open the dataset with decode=False and decode where you can leave it out",
        ) from error
