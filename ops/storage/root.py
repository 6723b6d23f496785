"""One root, a local folder or ``s3://``, with the same guarantees on both.

Nothing else in the project opens a stored path by itself. Publishing is atomic: a name either
does not exist or holds the whole content, whatever dies in between.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from ops.errors import ShiftlakeError
from ops.storage.unfinished import held, sweep

ROOT_VARIABLE = "SHIFTLAKE_ROOT"
SCRATCH_VARIABLE = "SHIFTLAKE_SCRATCH"
ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"


_TRIES = 20


class Root:
    """A storage root. Made with :func:`open_root`; cheap to pickle and to make again.

    Parameters
    ----------
    url : str
        A local folder or an ``s3://bucket/prefix`` URL. S3 credentials, region and endpoint
        come from the usual ``AWS_*`` variables (``AWS_ENDPOINT_URL`` for MinIO or Ceph).
    """

    def __init__(self, url: str) -> None:
        self.is_local = "://" not in url
        self.url = str(Path(url).absolute()) if self.is_local else url.rstrip("/")
        self._fs: Any = None

    def __repr__(self) -> str:
        return f"Root({self.url!r})"

    def __reduce__(self) -> tuple[type[Root], tuple[str]]:
        return (Root, (self.url,))

    @property
    def fs(self) -> Any:
        """The fsspec filesystem of the root."""
        if self._fs is None:
            import fsspec

            if self.is_local:
                self._fs = fsspec.filesystem("file")
            else:
                protocol = self.url.split("://", 1)[0]
                options: dict[str, Any] = {"use_listings_cache": False}
                if protocol == "s3":
                    # Slow-downs and 5xx answers are retried by botocore with backoff.
                    options["config_kwargs"] = {"retries": {"max_attempts": 10, "mode": "standard"}}
                    if endpoint := os.environ.get(ENDPOINT_VARIABLE):
                        options["endpoint_url"] = endpoint
                self._fs = fsspec.filesystem(protocol, **options)
        return self._fs

    def at(self, rel: str) -> str:
        """Full address of `rel`, for a person or another program."""
        _refuse_escape(rel)
        return f"{self.url}/{rel}" if rel else self.url

    def local_path(self, rel: str) -> Path:
        """The path of `rel` on a local root.

        Raises
        ------
        ShiftlakeError
            If the root is not local; use :meth:`local_copy`, which works on both.
        """
        if not self.is_local:
            raise ShiftlakeError(
                "A local path was asked of a remote root.",
                expected="a local storage root",
                found=self.url,
                where=rel,
                remedy="use local_copy(), or set SHIFTLAKE_ROOT to a local folder",
            )
        return Path(self.at(rel))

    def exists(self, rel: str) -> bool:
        """Whether `rel` is a published file."""
        return self.size(rel) is not None

    def size(self, rel: str) -> int | None:
        """Size of a published file in bytes, or None where there is none."""
        if self.is_local:
            try:
                path = self.local_path(rel)
                stat = path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            return None if path.is_dir() else stat.st_size
        try:
            info = self.fs.info(self.at(rel))
        except FileNotFoundError:
            return None
        return None if info["type"] == "directory" else int(info["size"])

    def modified(self, rel: str) -> float | None:
        """When a file was published, in seconds since 1970; None where there is none."""
        try:
            if self.is_local:
                return self.local_path(rel).stat().st_mtime
            return float(self.fs.info(self.at(rel))["LastModified"].timestamp())
        except FileNotFoundError:
            return None

    def read_bytes(self, rel: str) -> bytes:
        """Content of a small file. Raises FileNotFoundError where there is none."""
        if self.is_local:
            return self.local_path(rel).read_bytes()
        return cast(bytes, self.fs.cat_file(self.at(rel)))

    def read_json(self, rel: str) -> Any:
        """Content of a JSON file.

        Raises
        ------
        ShiftlakeError
            If the file is not JSON.
        """
        data = self.read_bytes(rel)
        try:
            return json.loads(data)
        except ValueError as error:
            raise ShiftlakeError(
                "A stored JSON file cannot be read.",
                expected="JSON",
                found=str(error),
                where=self.at(rel),
                remedy="remove the file and run the stage that writes it again",
            ) from error

    def write_bytes(self, rel: str, data: bytes, *, durable: bool = True) -> None:
        """Publish `data` under `rel`, atomically; `durable` as in :meth:`writer`."""
        if not self.is_local:
            self.fs.pipe_file(self.at(rel), data)
            return
        for left in reversed(range(_TRIES)):
            try:
                with self.writer(rel, durable=durable) as file:
                    file.write(data)
            except (FileNotFoundError, FileExistsError):
                # Another process removed the folder after we had made it, or while mkdir looked
                # whether what exists is a folder.
                if not left:
                    raise
            else:
                return

    def write_json(self, rel: str, value: Any, *, durable: bool = True) -> None:
        """Publish `value` as JSON with sorted keys and a final newline, atomically."""
        text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
        self.write_bytes(rel, (text + "\n").encode(), durable=durable)

    def open(self, rel: str) -> BinaryIO:
        """Open a published file for reading."""
        if self.is_local:
            return self.local_path(rel).open("rb")
        return cast(BinaryIO, self.fs.open(self.at(rel), "rb", block_size=8 << 20))

    @contextmanager
    def writer(self, rel: str, *, durable: bool = True) -> Iterator[BinaryIO]:
        """Write a file that appears under `rel` only once the block ends without an error.

        Parameters
        ----------
        rel : str
            Path below the root.
        durable : bool
            Wait until the disk has the content. Without it a power failure (not a mere crash of
            the program) may leave the name with less content: fit for files whose size is
            recorded elsewhere and compared by every reader.

        Yields
        ------
        BinaryIO
            A real local file; on a remote root it lies in scratch and is uploaded at the end.
        """
        if self.is_local:
            target = self.local_path(rel)
            # Named by chance: two writers of one name never share a file.
            partial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:16]}.part")
        else:
            target = None
            partial = self.scratch() / f"upload-{uuid.uuid4().hex}"
        with full_disk_explained(partial, rel), held(partial) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            if target is None:
                self.fs.put_file(str(partial), self.at(rel))
            else:
                partial.replace(target)

    def sweep(self, rel: str) -> None:
        """Remove what writers that were killed left of files in the folder `rel`."""
        if self.is_local:
            sweep(self.local_path(rel), ".*.part")
        else:
            sweep(self.scratch(), "upload-*")

    def publish(self, local: Path, rel: str) -> None:
        """Move a finished local file to `rel`, atomically; `local` is gone afterwards.

        Raises
        ------
        ShiftlakeError
            If the disk is full; the local file is then still there.
        """
        if not self.is_local:
            self.fs.put_file(str(local), self.at(rel))
            local.unlink()
            return
        target = self.local_path(rel)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            local.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with local.open("rb") as source, self.writer(rel) as file:
                shutil.copyfileobj(source, file, 8 << 20)
            local.unlink()

    def list(self, rel: str) -> list[str]:
        """All published files below the folder `rel`, as paths below the root, sorted.

        Files still being written are not published and do not appear.
        """
        if self.is_local:
            base = self.local_path(rel)
            found = [
                (Path(folder) / name).relative_to(self.url).as_posix()
                for folder, _, names in os.walk(base)
                for name in names
                if not (name.startswith(".") and name.endswith(".part"))
            ]
            return sorted(found)
        prefix = self.url.split("://", 1)[1].rstrip("/") + "/"
        return sorted(path.removeprefix(prefix) for path in self.fs.find(self.at(rel)))

    def remove(self, rel: str) -> None:
        """Remove a published file; nothing happens where there is none."""
        if self.is_local:
            self.local_path(rel).unlink(missing_ok=True)
        elif self.exists(rel):
            self.fs.rm_file(self.at(rel))

    def remove_folder(self, rel: str) -> None:
        """Remove a folder and all below it; nothing happens where there is none."""
        if self.is_local:
            shutil.rmtree(self.local_path(rel), ignore_errors=True)
        elif names := self.list(rel):
            self.fs.rm([self.at(name) for name in names])

    def local_copy(self, rel: str) -> Path:
        """A path on this machine that holds the content of `rel`.

        On a local root that is the file itself. From a remote root it is downloaded once into
        scratch, under a name made of its address, size and entity tag, so that a changed
        object is never taken for the old one.
        """
        if self.is_local:
            return self.local_path(rel)
        cached = self._cached(rel)
        if not cached.exists():
            sweep(cached.parent, "*.part")
            partial = cached.with_name(f"{cached.name}.{uuid.uuid4().hex[:8]}.part")
            with full_disk_explained(partial, rel), held(partial):
                self.fs.get_file(self.at(rel), str(partial))
                partial.replace(cached)
        return cached

    def drop_copy(self, rel: str) -> None:
        """Remove what :meth:`local_copy` downloaded; the file of a local root stays."""
        if not self.is_local:
            try:
                self._cached(rel).unlink(missing_ok=True)
            except FileNotFoundError:
                return

    def _cached(self, rel: str) -> Path:
        info = self.fs.info(self.at(rel))
        tag = f"{self.at(rel)} {info['size']} {info.get('ETag')} {info.get('LastModified')}"
        return self.scratch() / "cache" / hashlib.sha256(tag.encode()).hexdigest()[:32]

    def scratch(self) -> Path:
        """A local folder for unfinished work of this root; survives a crash, safe to delete.

        ``SHIFTLAKE_SCRATCH`` names it; otherwise a local root keeps it inside itself, on the
        same disk as the result, and a remote root uses the system's temporary folder.
        """
        if named := os.environ.get(SCRATCH_VARIABLE):
            base = Path(named)
        elif self.is_local:
            base = Path(self.url) / ".scratch"
        else:
            # One for each user: nobody may write into a folder that another has made there.
            base = Path(tempfile.gettempdir()) / f"shiftlake-{os.getuid()}"
        tag = hashlib.sha256(self.url.encode()).hexdigest()[:12]
        folder = base if base == Path(self.url) / ".scratch" else base / tag
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def open_root(url: str | Path | Root | None = None) -> Root:
    """Open a storage root.

    Parameters
    ----------
    url : str, Path, Root or None
        A folder, an ``s3://`` URL, or None for ``$SHIFTLAKE_ROOT`` (``./lake`` if unset).

    Returns
    -------
    Root
    """
    if isinstance(url, Root):
        return url
    return Root(str(url or os.environ.get(ROOT_VARIABLE) or "lake"))


@contextmanager
def full_disk_explained(path: Path, what: str) -> Iterator[None]:
    """Turn the system's error about a full disk into one that says what to do.

    Parameters
    ----------
    path : Path
        What is being written.
    what : str
        Its name for the error.

    Raises
    ------
    ShiftlakeError
        If the block runs out of disk space or quota.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ShiftlakeError(
            "The disk is full.",
            expected="enough free space to finish the file",
            found=f"{_free_bytes(path):,} bytes free",
            where=what,
            remedy="free some space and run again: what is finished stays, the rest is redone",
        ) from error


def _free_bytes(path: Path) -> int:
    # The folder itself may be what could not be made.
    there = next(folder for folder in path.parents if folder.exists())
    return shutil.disk_usage(there).free


def _refuse_escape(rel: str) -> None:
    if rel.startswith("/") or ".." in rel.split("/"):
        raise ShiftlakeError(
            "A path leaves the storage root.",
            expected="a path below the root",
            found=rel,
            where="storage",
            remedy="check the name it was made from",
        )
