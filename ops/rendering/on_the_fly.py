"""Datasets with nothing stored but a manifest: their images are made as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ops.pixels import decode
from ops.rendering.decodable import Undecodable
from ops.rendering.engines import Pixels, Textures, engine
from ops.rendering.order import Order
from ops.rendering.part import sources
from ops.rendering.recipe import Recipe
from ops.rendering.samples import rendered_sample
from ops.shards import FailedSample, Manifest, Sample, ShardEntry, require_counts
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    from ops.corruptions import Key


def seal_on_the_fly(root: Root, order: Order, failures: Sequence[Undecodable]) -> Manifest:
    """Write the manifest of a dataset made on the fly; its shards are those of the source.

    Parameters
    ----------
    root : Root
    order : Order
    failures : sequence of Undecodable
        The images that cannot be rendered (:func:`ops.rendering.decodable.undecodable`).

    Raises
    ------
    ShiftlakeError
        If the source has other counts than the catalog expects; nothing is sealed then.
    """
    spec, source = order.spec, order.source
    benchmark, _, condition = spec.name.partition("/")
    manifest = source.model_copy(
        update={
            "name": spec.name,
            "benchmark": benchmark,
            "condition": condition,
            "version": order.version,
            "n_failed": len(failures),
            "failed": tuple(_failed(order, each) for each in failures),
            "label_space": spec.label_space,
            "mask": spec.mask,
            "joined_to": spec.joined_to,
            "ignored": {},
            "sources": (source.as_source,),
            "parameters": dict(spec.parameters),
            "renderer": order.recipe.renderer,
            "licence": order.licence,
            "synthetic": spec.synthetic or source.synthetic,
        }
    )
    require_counts(spec, manifest)
    root.write_json(paths.manifest(spec.name), manifest.model_dump(mode="json"))
    return manifest


def read(
    root: Root | str, manifest: Manifest, entry: ShardEntry, *, hash: bool = False
) -> Iterator[Sample]:
    """Yield the samples of one shard of a dataset made on the fly.

    Parameters
    ----------
    root : Root or str
    manifest : Manifest
        Its seal.
    entry : ShardEntry
        Which of its shards.
    hash : bool
        Also compare the sha256 of the source's shard.

    Yields
    ------
    Sample
        Key, labels and `meta` of the stored form, in the order of their keys; `image` is the
        *source's* file, for :func:`clean`, and ``meta["format"]`` the source's format.

    Raises
    ------
    ShardDamaged
        If the source's shard is not what it was when this was sealed.
    """
    recipe = Recipe.of(manifest)
    for sample in sources(open_root(root), manifest.stored, entry, hash=hash):
        made = rendered_sample(
            sample,
            manifest.name,
            recipe,
            sample.image or b"",
            extension=engine(recipe.engine).EXTENSION,
            format=sample.meta["format"],
        )
        yield replace(made, extension=sample.extension)


def clean(manifest: Manifest, data: bytes | None) -> Pixels:
    """The source image as the renderer takes it, before anything is done to it.

    Parameters
    ----------
    manifest : Manifest
        Of a rendered dataset, stored or on the fly.
    data : bytes or None
        File of the source image.

    Returns
    -------
    uint8 array, shape (height, width, 3)
        For a corruption the crop, 224 x 224 pixels under the preset ``imagenet_224``; for a
        perturbation the image with its shorter side at 256; RGB.

    Raises
    ------
    UndecodableImage
        If the bytes are no image; the stored form has a failed sample there.
    """
    recipe = Recipe.of(manifest)
    return engine(recipe.engine).prepare(decode(data), recipe)


def as_stored(manifest: Manifest, sample: Sample, *, textures: Textures | None = None) -> Pixels:
    """What a reader of the stored form decodes for a sample of :func:`read`.

    Parameters
    ----------
    manifest : Manifest
        Of a dataset made on the fly.
    sample : Sample
        One of its samples, with the source's file as `image`.
    textures : tuple of uint8 arrays, optional
        The frost photographs (:func:`ops.rendering.textures`), where the condition is frost.

    Returns
    -------
    uint8 array, shape (height, width, 3) or (frames, height, width, 3)
        Rendered, encoded and decoded again; RGB.

    Raises
    ------
    UndecodableImage
        If the source cannot be decoded.
    """
    recipe = Recipe.of(manifest)
    made = engine(recipe.engine)
    pixels = made.prepare(decode(sample.image), recipe)
    return made.as_stored(pixels, str(sample.meta["source_key"]), recipe, textures)


def key(manifest: Manifest, sample: Sample) -> Key:
    """Key of a sample's random numbers, for :func:`ops.corruptions.corrupt` and its like."""
    from ops.corruptions import Key

    recipe = Recipe.of(manifest)
    return Key(str(sample.meta["source_key"]), recipe.seed, recipe.key_dataset)


def _failed(order: Order, failure: Undecodable) -> FailedSample:
    """As the stored form has it."""
    sample = rendered_sample(
        failure.sample,
        order.spec.name,
        order.recipe,
        b"",
        extension=engine(order.recipe.engine).EXTENSION,
        format=None,
        reason=failure.reason,
    )
    return FailedSample(
        key=sample.key, source_file=sample.meta["source_file"], reason=failure.reason
    )
