"""Non-inferiority gates: what ``gates.yaml`` demands, the verdicts, and their file.

Nothing here imports the connection at module level: it shows the table of verdicts.
"""

from ops.results.gates.file import GATE, read_gate, write_gate
from ops.results.gates.junit import junit
from ops.results.gates.stated import example, parse_gates, read_gates
from ops.results.gates.verdicts import closes, run_gates
from ops.results.gates.waivers import Waiver, waiver_for

__all__ = [
    "GATE",
    "Waiver",
    "closes",
    "example",
    "junit",
    "parse_gates",
    "read_gate",
    "read_gates",
    "run_gates",
    "waiver_for",
    "write_gate",
]
