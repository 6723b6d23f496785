"""What is known about a file before it is here, and who says so; and the verdict on what came.

Facts come from the catalog, from the publisher's own interface where the catalog has none, and
from the receipt of an earlier download (trust on first use).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ops.catalog import SourceFile
from ops.fetch import hashing


@dataclass
class Expected:
    """The size and hashes a file has to have.

    Attributes
    ----------
    size : int or None
        Bytes.
    hashes : dict of str to str
        Kind to lower-case hex.
    said_by : dict of str to str
        Kind of fact (also ``size``) to its origin: ``catalog``, ``zenodo``, ``first use`` ...
    any_hash : bool
        One matching hash is enough.
    """

    size: int | None = None
    hashes: dict[str, str] = field(default_factory=dict)
    said_by: dict[str, str] = field(default_factory=dict)
    any_hash: bool = False

    def learn(self, origin: str, size: int | None, hashes: Mapping[str, str | None]) -> None:
        """Add facts of `origin` where nobody has said anything yet."""
        if size is not None and self.size is None:
            self.size, self.said_by["size"] = size, origin
        for kind, value in hashes.items():
            if (text := hashing.normal(value)) and kind not in self.hashes:
                self.hashes[kind], self.said_by[kind] = text, origin

    @property
    def kinds(self) -> tuple[str, ...]:
        """The hashes to compute while the bytes come in."""
        if self.any_hash:
            return tuple(k for k in hashing.KINDS if k == "sha256" or k in self.hashes)
        return hashing.needed(self.hashes)

    def checks(self, kinds: Iterable[str]) -> bool:
        """Whether any of the hashes in `kinds` is known, so that content can be proved."""
        return any(kind in self.hashes for kind in kinds)

    def problem(self, size: int, found: Mapping[str, str]) -> tuple[str, str] | None:
        """What contradicts the facts, as (expected, found), or None.

        Parameters
        ----------
        size : int
            Bytes that came.
        found : mapping of str to str
            Hashes that were computed.
        """
        if self.size is not None and size != self.size:
            return f"{self.size:,} bytes ({self.said_by['size']})", f"{size:,} bytes"
        wrong = [kind for kind in found if self.hashes.get(kind, found[kind]) != found[kind]]
        if not wrong or (self.any_hash and self.matches(found)):
            return None
        return (
            ", ".join(f"{kind} {self.hashes[kind]} ({self.said_by[kind]})" for kind in wrong),
            ", ".join(f"{kind} {found[kind]}" for kind in wrong),
        )

    def matches(self, found: Mapping[str, str]) -> list[str]:
        """The kinds of hash that agree."""
        return [kind for kind in found if self.hashes.get(kind) == found[kind]]

    def verified_by(self, found: Mapping[str, str]) -> list[str]:
        """The facts that were confirmed, for the receipt; ``first use`` where no hash was known."""
        seen = [f"{kind}: {self.said_by[kind]}" for kind in self.matches(found)]
        if self.size is not None:
            seen.append(f"size: {self.said_by['size']}")
        return seen if self.matches(found) else [*seen, "first use"]


def by_catalog(file: SourceFile) -> Expected:
    """What the catalog knows."""
    expected = Expected(any_hash=file.hash_rule == "any")
    git_blob = {"git_blob_sha1": file.git_blob_sha1.value}
    expected.learn("catalog", file.bytes.value, {**file.hashes, **git_blob})
    return expected


def complete(path: Path, expected: Expected, found: dict[str, str]) -> dict[str, str]:
    """`found`, with the git blob hash of the file at `path` where no other hash is known."""
    if set(expected.hashes) == {"git_blob_sha1"}:
        with path.open("rb") as file:
            return {**found, "git_blob_sha1": hashing.git_blob_sha1(file, path.stat().st_size)}
    return found
