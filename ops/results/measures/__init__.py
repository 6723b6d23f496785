"""From prediction rows to rows of the table of metrics, one file a family of metrics.

What belongs here: which runs a metric needs and the SQL that reads them. What does not: the
formulas, which live in ``ops.metrics``, and what to do with the finished rows.
"""
