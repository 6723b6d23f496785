"""The work itself: plain Python, with no Dagster anywhere below this folder.

What belongs here: everything that could be called from a notebook. What does not: asset
names, partitions, schedules and the command line, which live in ``assets`` and ``pipelines``.
"""
