"""What building and evaluating would take, told before it is begun.

Everything is read from the catalog, the receipts, the manifests and the records of evaluations:
nothing is downloaded, and no image is opened. What nobody has stated or recorded is unknown, and
stays None.
"""

from ops.planning.plan import Plan, PlanRow, plan
from ops.planning.table import plan_remarks, plan_table

__all__ = ["Plan", "PlanRow", "plan", "plan_remarks", "plan_table"]
