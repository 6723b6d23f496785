"""A lake made by the command line in processes of its own, as a user makes it."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[2]
FORKS = Path(__file__).with_name("command_forks.py")


@cache
def forks():
    """The process that forks commands; it ends when this one closes its standard input."""
    return subprocess.Popen(
        [sys.executable, str(FORKS)],
        cwd=PROJECT,
        # What the command line reads of its terminal when it is imported.
        env={**os.environ, "COLUMNS": "200"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


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
        """Run a command to its end, as `start` does but without importing everything again."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            order = {"words": words, "environment": self.environment}
            order |= {"out": str(out), "err": str(err)}
            try:
                forks().stdin.write(json.dumps(order) + "\n")
                forks().stdin.flush()
                code = int(forks().stdout.readline())
            except BaseException:
                # Out of time: the answer that is still to come is not that to the next command.
                os.killpg(forks().pid, signal.SIGKILL)
                forks.cache_clear()
                raise
            answer = subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())
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
