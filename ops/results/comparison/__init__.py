"""Two models on the same images: what is compared, by how much they differ, what was lost.

Nothing here imports the connection at module level: it shows the verdicts of gates, which are made
of comparisons.
"""

from ops.results.comparison.measure import Difference, differences
from ops.results.comparison.quantities import Quantity, by_benchmark, chosen, quantities
from ops.results.comparison.runs import CurrentRuns, Pairing, PairOfRuns
from ops.results.comparison.table import COMPARISON, HEADLINES, clean_of, compare, incomparable

__all__ = [
    "COMPARISON",
    "HEADLINES",
    "CurrentRuns",
    "Difference",
    "PairOfRuns",
    "Pairing",
    "Quantity",
    "by_benchmark",
    "chosen",
    "clean_of",
    "compare",
    "differences",
    "incomparable",
    "quantities",
]
