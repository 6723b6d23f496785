"""Prediction Parquet to SQL views, the table of metrics, status and leaderboard.

What belongs here: which runs count, the views over their rows, and everything derived from rows
by SQL. What does not: formulas, which live in ``ops.metrics``; running a model; drawing.
"""

from ops.results.bundle import export_results, import_results
from ops.results.comparison import compare
from ops.results.connection import connect
from ops.results.gates import run_gates
from ops.results.leaderboard import leaderboard
from ops.results.metrics_table import compute_metrics
from ops.results.query import query
from ops.results.reference import golden_checks, import_references
from ops.results.status import StatusRow, status, status_table

__all__ = [
    "StatusRow",
    "compare",
    "compute_metrics",
    "connect",
    "export_results",
    "golden_checks",
    "import_references",
    "import_results",
    "leaderboard",
    "query",
    "run_gates",
    "status",
    "status_table",
]
