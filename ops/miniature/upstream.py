"""Building the miniature once, and finding a finished one again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import av
import numpy
import PIL
import yaml

from ops.catalog import classes as catalog_classes
from ops.errors import ShiftlakeError
from ops.miniature import (
    caltech,
    cifar,
    corruptions,
    imagenet,
    natural,
    perturbations,
    reference_results,
    sun,
    video,
)
from ops.miniature.overlay import overlay
from ops.miniature.publication import Publication, Truth
from ops.miniature.sizes import SizeName, size_named
from ops.parallel import map_shards

MARKER = "miniature.json"
FAMILIES = {
    "imagenet": imagenet,
    "natural": natural,
    "corruptions": corruptions,
    "perturbations": perturbations,
    "video": video,
    "cifar": cifar,
    "caltech": caltech,
    "sun": sun,
    "reference_results": reference_results,
}


@dataclass(frozen=True)
class MiniatureUpstream:
    """A finished miniature.

    Attributes
    ----------
    folder : Path
        Holds `files/<benchmark>/<file name>`, `truth.json`, `overlay.yaml` and `miniature.json`.
    size : str
        The preset it was built with.
    seed : int
        The seed it was built with.
    families : list of str
        Names in `FAMILIES` of what was published.
    code : str
        Hash of the code and libraries that drew it.
    files : list of dict
        Facts of each file: benchmark, id, name, bytes, md5, sha1, sha256, git_blob_sha1.
    expected : dict
        Dataset -> `expected`, `expected_classes` and `per_class`.
    """

    folder: Path
    size: str
    seed: int
    families: list[str]
    code: str
    files: list[dict[str, Any]]
    expected: dict[str, dict[str, int | None]]

    @cached_property
    def truth(self) -> Truth:
        """Dataset -> path of a picture in its archive -> accepted labels.

        A picture in an inner archive has that archive's path first
        (`n01443537.tar/n01443537_17.JPEG`), one in a binary file its record number after `#`.
        The labels are in the label space of the dataset; ImageNet-O pictures have none.
        """
        truth: Truth = json.loads((self.folder / "truth.json").read_text())
        return truth

    def path(self, benchmark: str, file_id: str) -> Path:
        """Return the local path of a published file by catalog benchmark and file id."""
        for facts in self.files:
            if (facts["benchmark"], facts["id"]) == (benchmark, file_id):
                return self.folder / "files" / benchmark / str(facts["name"])
        raise ShiftlakeError(
            "The miniature has no such file.",
            expected="a benchmark and file id of the catalog that the miniature holds",
            found=f"{benchmark}/{file_id}",
            where=self.folder,
            remedy="See ops.miniature.OMITTED for what is left out.",
        )

    def overlay(self, base_url: str) -> dict[str, Any]:
        """Return the catalog overlay for a server at `base_url`."""
        return overlay(self.files, self.expected, base_url.rstrip("/"))


def build(
    folder: Path,
    *,
    size: SizeName = "demo",
    seed: int = 0,
    families: Sequence[str] = tuple(FAMILIES),
) -> MiniatureUpstream:
    """Write the miniature, or return the finished one that already stands there.

    Parameters
    ----------
    folder : Path
        Target; made if missing. Files of an older or unfinished miniature in it are replaced.
    size : {"demo", "test"}
        `demo` (60 MB, half a minute) has enough pictures to train a small network; `test` has
        one or two of each class and the same special cases.
    seed : int
        Key of all randomness: the same size and seed give the same bytes.
    families : sequence of str
        Which of `FAMILIES` to publish; all by default.

    Returns
    -------
    MiniatureUpstream

    Raises
    ------
    ShiftlakeError
        If the size or a family is unknown, or the folder holds something else.
    """
    preset = size_named(size)
    _known(families)
    recipe = {"size": size, "seed": seed, "families": [*families], "code": _code_version()}
    earlier = finished(folder)
    if earlier is not None and {name: getattr(earlier, name) for name in recipe} == recipe:
        return earlier
    _clear(folder)
    folder.mkdir(parents=True, exist_ok=True)
    publication = _published(Publication(folder, preset, seed), families)
    notes = recipe | {"files": publication.files, "expected": publication.expected()}
    upstream = _read(folder, notes)
    (folder / "truth.json").write_text(json.dumps(publication.truth))
    (folder / "overlay.yaml").write_text(yaml.safe_dump(upstream.overlay("{base_url}")))
    # Last, so that an interrupted build is not taken for a finished one.
    (folder / MARKER).write_text(json.dumps(notes))
    return upstream


# What is drawn longest is begun first, so that no worker waits long for the last one.
_LONGEST = ("corruptions", "perturbations")


def _published(publication: Publication, families: Sequence[str]) -> Publication:
    """Publish families, in processes of their own where there is enough to draw."""
    order = sorted(families, key=lambda family: family not in _LONGEST)
    # In the small size, starting a process takes longer than what it would draw.
    workers = None if publication.size.name == "demo" else 1
    made = {
        order[position]: own
        for position, own in map_shards(
            _family, [(publication, family) for family in order], workers=workers
        )
    }
    for family in families:
        publication.take(made[family])
    return publication


def _family(task: tuple[Publication, str]) -> Publication:
    """Publish one family; what it is depends on no other."""
    whole, family = task
    own = Publication(whole.folder, whole.size, whole.seed)
    FAMILIES[family].publish(own)
    return own


def finished(folder: Path) -> MiniatureUpstream | None:
    """Return the miniature that stands in a folder, or None where none was finished."""
    marker = folder / MARKER
    if not marker.exists():
        return None
    try:
        return _read(folder, json.loads(marker.read_text()))
    except (TypeError, ValueError):
        # The marker of another version of this code: what stands there is built anew.
        return None


def _read(folder: Path, notes: dict[str, Any]) -> MiniatureUpstream:
    return MiniatureUpstream(folder, **notes)


def _known(families: Sequence[str]) -> None:
    if unknown := [family for family in families if family not in FAMILIES]:
        raise ShiftlakeError(
            "The miniature has no such family of benchmarks.",
            expected=f"some of {', '.join(FAMILIES)}",
            found=", ".join(unknown),
            where="ops.miniature.build(families=...)",
            remedy="Choose from the names above, or leave the argument out for all.",
        )


def _clear(folder: Path) -> None:
    if not folder.exists():
        return
    ours = {MARKER, "files", "truth.json", "overlay.yaml"}
    foreign = sorted(each.name for each in folder.iterdir() if each.name not in ours)
    if foreign:
        raise ShiftlakeError(
            "The folder for the miniature holds other files.",
            expected="a missing or empty folder, or an earlier miniature",
            found=", ".join(foreign[:5]),
            where=folder,
            remedy="Choose another folder.",
        )
    (folder / MARKER).unlink(missing_ok=True)
    shutil.rmtree(folder / "files", ignore_errors=True)


def _code_version() -> str:
    """Return a hash of everything the bytes depend on besides size and seed."""
    state = hashlib.sha256()
    # The kernels draw the pictures of ImageNet-C and -P.
    for package in ("ops.miniature", "ops.corruptions", "ops.perturbations"):
        for each in sorted(resources.files(package).iterdir(), key=lambda each: each.name):
            if each.name.endswith(".py"):
                state.update(each.name.encode() + each.read_bytes())
    state.update(resources.files("ops.miniature").joinpath("data/cifar100.json").read_bytes())
    ilsvrc, labels = catalog_classes.ilsvrc(), catalog_classes.val_labels()
    state.update(
        repr((ilsvrc.wnids, labels, av.__version__, numpy.__version__, PIL.__version__)).encode()
    )
    return state.hexdigest()[:16]
