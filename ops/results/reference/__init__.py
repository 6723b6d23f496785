"""Results published elsewhere: their files, the table of them, and the golden numbers."""

from ops.results.reference.file import REFERENCE, read_reference, write_reference
from ops.results.reference.golden import GoldenCheck, golden_checks
from ops.results.reference.importing import import_references, reference_files
from ops.results.reference.layouts import Published, model_kind, rows_of

__all__ = [
    "REFERENCE",
    "GoldenCheck",
    "Published",
    "golden_checks",
    "import_references",
    "model_kind",
    "read_reference",
    "reference_files",
    "rows_of",
    "write_reference",
]
