"""Any sealed dataset for torch: images, sequences, and what is rendered as it is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from PIL import Image

from ops import catalog as catalogs
from ops.errors import ShiftlakeError
from ops.pixels import UndecodableImage
from ops.rendering.build import require_current
from ops.rendering.engines import Pixels
from ops.rendering.frost import textures
from ops.rendering.on_the_fly import as_stored, read
from ops.rendering.recipe import Recipe
from ops.shards import Sample, dataset, read_manifest, read_shard
from ops.storage import Root, open_root

if TYPE_CHECKING:
    from ops.catalog import Catalog


def open_dataset(
    root: str | Root | None,
    name: str,
    *,
    catalog: Catalog | None = None,
    transform: Callable[[Image.Image], Any] | None = None,
    verify: Literal["size", "hash"] = "size",
) -> dataset.ShardPipeline:
    """Open a sealed dataset for torch, also sequences, and what is made on the fly.

    Parameters
    ----------
    root : str, Root or None
        Storage root, local or ``s3://``; None for ``$SHIFTLAKE_ROOT``.
    name : str
        Such as ``imagenet_c_on_the_fly/fog/3``.
    catalog : Catalog, optional
        Says how a dataset is made on the fly; by default that of the environment.
    transform : callable, optional
        From an RGB `PIL.Image.Image` to whatever the model takes; it sees each frame of a
        sequence. Without it `image` is a uint8 tensor of shape (3, height, width), or
        (frames, 3, height, width).
    verify : {"size", "hash"}
        Sizes and counts are always compared with the manifest; "hash" adds the sha256.

    Returns
    -------
    ShardPipeline
        As :func:`ops.shards.open_dataset`: the same keys, labels and pixels whether the dataset
        is stored or made on the fly.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    ShiftlakeError
        If a dataset made on the fly would come out otherwise now than when it was sealed; while
        iterating, if an image does not decode or a shard is not what was sealed.
    """
    storage = open_root(root)
    manifest = read_manifest(storage, dataset.resolve(storage, name))
    hashed = verify == "hash"
    if manifest.on_the_fly:
        known = catalog or catalogs.load()
        require_current(storage, known, manifest)
        shown = textures(storage, known) if Recipe.of(manifest).textures is not None else None
        reader = partial(read, storage, manifest, hash=hashed)
        pixels: Callable[[Sample], Pixels] = partial(as_stored, manifest, textures=shown)
    elif "frames" in manifest.parameters:
        reader = partial(read_shard, storage, manifest, hash=hashed)
        pixels = partial(_decoded_frames, int(manifest.parameters["frames"]))
    else:
        return dataset.open_dataset(storage, manifest.name, transform=transform, verify=verify)
    finish = partial(_finish, name=manifest.name, pixels=pixels, transform=transform)
    return dataset.pipeline_of(manifest, reader, finish)


def _decoded_frames(frames: int, sample: Sample) -> Pixels:
    from ops.perturbations.video import decode

    return decode(sample.image or b"", frames=frames)


def _finish(
    sample: Sample,
    *,
    name: str,
    pixels: Callable[[Sample], Pixels],
    transform: Callable[[Image.Image], Any] | None,
) -> dict[str, Any]:
    try:
        made = pixels(sample)
    except UndecodableImage as error:
        raise ShiftlakeError(
            "A sample cannot be decoded, or not be rendered from its source.",
            expected="an image or video that can be decoded",
            found=error.found,
            where=f"{name}: {sample.key}",
            remedy="the manifest of a rendered set lists such samples; leave their keys out",
        ) from error
    frames = made if made.ndim == 4 else made[None]
    images = [
        torch.from_numpy(frame).permute(2, 0, 1).contiguous()
        if transform is None
        else transform(Image.fromarray(frame))
        for frame in frames
    ]
    if made.ndim == 3:
        image: Any = images[0]
    else:
        image = torch.stack(images) if isinstance(images[0], torch.Tensor) else images
    labels = sample.meta["labels"]
    label = labels[0] if len(labels) == 1 else -1
    return {
        "key": sample.key,
        "image": image,
        "label": label,
        "labels": labels,
        "meta": sample.meta,
    }
