"""Tags of the runs that are made in a process of our own, and not launched by Dagster's page."""

from __future__ import annotations

from pipelines.dead_runs import process_tag

# The page shows a run below its job only if it is told whose job that is:
# the repository that Dagster makes of loose definitions, at the location of workspace.yaml.
_REPOSITORY = {".dagster/repository": "__repository__@shiftlake"}


def run_tags() -> dict[str, str]:
    """Which process a run lives in, and which code location its job is of."""
    return {**process_tag(), **_REPOSITORY}
