"""What a user states over the catalog: an overlay, read and merged before types are checked.

An overlay has the catalog's own shape and only what differs::

    benchmarks: [{id: imagenet-a, files: [{id: imagenet_a_tar, url: https://…, sha256: …}]}]
    datasets: {imagenet_a/clean: {expected: 750}}

Benchmarks and files are merged by id, new ones may be added, and a plain value is accepted
wherever the catalog holds a fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from ops.catalog.addresses import file_name, without_secrets
from ops.catalog.benchmark import Benchmark, SourceFile, named
from ops.catalog.data_files import parse
from ops.catalog.facts import UNKNOWN, Record, normalise_hash
from ops.errors import ShiftlakeError

# The other keys of a whole catalog document say nothing about a file; they may stand there.
_DESCRIPTIVE = {"schema_version", "generated_from", "conventions", "global_quirks"}
_CONTENT = ("bytes", "md5", "sha1", "sha256", "git_blob_sha1")
# These speak about the bytes, too, so they fall with them.
_ABOUT_CONTENT = (*_CONTENT, "num_images", "members", "members_hash", "hash_rule")
_OTHER_ADDRESSES = ("alt_url", "mirrors")

Raw = dict[str, Any]


@dataclass(frozen=True)
class Overlay:
    """What an overlay says, by id; `address` is without secrets."""

    address: str
    benchmarks: dict[str, Raw] = field(default_factory=dict)
    files: dict[tuple[str, str], Raw] = field(default_factory=dict)
    datasets: dict[str, Raw] = field(default_factory=dict)
    label_spaces: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How facts of this overlay name their source: its file name."""
        return f"overlay {file_name(self.address) or Path(self.address).name}"


def refused(address: str, key: str, expected: object, found: object) -> ShiftlakeError:
    """The error for one key of an overlay."""
    text = str(found)
    return ShiftlakeError(
        "The catalog overlay cannot be used.",
        expected=expected,
        found=text if len(text) <= 200 else f"{text[:200]}…",
        where=f"{address}: {key}",
        remedy="correct this key of the overlay, or unset SHIFTLAKE_CATALOG to do without it",
    )


def read(address: str) -> Overlay:
    """Read an overlay.

    Parameters
    ----------
    address : str
        Path, or ``http(s)://`` or ``file://`` URL of a YAML or JSON document.

    Raises
    ------
    ShiftlakeError
        If it cannot be read, or is not of the catalog's shape.
    """
    shown = without_secrets(address)
    try:
        document = parse(_text(address))
    except OSError as error:
        raise refused(shown, "the whole file", "a file that can be read", error) from error
    except (ValueError, yaml.YAMLError) as error:
        raise refused(shown, "the whole file", "a YAML or JSON document", error) from error
    top = _mapping(shown, "the whole file", {} if document is None else document)
    known = {"benchmarks", "datasets", "label_spaces"} | _DESCRIPTIVE
    for key in top:
        if key not in known:
            raise refused(shown, key, f"one of {', '.join(sorted(known))}", "an unknown key")
    overlay = Overlay(shown)
    for entry in _entries(shown, "benchmarks", top.get("benchmarks")):
        ident = entry["id"]
        rest = {key: value for key, value in entry.items() if key != "files"}
        overlay.benchmarks.setdefault(ident, {}).update(rest)
        for file in _entries(shown, f"benchmarks / {ident} / files", entry.get("files")):
            overlay.files.setdefault((ident, file["id"]), {}).update(file)
    for name, fields in _mapping(shown, "datasets", top.get("datasets") or {}).items():
        overlay.datasets[name] = _mapping(shown, f"datasets / {name}", fields)
    for name, size in _mapping(shown, "label_spaces", top.get("label_spaces") or {}).items():
        if not isinstance(size, int) or size < 1:
            raise refused(shown, f"label_spaces / {name}", "a number of classes", size)
        overlay.label_spaces[name] = size
    return overlay


def merge_benchmarks(base: dict[str, Raw], overlay: Overlay) -> dict[str, Raw]:
    """Raw benchmarks of the catalog with the overlay's facts over them.

    Returns
    -------
    dict
        Only the benchmarks that the overlay touches, by id; `base` is left as it is.
    """
    patches = _forwarded(base, overlay)
    merged: dict[str, Raw] = {}
    for ident in dict.fromkeys([*overlay.benchmarks, *(benchmark for benchmark, _ in patches)]):
        patch = _facts(Benchmark, overlay.benchmarks.get(ident, {}), overlay.label)
        if ident not in base and "name" not in patch:
            _refuse_misspelt(ident, base, overlay.address)
        old = base.get(ident, {"id": ident, "name": ident, "files": []})
        files = {file["id"]: file for file in old["files"]}
        for (benchmark, file_id), stated in patches.items():
            if benchmark == ident:
                facts = _facts(SourceFile, stated, overlay.label)
                files[file_id] = (
                    _merged_file(files[file_id], facts) if file_id in files else named(ident, facts)
                )
        merged[ident] = {**old, **patch, "files": list(files.values())}
    return merged


def merge_datasets(base: dict[str, Raw], overlay: Overlay) -> dict[str, Raw]:
    """Fields of all datasets with the overlay's over them, and parameters one by one.

    A key may be a pattern (``imagenet_c/*``); it then has to match something.
    """
    merged = dict(base)
    for key, fields in overlay.datasets.items():
        names = [key]
        if "*" in key:
            names = [name for name in base if fnmatchcase(name, key)]
            if not names:
                raise refused(overlay.address, f"datasets / {key}", "a matching dataset", "none")
        elif key not in base and f"{key}/clean" in base:
            names = [f"{key}/clean"]
        for name in names:
            before = merged.get(name, {})
            merged[name] = {**before, **fields}
            if isinstance(fields.get("parameters"), Mapping):
                # One number of a condition may be stated without stating all of them.
                merged[name]["parameters"] = {
                    **(before.get("parameters") or {}),
                    **fields["parameters"],
                }
    return merged


def _refuse_misspelt(ident: str, base: dict[str, Raw], address: str) -> None:
    """A new benchmark may be added, but one that looks like a known one has to say its name."""
    if near := get_close_matches(ident.replace("_", "-"), list(base), 1, 0.8):
        expected = f"a known id (perhaps {near[0]}), or a `name` for a new benchmark"
        raise refused(address, f"benchmarks / {ident}", expected, "an unknown id")


def _text(address: str) -> str:
    if "://" not in address:
        return Path(address).read_text(encoding="utf-8")
    from urllib.request import urlopen

    with urlopen(address, timeout=30) as answer:
        return str(answer.read().decode("utf-8"))


def _mapping(address: str, key: str, value: Any) -> Raw:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise refused(address, key, "a mapping", value)
    return dict(value)


def _entries(address: str, key: str, value: Any) -> list[Raw]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise refused(address, key, "a list of entries with an id", value)
    entries = [_mapping(address, key, entry) for entry in value]
    for entry in entries:
        if not isinstance(entry.get("id"), str):
            raise refused(address, key, "an entry with an id", entry)
    return entries


def _facts(record: type[Record], stated: Raw, source: str) -> Raw:
    """`stated` with every plain value that stands for a fact written out as one."""
    facts = {name for name, info in record.model_fields.items() if info.default is UNKNOWN}
    return {key: _fact(value, source) if key in facts else value for key, value in stated.items()}


def _fact(value: Any, source: str) -> Raw:
    stated = dict(value) if isinstance(value, Mapping) and "value" in value else {"value": value}
    status = "unknown" if stated["value"] is None else "overlay"
    return {"source": [] if stated["value"] is None else [source], "status": status, **stated}


def _forwarded(base: dict[str, Raw], overlay: Overlay) -> dict[tuple[str, str], Raw]:
    """The overlay's files, with what is said of an alias said of the file it stands for."""
    aliases = {
        (ident, file["id"]): tuple(file["same_as"].split("/", 1))
        for ident, benchmark in base.items()
        for file in benchmark["files"]
        if file.get("same_as")
    }
    patches: dict[tuple[str, str], Raw] = {}
    for place, stated in overlay.files.items():
        target = place if "same_as" in stated else aliases.get(place, place)
        facts = {**stated, "id": target[1]}
        into = patches.setdefault((target[0], target[1]), {})
        for key, value in facts.items():
            if key in into and into[key] != value:
                where = f"benchmarks / {place[0]} / {place[1]} / {key}"
                same = f"{into[key]}, as for the same file in {target[0]}"
                raise refused(overlay.address, where, same, value)
        into.update(facts)
    return patches


def _merged_file(old: Raw, patch: Raw) -> Raw:
    """`old` with `patch` over it, without mixing the facts of two different files.

    Where the patch contradicts what is known of the bytes, or moves the file and says what its
    bytes are, it describes other bytes: what it does not state about them becomes unknown.
    """
    stated = {key for key in _CONTENT if key in patch and patch[key]["value"] is not None}
    moved = "url" in patch and _value(patch, "url") != _value(old, "url")
    contradicts = any(
        _value(old, key) is not None and _plain(_value(old, key)) != _plain(patch[key]["value"])
        for key in stated
    )
    dropped: set[str] = set()
    if contradicts or (moved and stated):
        dropped.update(_ABOUT_CONTENT)
        if moved:
            dropped.update(_OTHER_ADDRESSES)
    if moved:
        dropped.update(("access", "how_to_get"))
    return {**{key: value for key, value in old.items() if key not in dropped}, **patch}


def _value(raw: Raw, key: str) -> Any:
    fact = raw.get(key)
    return fact.get("value") if isinstance(fact, Mapping) else fact


def _plain(value: Any) -> Any:
    return normalise_hash(value) if isinstance(value, str) else value
