"""A benchmark as published: its files, terms, counts and quirks. Typed facts, no behaviour."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from ops.catalog.addresses import file_name, is_direct_download, zenodo_record
from ops.catalog.facts import (
    UNKNOWN,
    Fact,
    Md5,
    Quirk,
    Record,
    Sha1,
    Sha256,
    Size,
    Sources,
)
from ops.storage import paths

SCHEMES = ("http://", "https://", "file://", "s3://", "hf://")


class Mirror(Record):
    """Another address said to hold the same file."""

    url: str
    byte_identical: Literal["yes", "no", "unproven"] = "unproven"
    note: str | None = None
    source: Sources = ()


class OtherChecksum(Record):
    """Published hash of a file that no dataset here needs."""

    file: str
    md5: Md5
    source: Sources = ()


class SourceFile(Record):
    """One published file.

    Attributes
    ----------
    benchmark, id : str
        Where the catalog keeps it.
    name : str
        File name on disk: the last path component of the URL, or a given one.
    access : {"open", "login", "dead", "none"}
        ``none`` is a file that has no download of its own (a member of another archive, or a
        landing page only).
    hash_rule : {"all", "any"}
        ``any``: the hashes were published for copies whose identity is unproven, so one that
        matches is enough.
    mirror_url : str or None
        Address under ``$SHIFTLAKE_MIRROR``.
    synthetic : bool
        Whether an overlay says that its content was made up; what is told by it says so, too.
    """

    benchmark: str
    id: str
    name: str
    url: Fact[str | None] = UNKNOWN
    alt_url: str | None = None
    access: Literal["open", "login", "dead", "none"] = "open"
    how_to_get: str = ""
    same_as: str | None = None
    hash_rule: Literal["all", "any"] = "all"
    bytes: Fact[Size | None] = UNKNOWN
    md5: Fact[Md5 | None] = UNKNOWN
    sha1: Fact[Sha1 | None] = UNKNOWN
    sha256: Fact[Sha256 | None] = UNKNOWN
    git_blob_sha1: Fact[Sha1 | None] = UNKNOWN
    mirrors: tuple[Mirror, ...] = ()
    archive_format: Fact[str | None] = UNKNOWN
    internal_layout: Fact[str | None] = UNKNOWN
    num_images: Fact[int | None] = UNKNOWN
    corruptions: Fact[tuple[str, ...] | None] = UNKNOWN
    perturbations: Fact[tuple[str, ...] | None] = UNKNOWN
    role: str | None = None
    note: str | None = None
    members_hash: Literal["md5"] | None = None
    members: dict[str, Fact[Md5]] = Field(default_factory=dict)
    mirror_url: str | None = None
    synthetic: bool = False

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not name or "/" in name or name in (".", ".."):
            raise ValueError("expected a file name (give `name` where the URL ends in none)")
        return name

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, url: Fact[str | None]) -> Fact[str | None]:
        if url.value is not None and not url.value.startswith(SCHEMES):
            raise ValueError(f"expected a URL that starts with {', '.join(SCHEMES)}")
        # Raises ValueError itself, for brackets and port.
        _ = urlsplit(url.value or "").port
        return url

    @property
    def urls(self) -> list[str]:
        """Addresses in the order to try them.

        The mirror of ``$SHIFTLAKE_MIRROR``, the official (or overlaid) URL, its other spelling,
        then published mirrors, except those known to hold other bytes. Landing pages are left out.
        """
        candidates = [self.mirror_url] if self.mirror_url else []
        candidates += [
            url
            for url in (
                self.url.value,
                self.alt_url,
                *(mirror.url for mirror in self.mirrors if mirror.byte_identical != "no"),
            )
            if url and is_direct_download(url)
        ]
        return list(dict.fromkeys(candidates))

    @property
    def manual(self) -> bool:
        """Whether a person has to get it: a login, a dead host or no download at all.

        `how_to_get` then says how. A mirror of one's own makes it an ordinary download.
        """
        return self.mirror_url is None and (self.access != "open" or not self.urls)

    @property
    def hashes(self) -> dict[str, str]:
        """Hashes to hold a download against, by algorithm, strongest first.

        An inferred hash is left out: a download that differs from it is not thereby wrong.
        """
        facts = {"sha256": self.sha256, "sha1": self.sha1, "md5": self.md5}
        return {
            name: fact.value
            for name, fact in facts.items()
            if fact.value is not None and fact.status != "inferred"
        }

    @property
    def zenodo_record(self) -> str | None:
        """Number of the Zenodo record that holds it, if one does."""
        return zenodo_record(self.url.value) if self.url.value else None

    @property
    def path(self) -> str:
        """Path of the stored copy, below the storage root."""
        return paths.source(self.benchmark, self.name)


class Benchmark(Record):
    """Everything published about one benchmark. `classes_file` is a path below ``data/``."""

    id: str
    name: str
    homepage: str | None = None
    licence: Fact[str | None] = UNKNOWN
    terms: Fact[str | None] = UNKNOWN
    login_required: Fact[bool | None] = UNKNOWN
    num_images: Fact[Any] = UNKNOWN
    num_classes: Fact[Any] = UNKNOWN
    classes_file: str | None = None
    val_labels_file: Fact[str | None] = UNKNOWN
    label_mapping: Fact[str | None] = UNKNOWN
    image_format: Fact[str | None] = UNKNOWN
    frames: Fact[Any] = UNKNOWN
    pinned_revision: Fact[str | None] = UNKNOWN
    derivation: Fact[str | None] = UNKNOWN
    set_statistics: Fact[Any] = UNKNOWN
    neighbour_rule: Fact[str | None] = UNKNOWN
    list_length_histogram: Fact[Any] = UNKNOWN
    mirrors: tuple[Mirror, ...] = ()
    image_lists: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    other_checksums: tuple[OtherChecksum, ...] = ()
    quirks: tuple[Quirk, ...] = ()
    files: tuple[SourceFile, ...] = ()

    @field_validator("other_checksums", mode="before")
    @classmethod
    def _spread_source(cls, given: Any) -> Any:
        # In the published shape a last entry with nothing but `source` speaks for the whole list.
        if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
            return given
        common = [entry["source"] for entry in given if set(entry) == {"source"}]
        return [
            {"source": common, **entry} if common else entry
            for entry in given
            if set(entry) != {"source"}
        ]


def named(benchmark: str, raw: dict[str, Any]) -> dict[str, Any]:
    """`raw` facts of a file with its `benchmark`, and its `name` taken from the URL if it has none.

    The name is settled before an overlay moves the URL, so that a file keeps its name on disk.
    """
    url = raw.get("url")
    value = url.get("value") if isinstance(url, dict) else url
    name = raw.get("name") or (file_name(value) if isinstance(value, str) else "")
    return {**raw, "benchmark": benchmark, "name": name}
