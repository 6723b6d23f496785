"""The command line ``shiftlake``: one module for each kind of command, no work of its own."""

from pipelines.cli.main import main

__all__ = ["main"]
