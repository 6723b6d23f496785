"""What people decided about mined frame sets, and the sets that stand after it."""

import json
from typing import Any

import dagster as dg

from assets.frame_sets import FRAME_SETS_KEY
from assets.lake import Lake
from assets.partitions import VIDEO_SOURCES
from assets.sources import OWNERS

REVIEWS_KEY = ["video", "frame_reviews"]
REVIEWED_KEY = ["video", "reviewed_frame_sets"]


@dg.asset(
    key=REVIEWS_KEY,
    group_name="video",
    deps=[FRAME_SETS_KEY],
    partitions_def=VIDEO_SOURCES,
    owners=OWNERS,
    kinds={"json"},
)
def frame_reviews(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult:
    """Decisions made with `shiftlake review` so far: progress, agreement and the funnel.

    The decisions themselves are only ever added to; this asset looks at them.
    """
    from ops.video.review import Review, agreement, funnel

    root, catalog = lake.open(), lake.load()
    review = Review.open(root, context.partition_key, catalog)
    return dg.MaterializeResult(
        metadata={
            "mined_version": review.mined_version,
            "events": review.n_events,
            "funnel": _json(funnel(review)),
            "agreement": _json(agreement(review)),
            "progress": _json(review.progress()),
            "review": dg.MetadataValue.md(f"```\nshiftlake review {context.partition_key}\n```"),
        },
        data_version=dg.DataVersion(review.events_sha256[:16]),
    )


@dg.asset(
    key=REVIEWED_KEY,
    group_name="video",
    deps=[REVIEWS_KEY, FRAME_SETS_KEY],
    partitions_def=VIDEO_SOURCES,
    owners=OWNERS,
    kinds={"webdataset"},
    check_specs=[
        dg.AssetCheckSpec(
            "stands",
            asset=REVIEWED_KEY,
            blocking=True,
            partitions_def=VIDEO_SOURCES,
            description="Decisions worked out again from the events are those that were frozen, "
            "and every accepted frame is one of the mined.",
        )
    ],
)
def reviewed_frame_sets(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult:
    """Frame sets that people agreed on, of the newest frozen review: labels over the mined frames.

    Freeze a review on its page, or with `shiftlake reviews freeze`.
    """
    from ops.video.contact_strip import contact_strip
    from ops.video.review import read_frozen, seal_reviewed
    from ops.video.review.checks import check_reviewed

    root, catalog = lake.open(), lake.load()
    source = context.partition_key
    manifest = seal_reviewed(root, catalog, source)
    frozen = read_frozen(root, source, str(manifest.parameters["frozen_version"]))
    problems = check_reviewed(root, catalog, source)
    strip = contact_strip(root, source, reviewed=True)
    metadata: dict[str, Any] = {}
    if manifest.synthetic:
        metadata["warning"] = dg.MetadataValue.md("**Synthetic images, drawn by a program.**")
    if strip is not None:
        metadata["contact_strip"] = dg.MetadataValue.md(f"![decisions]({strip})")
    return dg.MaterializeResult(
        metadata={
            **metadata,
            "dagster/row_count": manifest.n_samples,
            "frozen_version": frozen.version,
            "mined_version": frozen.mined_version,
            "reviewers": ", ".join(frozen.reviewers),
            "funnel": _json(frozen.funnel),
            "agreement": _json(frozen.agreement),
            "version": manifest.version,
            "synthetic": manifest.synthetic,
            "sql": dg.MetadataValue.md(
                "```sql\nSELECT * FROM pmk WHERE benchmark = 'reviewed_frame_sets' "
                f"AND condition = '{source}';\n```"
            ),
        },
        data_version=dg.DataVersion(manifest.version),
        check_results=[
            dg.AssetCheckResult(
                check_name="stands",
                passed=not problems,
                description=problems[0] if problems else None,
                metadata={"problems": "\n".join(problems[:50]) or "none"},
            )
        ],
    )


def _json(value: Any) -> dg.JsonMetadataValue:
    dumped = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    return dg.MetadataValue.json(json.loads(json.dumps(dumped, default=str)))
