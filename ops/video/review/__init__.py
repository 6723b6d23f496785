"""Reviewing mined frame sets: who decided what, what follows from it, and freezing it."""

from ops.video.review.agreement import Agreement, agreement
from ops.video.review.carry import Carried, carry, older_minings
from ops.video.review.csv_files import export_csv, import_csv
from ops.video.review.decisions import Decisions, decide
from ops.video.review.events import Event, read_event
from ops.video.review.freeze import Frozen, freeze, frozen_versions, read_frozen
from ops.video.review.funnel import Funnel, funnel
from ops.video.review.items import AnchorItem, PairItem
from ops.video.review.official_vid import export_pmsets, import_pmsets
from ops.video.review.official_ytbb import export_ytbb, import_ytbb
from ops.video.review.review import Review
from ops.video.review.seal import seal_reviewed
from ops.video.review.states import AnchorDecision, PairDecision
from ops.video.review.suspicion import SuspicionBand, by_suspicion

__all__ = [
    "Agreement",
    "AnchorDecision",
    "AnchorItem",
    "Carried",
    "Decisions",
    "Event",
    "Frozen",
    "Funnel",
    "PairDecision",
    "PairItem",
    "Review",
    "SuspicionBand",
    "agreement",
    "by_suspicion",
    "carry",
    "decide",
    "export_csv",
    "export_pmsets",
    "export_ytbb",
    "freeze",
    "frozen_versions",
    "funnel",
    "import_csv",
    "import_pmsets",
    "import_ytbb",
    "older_minings",
    "read_event",
    "read_frozen",
    "seal_reviewed",
]
