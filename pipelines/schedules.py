"""Schedules: when datasets are rebuilt."""

from __future__ import annotations

import dagster as dg

from pipelines.stages import everything

rebuild = dg.ScheduleDefinition(
    name="rebuild",
    job=everything,
    cron_schedule="0 3 * * 0",
    description="Every Sunday at three: fetch what changed, seal what is stale, evaluate the rest. "
    "A dataset whose sources are the same keeps its version, and nothing below it is redone.",
)
