"""Dagster wiring: definitions, jobs, schedules, sensors; the command line; the demo.

What does not belong here: anything that could be called without Dagster, which is in ``ops``.
"""
