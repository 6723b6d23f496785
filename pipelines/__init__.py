"""Dagster wiring: definitions, jobs, schedules, sensors; the command line; the demo.

What does not belong here: anything that could be called without Dagster, which is in ``ops``.
"""

import warnings

# Partitioned checks and single-run backfills are marked so; constraints.txt pins them. Stated here
# because Dagster's own processes import this package first.
warnings.filterwarnings("ignore", message=".*is currently in (beta|preview).*")
