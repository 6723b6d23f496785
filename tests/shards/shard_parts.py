"""Lakes made of the miniature's archives, or of archives made on the spot."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ops.catalog import Catalog, load
from ops.fetch import fetch
from ops.miniature import MiniatureUpstream
from ops.shards import Manifest, Sample, read_manifest, read_shard
from ops.shards.layouts import LAYOUTS
from ops.storage import Root, open_root, paths

BUILD = Path(__file__).with_name("build_in_process.py")


class Made(NamedTuple):
    """A lake, the catalog that goes with it, and the file that catalog was read from."""

    root: Root
    catalog: Catalog
    overlay: Path


def write_overlay(path: Path, upstream: MiniatureUpstream, **datasets: Any) -> Path:
    """The miniature's overlay with file addresses; `datasets` replaces fields of some."""
    content = upstream.overlay((upstream.folder / "files").as_uri())
    for name, fields in datasets.items():
        content["datasets"][name] = {**content["datasets"].get(name, {}), **fields}
    path.write_text(yaml.safe_dump(content))
    return path


def cut_out(catalog: Catalog) -> list[str]:
    """The datasets that need no renderer."""
    rendered = {name for name, spec in catalog.datasets.items() if spec.layout not in LAYOUTS}
    return [
        name
        for name, spec in catalog.datasets.items()
        if name not in rendered and rendered.isdisjoint(spec.derived_from)
    ]


def fetch_for(root: Root, catalog: Catalog, names: Iterable[str]) -> None:
    wanted = {(file.benchmark, file.id): file for name in names for file in catalog.sources(name)}
    for file in wanted.values():
        fetch(root, file)


def same_sources(made: Made, folder: Path) -> Made:
    """A new lake with the same sources and no shards."""
    shutil.copytree(made.root.local_path("sources"), folder / "sources", copy_function=os.link)
    return Made(open_root(folder), made.catalog, made.overlay)


def made_of(folder: Path, dataset: str, archive: bytes, **fields: Any) -> Made:
    """A lake whose one source is an archive made here; counts are not checked unless given."""
    known = load().dataset(dataset)
    published = folder / "published"
    folder.mkdir(parents=True, exist_ok=True)
    published.write_bytes(archive)
    counts = {"expected": None, "expected_classes": None, "per_class": None}
    nothing = dict.fromkeys(("bytes", "md5", "sha1", "sha256", "git_blob_sha1"))
    file = {"id": known.files[0], "url": published.as_uri(), "mirrors": [], **nothing}
    overlay = folder / "overlay.yaml"
    overlay.write_text(
        yaml.safe_dump(
            {
                "benchmarks": [{"id": known.benchmark, "files": [file]}],
                "datasets": {dataset: {**counts, **fields}},
            }
        )
    )
    root, catalog = open_root(folder / "lake"), load(str(overlay))
    fetch(root, catalog.file(known.benchmark, known.files[0]))
    return Made(root, catalog, overlay)


def tar_of(files: Iterable[tuple[str, bytes]]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def samples_of(root: Root, dataset: str) -> list[Sample]:
    manifest = read_manifest(root, dataset)
    return [each for entry in manifest.shards for each in read_shard(root, manifest, entry)]


def shard_files(root: Root, dataset: str) -> list[Path]:
    return sorted(root.local_path(paths.dataset(dataset)).glob("*.tar"))


def sealed_bytes(root: Root, dataset: str) -> dict[str, bytes]:
    """Everything of a sealed dataset, by file name."""
    folder = paths.dataset(dataset)
    found = {path.removeprefix(f"{folder}/"): root.read_bytes(path) for path in root.list(folder)}
    manifest = Manifest.model_validate_json(found["manifest.json"])
    assert set(found) == {"manifest.json", *(entry.name for entry in manifest.shards)}
    return found


def start_build(
    made: Made, dataset: str, *options: str, root: str = "", **environment: str
) -> subprocess.Popen[str]:
    """Start a build in a process of its own; see `build_in_process.py` for the options."""
    arguments = [root or made.root.url, str(made.overlay), dataset, *options]
    return subprocess.Popen(
        [sys.executable, str(BUILD), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )
