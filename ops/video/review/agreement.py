"""How far reviewers agree, before they talk: the first two passes, on what several judged."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from ops.metrics.fleiss_kappa import fleiss_kappa
from ops.video.review.events import ANCHOR_VERDICTS, PAIR_VERDICTS, REASONS, Event
from ops.video.review.repeats import first_and_again

if TYPE_CHECKING:
    from ops.video.review.decisions import Decisions
    from ops.video.review.reviewed import Reviewed

Ratings = Sequence[Mapping[str, Event]]


class Kappa(BaseModel):
    """Fleiss' kappa of one question over the items that equally many reviewers judged.

    Attributes
    ----------
    stage : {"anchors", "pairs"}
    question : str
        ``verdict``; ``verdict: <verdict>`` for it against all others; ``reason: <reason>`` for
        whether it was given.
    raters, items : int
        Reviewers of each item, and number of such items.
    observed, expected : float
        Share of pairs of ratings that agree, and the share expected by chance; in [0, 1].
    kappa : float or None
        At most 1; None where all said the same everywhere.
    """

    model_config = ConfigDict(frozen=True)

    stage: Literal["anchors", "pairs"]
    question: str
    raters: int
    items: int
    observed: float
    expected: float
    kappa: float | None


class ReviewerAgreement(BaseModel):
    """One reviewer in one pass.

    Attributes
    ----------
    judged : int
    accepted : float
        Share of these called usable or similar, in [0, 1].
    compared : int
        Items on which more than half of the other reviewers said one thing.
    agrees : float or None
        Share of those on which this reviewer said the same; None where there are none.
    seconds : float or None
        Median time from seeing to deciding.
    """

    model_config = ConfigDict(frozen=True)

    stage: Literal["anchors", "pairs"]
    reviewer: str
    judged: int
    accepted: float
    compared: int
    agrees: float | None
    seconds: float | None


class RepeatAgreement(BaseModel):
    """How steady one reviewer is, over the pairs that were shown twice.

    Attributes
    ----------
    reviewer : str
    pairs : int
        Judged, and judged again as a hidden repeat.
    agrees : float
        Share of these with the same verdict both times, in [0, 1].
    kappa : float or None
        Fleiss' kappa of the two verdicts; None where all were the same.
    """

    model_config = ConfigDict(frozen=True)

    reviewer: str
    pairs: int
    agrees: float
    kappa: float | None


class Agreement(BaseModel):
    """Agreement of the reviewers of one review, and of each with himself or herself."""

    model_config = ConfigDict(frozen=True)

    kappas: tuple[Kappa, ...]
    reviewers: tuple[ReviewerAgreement, ...]
    repeats: tuple[RepeatAgreement, ...] = ()


def agreement(review: Reviewed) -> Agreement:
    """Fleiss' kappa per verdict and per reason, and how each reviewer stands to the others.

    Of each reviewer the verdict that counts, that is the newest one not withdrawn; joint votes,
    cast after talking, are left out.
    """
    votes = review.decisions().votes
    anchors = [votes.counting("anchor", item.frame_set) for item in review.anchors]
    pairs = [votes.counting("pair", item.sample_key) for item in review.pairs]
    return Agreement(
        kappas=(*_kappas("anchors", anchors, ANCHOR_VERDICTS), *_kappas_of_pairs(pairs)),
        reviewers=(
            *_reviewers("anchors", anchors, "usable"),
            *_reviewers("pairs", pairs, "similar"),
        ),
        repeats=tuple(_repeats(review.decisions())),
    )


def _repeats(decisions: Decisions) -> Iterator[RepeatAgreement]:
    for name in decisions.votes.done("repeat"):
        twice = first_and_again(name, decisions)
        if not twice:
            continue
        counts = [Counter(str(vote.verdict) for vote in votes) for votes in twice]
        table = [[count[verdict] for verdict in PAIR_VERDICTS] for count in counts]
        found = _kappa("pairs", "repeat", 2, table)
        yield RepeatAgreement(
            reviewer=name, pairs=len(twice), agrees=found.observed, kappa=found.kappa
        )


def _kappas_of_pairs(ratings: Ratings) -> list[Kappa]:
    found = _kappas("pairs", ratings, PAIR_VERDICTS)
    for raters, items in _by_raters(ratings).items():
        for reason in REASONS:
            given = [sum(reason in vote.reasons for vote in item.values()) for item in items]
            if any(given):
                table = [[n, raters - n] for n in given]
                found.append(_kappa("pairs", f"reason: {reason}", raters, table))
    return found


def _kappas(
    stage: Literal["anchors", "pairs"], ratings: Ratings, verdicts: Sequence[str]
) -> list[Kappa]:
    found = []
    for raters, items in _by_raters(ratings).items():
        counts = [Counter(str(vote.verdict) for vote in item.values()) for item in items]
        table = [[count[verdict] for verdict in verdicts] for count in counts]
        found.append(_kappa(stage, "verdict", raters, table))
        for at, verdict in enumerate(verdicts):
            if any(row[at] for row in table):
                against = [[row[at], raters - row[at]] for row in table]
                found.append(_kappa(stage, f"verdict: {verdict}", raters, against))
    return found


def _kappa(
    stage: Literal["anchors", "pairs"], question: str, raters: int, table: list[list[int]]
) -> Kappa:
    result = fleiss_kappa(table)
    return Kappa(
        stage=stage,
        question=question,
        raters=raters,
        items=len(table),
        observed=result.observed,
        expected=result.expected,
        kappa=None if math.isnan(result.kappa) else result.kappa,
    )


def _by_raters(ratings: Ratings) -> dict[int, list[Mapping[str, Event]]]:
    groups: defaultdict[int, list[Mapping[str, Event]]] = defaultdict(list)
    for item in ratings:
        if len(item) > 1:
            groups[len(item)].append(item)
    return dict(sorted(groups.items()))


def _reviewers(
    stage: Literal["anchors", "pairs"], ratings: Ratings, accepting: str
) -> list[ReviewerAgreement]:
    given: defaultdict[str, list[Event]] = defaultdict(list)
    compared: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for item in ratings:
        counts = Counter(vote.verdict for vote in item.values())
        for name, vote in item.items():
            given[name].append(vote)
            # What the others say, without this one.
            for verdict, n in counts.items():
                if 2 * (n - (verdict == vote.verdict)) > len(item) - 1:
                    compared[name] += 1
                    same[name] += verdict == vote.verdict
    return [
        ReviewerAgreement(
            stage=stage,
            reviewer=name,
            judged=len(events),
            accepted=sum(event.verdict == accepting for event in events) / len(events),
            compared=compared[name],
            agrees=same[name] / compared[name] if compared[name] else None,
            seconds=_median_seconds(events),
        )
        for name, events in sorted(given.items())
    ]


def _median_seconds(events: Sequence[Event]) -> float | None:
    spent = [event.ms_spent for event in events if event.ms_spent is not None]
    return median(spent) / 1000 if spent else None
