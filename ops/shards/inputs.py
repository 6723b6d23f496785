"""What a dataset is made of: verified archives, small files beside them, or sealed datasets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ops.errors import ShiftlakeError
from ops.fetch import drop_local, local_source, read_receipt, standing
from ops.shards.manifest import Manifest, ShardEntry, SourceRef, read_manifest
from ops.shards.reader import damaged_shard
from ops.storage import Root, paths

if TYPE_CHECKING:
    from ops.catalog import Catalog, DatasetSpec, SourceFile


@dataclass(frozen=True)
class Inputs:
    """What one or more datasets are made of.

    Parameters
    ----------
    refs : list of SourceRef
        Identity of each input, for the manifest.
    archives : callable
        Brings the archives to this machine, and gives their local paths.
    side : dict
        Contents of the small files beside the archive, by file id.
    drop : callable
        Removes the copies on this machine of what lies on a remote root.
    renderer : dict or None
        What rendered the sealed datasets it derives from.
    synthetic : bool
        Whether one of them shows nothing real.
    licence : str or None
        Of the sealed datasets it derives from.
    """

    refs: list[SourceRef]
    archives: Callable[[], list[Path]]
    side: dict[str, bytes]
    drop: Callable[[], None]
    renderer: dict[str, Any] | None = None
    synthetic: bool = False
    licence: str | None = None


def find_inputs(root: Root, catalog: Catalog, spec: DatasetSpec) -> Inputs:
    """Find the inputs of a dataset.

    Raises
    ------
    ShiftlakeError
        If a source has no receipt, or a dataset it derives from is not sealed.
    """
    return _derived(root, spec) if spec.derived_from else _published(root, catalog, spec)


def _published(root: Root, catalog: Catalog, spec: DatasetSpec) -> Inputs:
    refs: list[SourceRef] = []
    files = [catalog.file(spec.benchmark, file_id) for file_id in spec.files]
    for file in files:
        receipt = read_receipt(root, file)
        if receipt is None:
            raise _missing(root, spec, file, "no receipt")
        # An archive may be deleted once its datasets are sealed; one that is there must be right.
        if root.exists(file.path) and standing(root, file) is None:
            raise _missing(root, spec, file, "a copy that is not what the catalog states")
        refs.append(
            SourceRef(
                benchmark=file.benchmark,
                file=file.id,
                name=file.name,
                sha256=receipt.sha256,
                bytes=receipt.bytes,
            )
        )
    side = {file.id: root.read_bytes(file.path) for file in files[1:] if root.exists(file.path)}

    def archives() -> list[Path]:
        for file in files:
            if not root.exists(file.path):
                raise _missing(root, spec, file, "a receipt, but no file")
        return [local_source(root, files[0])]

    def drop() -> None:
        for file in files:
            drop_local(root, file)

    return Inputs(refs, archives, side, drop)


def _missing(root: Root, spec: DatasetSpec, file: SourceFile, found: str) -> ShiftlakeError:
    return ShiftlakeError(
        f"{spec.name}: a source is missing.",
        expected=f"a verified copy of {file.name}",
        found=found,
        where=root.at(file.path),
        remedy=f"shiftlake fetch {file.benchmark}, or shiftlake add FILE",
    )


def _derived(root: Root, spec: DatasetSpec) -> Inputs:
    manifests = [read_manifest(root, name) for name in spec.derived_from]
    refs = [manifest.as_source for manifest in manifests]
    shards = [(manifest, entry) for manifest in manifests for entry in manifest.shards]

    def drop() -> None:
        if not root.is_local:
            for manifest, entry in shards:
                root.drop_copy(paths.shard(manifest.name, entry.name))

    renderers = {json.dumps(each.renderer, sort_keys=True): each.renderer for each in manifests}
    if len(renderers) != 1:
        raise ShiftlakeError(
            f"{spec.name} would mix what different renderers made.",
            expected="one renderer, or none",
            found=", ".join(renderers),
            where=spec.name,
            remedy="derive a dataset of its own from each",
        )
    (renderer,) = renderers.values()
    synthetic = any(manifest.synthetic for manifest in manifests)

    def archives() -> list[Path]:
        return [_sealed_shard(root, *shard) for shard in shards]

    licences = dict.fromkeys(each.licence for each in manifests if each.licence)
    return Inputs(refs, archives, {}, drop, renderer, synthetic, "; ".join(licences) or None)


def _sealed_shard(root: Root, manifest: Manifest, entry: ShardEntry) -> Path:
    """Local path of a shard that is what was sealed, to the last bit."""
    shard = paths.shard(manifest.name, entry.name)
    if (size := root.size(shard)) != entry.bytes:
        raise damaged_shard(root, manifest, entry, f"{entry.bytes:,} bytes", f"{size} bytes")
    path = root.local_copy(shard)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        raise damaged_shard(root, manifest, entry, f"sha256 {entry.sha256}", f"sha256 {digest}")
    return path
