"""Back to loose files in the published layout, for tools that read nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ops.errors import ShiftlakeError
from ops.fetch.archive_limits import safe_name
from ops.shards.manifest import Manifest, read_manifest
from ops.shards.reader import read_shard
from ops.shards.sample import Sample
from ops.storage import Root, open_root


def export(
    root: Root | str,
    dataset: str,
    folder: Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a dataset's files below a folder, under the names they were published with.

    ImageNet-1k's flat validation images and the nested training tars become class folders, as
    every ImageFolder loader expects; MiniImageNet-C becomes
    ``<corruption>/severity_5/<wnid>/*.JPEG``. Archives inside archives leave no folder.

    Parameters
    ----------
    root : Root or str
    dataset : str
        A sealed dataset with images.
    folder : Path
        Made if need be. A file already there with the same content is kept.
    progress : callable, optional
        Called as ``progress(files done, files in all)``.

    Returns
    -------
    int
        Number of files below `folder` that belong to the dataset.

    Raises
    ------
    ShiftlakeError
        If the dataset has no images, or a file of another content is in the way.
    ShardDamaged
        If a shard is not what was sealed.
    """
    root = open_root(root)
    manifest = read_manifest(root, dataset)
    if manifest.joined_to is not None:
        raise ShiftlakeError(
            f"{dataset} holds labels and no images.",
            expected="a dataset with images",
            found="labels",
            where=root.at(dataset),
            remedy=f"export {manifest.joined_to}",
        )
    done = 0
    for entry in manifest.shards:
        for sample in read_shard(root, manifest, entry, hash=True):
            # What could not be rendered is told in the manifest; an empty file would be no image.
            if sample.image or sample.meta.get("reason") is None:
                target = folder / safe_name(published_name(manifest, sample), dataset)
                _place(target, sample.image or b"")
            done += 1
            if progress:
                progress(done, manifest.n_samples)
    return done


def published_name(manifest: Manifest, sample: Sample) -> str:
    """Path of a sample's file below the export folder."""
    meta = sample.meta
    name = str(meta["source_file"])
    file = name.rpartition("/")[2]
    if manifest.name == "imagenet_1k/val":
        return f"val/{meta['wnid']}/{file}"
    if manifest.name == "imagenet_1k/train":
        return f"train/{meta['wnid']}/{file}"
    if manifest.benchmark in ("mini_imagenet_c", "mini_imagenet_c_rendered"):
        stem = file.rpartition(".")[0]
        return f"{meta['corruption']}/severity_{meta['severity']}/{meta['wnid']}/{stem}.JPEG"
    if ".tar.gz/" in name:
        return name.rpartition(".tar.gz/")[2]
    if "#" in name:
        return f"{name.partition('#')[0].rpartition('.')[0]}/{name.partition('#')[2]}.png"
    return name


def _place(target: Path, data: bytes) -> None:
    if target.exists():
        if target.read_bytes() == data:
            return
        raise ShiftlakeError(
            "A file of another content is in the way.",
            expected="no file, or the same one",
            found=f"{target.stat().st_size:,} other bytes",
            where=target,
            remedy="export into an empty folder",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.part")
    partial.write_bytes(data)
    partial.replace(target)
