"""Events that are not recorded, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ops.errors import ShiftlakeError
from ops.shards.manifest import read_manifest
from ops.storage import Root, paths
from ops.video.datasets import mined_dataset
from ops.video.review.events import ANCHOR_VERDICTS, PAIR_VERDICTS, Event

if TYPE_CHECKING:
    from ops.video.review.reviewed import Reviewed


# So far off that no clock is wrong by it, and near enough for there to be times after it, which
# the decisions that are made next need.
_FAR_OFF = "3000"


class OlderMining(ShiftlakeError):
    """A review is of a mining that is not, or is no longer, the sealed one."""

    def __init__(self, root: Root, source: str, mined_version: str) -> None:
        try:
            now = read_manifest(root, mined_dataset(source)).version
        except ShiftlakeError:
            now = "none"
        super().__init__(
            f"The review is of an older mining of {source}: {mined_version}.",
            expected=f"decisions about mining {now}, which is sealed",
            found=f"decisions about mining {mined_version}",
            where=root.at(paths.manifest(mined_dataset(source))),
            remedy="open the review again; take over what was decided about frames that are the "
            f"same with: shiftlake reviews carry {source} {mined_version}",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return ShiftlakeError.__reduce__(self)


def no_such_mining(root: Root, source: str, version: str) -> ShiftlakeError:
    """The error for a mining that left no tables."""
    return ShiftlakeError(
        f"There is no mining {version} of {source}.",
        expected="a version whose tables are there",
        found=version,
        where=root.at(paths.mined(source, version)),
        remedy=f"see the folders in {root.at(paths.minings(source))}",
    )


def check_event(review: Reviewed, event: Event, known: Mapping[str, Event]) -> None:
    """Refuse an event that does not belong to a review; `known` are those before it, by id.

    Raises
    ------
    OlderMining
        If it is about another mining.
    ShiftlakeError
        As told in :meth:`Review.record`.
    """
    if event.mined_version != review.mined_version:
        raise OlderMining(review.root, review.source, event.mined_version)
    same = known.get(event.id)
    if same is not None:
        if _what(same) != _what(event):
            raise _refused(
                review,
                event,
                "One id stands for two decisions.",
                " ".join(map(str, _what(same))),
                " ".join(map(str, _what(event))),
            )
        return
    if event.at >= _FAR_OFF:
        raise _refused(
            review, event, "A decision is of the far future.", f"before {_FAR_OFF}", event.at
        )
    if event.kind == "undo":
        _check_undo(review, event, known)
        return
    is_anchor, is_pair = review.has_anchor(event.subject), review.has_pair(event.subject)
    fits = {"anchor": is_anchor, "joint": is_anchor or is_pair}.get(event.kind, is_pair)
    if not fits:
        expected = {"anchor": "an anchor", "joint": "an anchor or a pair"}.get(event.kind, "a pair")
        raise _refused(
            review, event, "A decision is about nothing that was mined.", expected, event.subject
        )
    verdicts = ANCHOR_VERDICTS if is_anchor else PAIR_VERDICTS
    if event.verdict not in verdicts:
        raise _refused(
            review,
            event,
            "A verdict does not fit what it is about.",
            f"one of {', '.join(verdicts)}",
            event.verdict,
        )
    wrong = [label for label in event.labels if label >= len(review.class_names)]
    if wrong:
        raise _refused(
            review,
            event,
            "An added label is no class.",
            f"0 to {len(review.class_names) - 1} of {review.label_space}",
            wrong,
        )


def _check_undo(review: Reviewed, event: Event, known: Mapping[str, Event]) -> None:
    target = known.get(event.subject)
    if target is None or target.kind == "undo":
        raise _refused(
            review, event, "There is no such decision to withdraw.", "its id", event.subject
        )
    if event.reviewer not in (target.reviewer, target.entered_by):
        raise _refused(
            review,
            event,
            "A decision is withdrawn by somebody else.",
            " or ".join(sorted({target.reviewer, target.entered_by})),
            event.reviewer,
        )


def _what(event: Event) -> tuple[object, ...]:
    return (event.kind, event.reviewer, event.subject, event.verdict)


def _refused(
    review: Reviewed, event: Event, what: str, expected: object, found: object
) -> ShiftlakeError:
    return ShiftlakeError(
        what,
        expected=expected,
        found=found,
        where=f"review of {review.source}, mining {review.mined_version}: event {event.id} "
        f"of {event.reviewer}",
        remedy="correct it; nothing was recorded",
    )
