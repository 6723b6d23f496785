"""Which project, lake and Dagster state a command works on; the environment is read here.

Without ``SHIFTLAKE_ROOT`` data lies in ``.shiftlake/lake`` below the project, and Dagster's own
state beside it. The demo has a lake and a state of its own, so that drawn images and real ones
never meet.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ops.errors import ShiftlakeError
from ops.storage.root import ROOT_VARIABLE
from ops.video.sources import VIDEOS_VARIABLE

STATE_VARIABLE = "SHIFTLAKE_STATE"
DEMO_VARIABLE = "SHIFTLAKE_DEMO"


@dataclass(frozen=True)
class Workplace:
    """Folders a command works on.

    Parameters
    ----------
    project : Path
        Holds ``dagster.yaml`` and ``workspace.yaml``; for commands that need neither, where there
        is no such folder, the current one.
    root : str
        The storage root, a folder or a URL.
    state : Path
        Dagster's databases and logs.
    demo : bool
        Whether this is the demo's own lake.
    """

    project: Path
    root: str
    state: Path
    demo: bool

    @property
    def miniature(self) -> Path:
        """Folder of the demo's upstream archives."""
        return self.project / ".shiftlake" / "demo" / "upstream"

    @property
    def overlay(self) -> Path:
        """The catalog overlay that points at the demo's upstream."""
        return self.project / ".shiftlake" / "demo" / "catalog.yaml"

    def enter(self) -> None:
        """Set the environment for this process and those it starts."""
        if (self.project / "dagster.yaml").is_file():
            self.state.mkdir(parents=True, exist_ok=True)
            os.environ["DAGSTER_HOME"] = str(self.project)
        os.environ[STATE_VARIABLE] = str(self.state)
        os.environ[ROOT_VARIABLE] = self.root
        own = self.project / ".shiftlake" / ("demo/videos" if self.demo else "videos")
        os.environ.setdefault(VIDEOS_VARIABLE, str(own))
        if self.demo:
            os.environ[DEMO_VARIABLE] = "1"
            os.environ["SHIFTLAKE_CATALOG"] = str(self.overlay)


def project_folder() -> Path | None:
    """The folder with ``dagster.yaml``: this one, one above it, or the checkout of the code."""
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / "dagster.yaml").is_file() and (folder / "workspace.yaml").is_file():
            return folder
    return None


def workplace(*, demo: bool | None = None, dagster: bool = False) -> Workplace:
    """The workplace of a command.

    Parameters
    ----------
    demo : bool, optional
        Whether to work on the demo's lake. None chooses it if ``SHIFTLAKE_ROOT`` is unset and the
        demo's lake is the only one there is.
    dagster : bool
        Whether the command needs the Dagster project, and not only the lake.

    Raises
    ------
    ShiftlakeError
        If it does, and there is none.
    """
    found = project_folder()
    if found is None and dagster:
        raise ShiftlakeError(
            "This is no Shiftlake project.",
            expected="dagster.yaml and workspace.yaml in this folder or one above",
            found="neither",
            where=Path.cwd(),
            remedy="change into a checkout of Shiftlake",
        )
    project = found or Path.cwd()
    own = project / ".shiftlake"
    named = os.environ.get(ROOT_VARIABLE)
    if demo is None:
        demo = bool(os.environ.get(DEMO_VARIABLE)) or (
            not named and not (own / "lake").exists() and (own / "demo" / "lake").exists()
        )
    if demo:
        return Workplace(project, str(own / "demo" / "lake"), own / "demo" / "state", True)
    state = os.environ.get(STATE_VARIABLE)
    folder = Path(state).absolute() if state else own / "state"
    root = named or str(own / "lake")
    return Workplace(project, root if "://" in root else str(Path(root).absolute()), folder, False)
