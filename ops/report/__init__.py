"""Reports: what a person reads about datasets and results. Numbers come from sealed files alone."""

from ops.report.parity import parity_report
from ops.report.sheets import corruption_sheet, sequence_sheet, severity_sheet

__all__ = [
    "corruption_sheet",
    "parity_report",
    "sequence_sheet",
    "severity_sheet",
]
