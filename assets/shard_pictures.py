"""The picture on a dataset's page: its samples, or its severities or frames side by side."""

from __future__ import annotations

from collections.abc import Sequence

from assets.suites import Suite
from ops.shards import Manifest
from ops.shards.contact_sheet import contact_sheet
from ops.storage import Root


def pictures(root: Root, suite: Suite, manifests: Sequence[Manifest]) -> str | None:
    """A contact sheet that suits the datasets of one partition, as a data URI."""
    if suite.on_the_fly:
        return None
    if suite.sequences:
        from ops.perturbations.video import decode
        from ops.report import sequence_sheet

        return sequence_sheet(root, manifests[0], decode)
    if suite.frame_sets:
        from ops.video.contact_strip import contact_strip_of

        return contact_strip_of(root, manifests[0].name)
    if len(manifests) > 1 and any(spec.severity for spec in suite.specs):
        from ops.report import severity_sheet

        return severity_sheet(root, manifests)
    return contact_sheet(root, manifests)
