"""How many steps may run at once in each pool: what is scarce, and how much of it there is."""

from __future__ import annotations

import os

import dagster as dg

LIMITS = {"download": 2, "render": 1, "gpu": 1, "duckdb": 1}


def set_limits(instance: dg.DagsterInstance) -> dict[str, int]:
    """Write the limits into the instance; ``SHIFTLAKE_POOL_GPU=4`` and the like override them.

    Dagster cannot take the limits of single pools from ``dagster.yaml``.
    """
    limits = {
        pool: int(os.environ.get(f"SHIFTLAKE_POOL_{pool.upper()}", limit))
        for pool, limit in LIMITS.items()
    }
    for pool, limit in limits.items():
        instance.event_log_storage.set_concurrency_slots(pool, limit)
    return limits
