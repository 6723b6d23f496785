"""Bounds on what an archive may hold, and the refusal of names that leave its folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ops.errors import ShiftlakeError

MIB = 1 << 20
GIB = 1 << 30
# Surrogates stand for bytes that are no UTF-8, as the tar reader hands them on.
_UNSAFE = re.compile(r"^/|^[A-Za-z]:|(?:^|/)\.\.(?:/|$)|[\\\x00-\x1f\ud800-\udfff]")
_LOOSE = re.compile(r"(?:^|/)\.?(?:/|$)")


class HostileArchive(ShiftlakeError):
    """An archive holds something no published benchmark holds; nothing of it is used."""


class CutArchive(ShiftlakeError):
    """An archive ends before its format says it does."""


@dataclass(frozen=True)
class Limits:
    """Sizes beyond which an archive is refused.

    Parameters
    ----------
    member : int
        Bytes of one file that is not itself an archive.
    ratio : int
        Inflated bytes for every compressed byte, over the whole stream. Photographs hardly
        compress (1.0), text about 10; a bomb of zeros reaches 1,000.
    floor : int
        Inflated bytes that are always allowed, whatever the ratio.
    """

    member: int = 1 * GIB
    ratio: int = 50
    floor: int = 64 * MIB

    def check_member(self, name: str, size: int, where: object) -> None:
        """Refuse a member that claims more than `member` bytes."""
        if size > self.member:
            raise HostileArchive(
                "An archive member is larger than any published image or video.",
                expected=f"at most {self.member:,} bytes",
                found=f"{size:,} bytes",
                where=f"{where}: {name}",
                remedy="check where the archive comes from; it is not used",
            )

    def check_inflated(self, inflated: int, packed: int, where: object) -> None:
        """Refuse a stream that inflates far beyond what photographs and text do."""
        if inflated > max(self.floor, packed * self.ratio):
            raise HostileArchive(
                "A compressed archive inflates without end.",
                expected=f"at most {self.ratio} bytes for each compressed byte",
                found=f"{inflated:,} bytes out of {packed:,}",
                where=where,
                remedy="check where the archive comes from; it is not used",
            )


DEFAULT_LIMITS = Limits()


def safe_name(name: str, where: object) -> str:
    """Name of a member without a leading ``./``; refuse one that leaves its folder.

    Raises
    ------
    HostileArchive
        For absolute names, drive letters, backslashes, ``..``, control characters, and bytes
        that are no text.
    """
    if _UNSAFE.search(name):
        raise HostileArchive(
            "An archive member has a name that may leave its folder.",
            expected="a relative name in UTF-8 without '..'",
            found=repr(name),
            where=where,
            remedy="check where the archive comes from; it is not used",
        )
    if not _LOOSE.search(name):
        return name
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def refuse_kind(name: str, kind: str, where: object) -> None:
    """Refuse a member that is neither a file nor a folder.

    Raises
    ------
    HostileArchive
        Always.
    """
    raise HostileArchive(
        "An archive holds a link, device or other special member.",
        expected="regular files and folders",
        found=kind,
        where=f"{where}: {name}",
        remedy="check where the archive comes from; it is not used",
    )
