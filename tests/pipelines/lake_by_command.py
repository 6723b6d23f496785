"""A lake made by the command line in processes of its own, as a user makes it."""

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[2]


@dataclass
class Lake:
    """A root, a Dagster state and a catalog overlay, and the command line on them."""

    folder: Path
    upstream_url: str
    miniature: object
    root: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.root = self.root or str(self.folder / "lake")
        overlay = self.miniature.overlay(self.upstream_url)
        (self.folder / "catalog.yaml").write_text(yaml.safe_dump(overlay))

    @property
    def environment(self):
        return {
            **os.environ,
            **self.extra,
            "SHIFTLAKE_ROOT": self.root,
            "SHIFTLAKE_STATE": str(self.folder / "state"),
            "SHIFTLAKE_CATALOG": str(self.folder / "catalog.yaml"),
            "COLUMNS": "200",
        }

    def start(self, *words):
        return subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli", *words],
            cwd=PROJECT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words, ok=True):
        answer = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", *words],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
        )
        if ok:
            assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-4000:]
        return answer

    def files(self, below=""):
        """Relative path -> sha256 of every published file."""
        base = Path(self.root)
        return {
            path.relative_to(base).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((base / below).rglob("*"))
            if path.is_file() and ".scratch" not in path.parts and not path.name.endswith(".part")
        }
