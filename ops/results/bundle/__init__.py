"""A portable folder of results: writing it, and taking its runs into another root."""

from ops.results.bundle.export import Bundle, export_results
from ops.results.bundle.importing import Imported, import_results

__all__ = ["Bundle", "Imported", "export_results", "import_results"]
