"""Samples of a rendered dataset: their keys and names are those of the published ones."""

from __future__ import annotations

from typing import Any

from ops.pixels import UndecodableImage
from ops.rendering.recipe import Recipe
from ops.shards import Sample


def rendered_key(source: Sample) -> str:
    """Key of what is rendered from a source sample: ``<wnid>/<validation image>`` where it can be.

    The published ImageNet-C and -P have these keys, so that both join by key. A source whose keys
    have folders already keeps them.
    """
    wnid = source.meta.get("wnid")
    return f"{wnid}/{source.key}" if wnid and "/" not in source.key else source.key


def reason_of(error: UndecodableImage) -> str:
    """Why a rendered sample has no image, as its manifest states it in either form."""
    return f"source cannot be decoded: {error.found}"


def rendered_sample(
    source: Sample,
    dataset: str,
    recipe: Recipe,
    image: bytes,
    *,
    extension: str,
    format: str | None,
    reason: str | None = None,
) -> Sample:
    """Make the sample of a rendered image or sequence.

    Parameters
    ----------
    source : Sample
        What it was rendered from.
    dataset : str
        The rendered dataset.
    recipe : Recipe
    image : bytes
        The rendered file; none where the source cannot be decoded.
    extension, format : str, str or None
        Suffix of the member; format of the bytes, None where they are no image.
    reason : str, optional
        Why there is no image.

    Returns
    -------
    Sample
        `meta` has the source's labels, wnid and source key; ``source_file`` is the name the
        published set has or would have.
    """
    benchmark, _, condition = dataset.partition("/")
    key = rendered_key(source)
    meta: dict[str, Any] = {
        "benchmark": benchmark,
        "condition": condition,
        "source_key": source.meta["source_key"],
        "source_file": _published(condition, key, source, extension),
        "labels": source.meta["labels"],
        "format": format,
    }
    for name in ("wnid", "class_name"):
        if name in source.meta:
            meta[name] = source.meta[name]
    for name in ("corruption", "perturbation", "distortion", "severity", "difficulty"):
        if (value := getattr(recipe, name)) is not None:
            meta[name] = value
    if reason is not None:
        meta["reason"] = reason
    return Sample(key, image, extension, source.cls, meta)


def _published(condition: str, key: str, source: Sample, extension: str) -> str:
    if extension != "jpg":
        return f"{condition}/{key}.{extension}"
    file = str(source.meta["source_file"]).rpartition("/")[2]
    return "/".join([condition, *key.split("/")[:-1], file])
