"""Reports: what a person reads about datasets and results. Numbers come from sealed files alone."""

from ops.report.parity import PARITY, parity_report, read_parity
from ops.report.sheets import corruption_sheet, sequence_sheet, severity_sheet

__all__ = [
    "PARITY",
    "corruption_sheet",
    "parity_report",
    "read_parity",
    "sequence_sheet",
    "severity_sheet",
]
