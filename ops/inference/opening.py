"""Which way a dataset keeps its images, told by its manifest."""

from __future__ import annotations

from ops.catalog import Catalog
from ops.inference.expected import frames
from ops.inference.inputs import Input, StoredImages
from ops.inference.protocol import cropped_side, pixels_transform
from ops.inference.record import Numerics
from ops.models.transform import Transform
from ops.shards import Manifest
from ops.storage import Root


def open_input(
    root: Root,
    catalog: Catalog,
    manifest: Manifest,
    transform: Transform,
    numerics: Numerics,
    workers: int,
) -> Input:
    """The input of one evaluation.

    Parameters
    ----------
    root : Root
    catalog : Catalog
    manifest : Manifest
        The dataset, stored or made on the fly.
    transform : Transform
        The model's own; the protocol of the dataset may set its resize aside.
    numerics : Numerics
        Where the model runs, and images are rendered.
    workers : int
        Threads.
    """
    pixels = pixels_transform(transform, cropped_side(manifest.parameters))
    length = frames(manifest)
    # Only who renders or decodes videos waits for the compiler and for FFmpeg.
    if manifest.on_the_fly:
        from ops.inference.on_the_fly import open_rendered

        return open_rendered(root, catalog, manifest, pixels, numerics, workers)
    if length is not None:
        from ops.inference.sequences import StoredSequences

        return StoredSequences(root, manifest, pixels, length)
    return StoredImages(root, manifest, pixels)
