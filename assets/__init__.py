"""Dagster assets, one module per stage: names, partitions, metadata, checks, one call into ops.

What does not belong here: formulas, paths, bytes. Nothing in this folder imports torch.
"""
