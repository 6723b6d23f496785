"""Where the published corruption packages run: a scratch folder that holds them patched.

``venv`` is what ``tests/parity/make_fixtures.py`` builds, with imagenet-c patched and numba beside
it; ``imagecorruptions_pypi`` and ``imagecorruptions_head`` hold the two versions of the other
package, patched by the same list as far as its lines occur. What is there is used as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.parity.make_fixtures import PATCHES, build

SCRIPT = Path(__file__).with_name("render_peer.py")
HEAD = "https://github.com/bethgelab/imagecorruptions"
# Folder that comes first on the path, and module, of each package.
PACKAGES = {
    "imagenet-c": (None, "imagenet_c"),
    "imagecorr. head": ("imagecorruptions_head", "imagecorruptions"),
    "imagecorr. PyPI": ("imagecorruptions_pypi", "imagecorruptions"),
}
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Peer:
    """A package in a process of its own that does what it is told."""

    def __init__(self, scratch: Path, package: str, inputs: Path) -> None:
        folder, module = PACKAGES[package]
        path = str(scratch / folder) if folder else ""
        self.process = subprocess.Popen(
            [scratch / "venv" / "bin" / "python", SCRIPT, module, inputs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()

    def condition(self, corruption: str, severity: int, warm: bool) -> list[list[float]]:
        """CPU milliseconds of one condition, by image and pass."""
        order = {"corruption": corruption, "severity": severity, "warm": warm}
        return self._ask({"what": "condition", **order})

    def pipeline(self, conditions: Sequence[tuple[str, int]]) -> list[list[float]]:
        """CPU milliseconds from a JPEG file to one JPEG file for each condition."""
        return self._ask({"what": "pipeline", "conditions": list(conditions)})

    def _ask(self, order: dict[str, Any]) -> list[list[float]]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the peer stopped at {order}; its error stands above")
        found: list[list[float]] = json.loads(answer)
        return found


def prepare(scratch: Path) -> list[str]:
    """Make what the scratch folder lacks; return the packages that run there.

    The git head of imagecorruptions needs GitHub; without it, it is left out and that is said.
    """
    if not (scratch / "venv" / "bin" / "python").exists():
        build(scratch)
    python = scratch / "venv" / "bin" / "python"
    if subprocess.run([python, "-c", "import numba"], stderr=subprocess.DEVNULL).returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numba"], check=True)
    released = scratch / "imagecorruptions_pypi" / "imagecorruptions"
    if not released.exists():
        found = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = subprocess.run([python, "-c", found], check=True, stdout=subprocess.PIPE)
        shutil.copytree(Path(packages.stdout.decode().strip()) / "imagecorruptions", released)
        patch(released / "corruptions.py")
    head = scratch / "imagecorruptions_head"
    if not head.exists() and not subprocess.run(["git", "clone", "--quiet", HEAD, head]).returncode:
        patch(head / "imagecorruptions" / "corruptions.py")
    if not head.exists():
        print(f"left out: {HEAD} could not be cloned; a clone may be put at {head}")
    return [
        name for name, (folder, _) in PACKAGES.items() if not folder or (scratch / folder).exists()
    ]


def patch(code: Path) -> None:
    """Replace what no longer runs, where it occurs."""
    text = code.read_text()
    for change in PATCHES:
        text = text.replace(change.old, change.new)
    code.write_text(text)


def write_photographs(scratch: Path, folder: Path) -> None:
    """Write the JPEG files of scikit-image's photographs."""
    python = scratch / "venv" / "bin" / "python"
    subprocess.run([python, SCRIPT, "inputs", folder], check=True)
