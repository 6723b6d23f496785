"""What two models are compared in: every metric that pairs image by image, by benchmark.

All but those of ImageNet-O are sums over datasets of a weight times the share of wrong answers
(or of frames that flip), so that one way to compare serves them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.metrics.corruption import SEVERITIES, alexnet_errors, corruptions_15, corruptions_19
from ops.metrics.distortion import LEVELS
from ops.metrics.flips import PERTURBATIONS_10
from ops.metrics.outlier_scores import OUTLIER_SCORES
from ops.perturbations.facts import perturbations
from ops.results.families import CORRUPTED, MINI_CORRUPTED, PERTURBED, VIDEO, distorted
from ops.video.datasets import MINED, REVIEWED

VAL = "imagenet_1k/val"
OUTSIDE = "imagenet_o/clean"
REAL = "imagenet_real"

# The benchmarks whose papers score the argmax over their own classes.
MASKED = ("imagenet_a", "imagenet_r")

# The largest k of pm-k.
FURTHEST = 10


@dataclass(frozen=True)
class Quantity:
    """One metric of one benchmark, and how it comes out of answers to single images.

    Parameters
    ----------
    benchmark, condition, metric, variant : str
        As in the table of metrics.
    answer : str
        What is asked of an image: ``top1``, ``top5``, ``masked``, ``real``, ``pm0`` to ``pm10``,
        the same of a review as ``reviewed_pm0``, ``flips``, or ``outlier`` for ImageNet-O.
    weights : tuple of (str, float)
        Datasets, and what a share of wrong answers of 1 in each adds to the metric.
    base : float
        The metric of a model that is never wrong.
    better : {"higher", "lower"}
    headline : bool
        Whether it is the one number of its benchmark (of each condition, where these are
        different images).
    """

    benchmark: str
    condition: str
    metric: str
    variant: str
    answer: str
    weights: tuple[tuple[str, float], ...]
    base: float = 0.0
    better: Literal["higher", "lower"] = "lower"
    headline: bool = False

    @property
    def datasets(self) -> tuple[str, ...]:
        """All that both models must have been run on."""
        return tuple(name for name, _ in self.weights)

    @property
    def unit(self) -> float:
        """What a percentage point is in the unit of the metric."""
        return 1.0 if self.metric.endswith("_pct") else 0.01

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.benchmark}/{self.condition} {self.metric} ({self.variant})"


def quantities(benchmark: str, conditions: Iterable[str], clean: str | None) -> list[Quantity]:
    """Everything two models can be compared in on one benchmark.

    Parameters
    ----------
    benchmark : str
    conditions : iterable of str
        Conditions that a model is run on.
    clean : str or None
        The dataset with the clean images of a distorted set.

    Returns
    -------
    list of Quantity
        The first of each condition is what is meant where none is named.
    """
    conditions = list(conditions)
    if benchmark == REAL:
        return [
            _accuracy(benchmark, "clean", metric, "real", f"real_{metric}", VAL, metric == "top1")
            for metric in ("top1", "top5")
        ]
    if f"{benchmark}/clean" == OUTSIDE:
        return _detection()
    if benchmark in VIDEO or benchmark == REVIEWED:
        return _video(benchmark, conditions)
    if benchmark in PERTURBED:
        return _perturbed(benchmark, conditions)
    if benchmark in CORRUPTED:
        return _corrupted(benchmark) + _plain(benchmark, conditions, headline=False)
    if benchmark in MINI_CORRUPTED:
        return _mini_corrupted(benchmark) + _plain(benchmark, conditions, headline=False)
    if distorted(benchmark):
        averages = [] if clean is None else _distorted(benchmark, conditions, clean)
        return averages + _plain(benchmark, conditions, headline=False)
    return _plain(benchmark, conditions, headline=True)


def by_benchmark(catalog: Catalog, clean_of: Mapping[str, str]) -> dict[str, list[Quantity]]:
    """All quantities of all benchmarks of a catalog.

    Parameters
    ----------
    catalog : Catalog
    clean_of : mapping of str to str
        The dataset with the clean images of each distorted benchmark, where it is known.
    """
    conditions: dict[str, list[str]] = {}
    for spec in catalog.datasets.values():
        if spec.evaluate or spec.family in (REAL, REVIEWED):
            conditions.setdefault(spec.family, []).append(spec.condition)
    return {name: quantities(name, own, clean_of.get(name)) for name, own in conditions.items()}


def chosen(
    known: Mapping[str, list[Quantity]],
    benchmark: str,
    condition: str | None = None,
    metric: str | None = None,
    variant: str | None = None,
    *,
    where: str,
) -> list[Quantity]:
    """What is meant by a benchmark, and perhaps a condition, a metric and a variant of it.

    Returns
    -------
    list of Quantity
        The headline metric where none is named; several only where its conditions are different
        images and none is named (the three ImageNetV2).

    Raises
    ------
    ShiftlakeError
        If there is nothing of these names, or several variants and none is named.
    """
    if benchmark not in known:
        raise _unknown("benchmark", benchmark, known, where)
    own = known[benchmark]
    if condition is not None:
        at = [each for each in own if each.condition == condition]
        if not at:
            raise _unknown("condition", condition, dict.fromkeys(q.condition for q in own), where)
        own = at if metric is not None else at[:1]
    if metric is None:
        return own if condition is not None else [each for each in own if each.headline]
    named = [each for each in own if each.metric == metric]
    if not named:
        raise _unknown("metric", metric, dict.fromkeys(q.metric for q in own), where)
    if variant is not None:
        found = [each for each in named if each.variant == variant]
        if not found:
            variants = dict.fromkeys(each.variant for each in named)
            raise _unknown("variant", variant, variants, where)
        named = found
    preferred = [each for each in named if each.headline] or named
    if len({each.condition for each in preferred}) > 1 and condition is None:
        some = ", ".join(list(dict.fromkeys(each.condition for each in preferred))[:4])
        if not preferred[0].headline and preferred[0].answer in ("top1", "flips"):
            raise ShiftlakeError(
                "Several conditions have this metric.",
                expected=f"a condition, such as {some}",
                found=f"{benchmark} with metric {metric} and no condition",
                where=where,
                remedy="name the condition",
            )
    one = {each.condition: each for each in reversed(preferred)}
    return list(reversed(one.values()))


def _accuracy(
    benchmark: str,
    condition: str,
    metric: str,
    variant: str,
    answer: str,
    dataset: str,
    headline: bool,
) -> Quantity:
    return Quantity(
        benchmark,
        condition,
        metric,
        variant,
        answer,
        ((dataset, -1.0),),
        base=1.0,
        better="higher",
        headline=headline,
    )


def _plain(benchmark: str, conditions: list[str], *, headline: bool) -> list[Quantity]:
    found = []
    kinds = [("top1", "unmasked", "top1"), ("top5", "unmasked", "top5")]
    if benchmark in MASKED:
        kinds.insert(0, ("top1", "masked", "masked"))
    if not headline:
        kinds = kinds[:1]
    for condition in conditions:
        for i, (metric, variant, answer) in enumerate(kinds):
            dataset = f"{benchmark}/{condition}"
            main = headline and i == 0
            found.append(_accuracy(benchmark, condition, metric, variant, answer, dataset, main))
    return found


def _video(benchmark: str, conditions: list[str]) -> list[Quantity]:
    # No model is run on a reviewed set: it is scored from the frames that were mined.
    run_on, kind = (MINED, "reviewed_pm") if benchmark == REVIEWED else (benchmark, "pm")
    return [
        _accuracy(
            benchmark,
            condition,
            f"pm{k}",
            "with anchor",
            f"{kind}{k}",
            f"{run_on}/{condition}",
            k == FURTHEST,
        )
        for condition in conditions
        for k in reversed(range(FURTHEST + 1))
    ]


def _detection() -> list[Quantity]:
    return [
        Quantity(
            "imagenet_o",
            "clean",
            metric,
            variant,
            "outlier",
            ((OUTSIDE, 0.0), (VAL, 0.0)),
            better="lower" if metric == "fpr95" else "higher",
            headline=metric == "aupr" and variant == "max softmax",
        )
        for metric in ("aupr", "auroc", "fpr95")
        for variant in OUTLIER_SCORES
    ]


def _corrupted(benchmark: str) -> list[Quantity]:
    alexnet = alexnet_errors().mean

    def over(names: Iterable[str], weight: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        return tuple((f"{benchmark}/{n}/{s}", weight[n] / 5) for n in names for s in SEVERITIES)

    def of(
        condition: str, metric: str, variant: str, weights: tuple[tuple[str, float], ...]
    ) -> Quantity:
        main = metric == "mce_alexnet_pct"
        return Quantity(benchmark, condition, metric, variant, "top1", weights, headline=main)

    names, all_names = corruptions_15(), corruptions_19()
    ce = {name: 100 / alexnet[name] for name in all_names}
    mean = over(names, {name: ce[name] / 15 for name in names})
    found = [of("all", "mce_alexnet_pct", "alexnet", mean)]
    for count, some in ((15, names), (19, all_names)):
        even = over(some, dict.fromkeys(some, 100 / count))
        found.append(of("all", f"mean_err_{count}_pct", "unnormalised", even))
    for name in all_names:
        own = over((name,), {name: 100.0})
        found.append(of(name, "mean_err_pct", "unnormalised", own))
        found.append(of(name, "ce_alexnet_pct", "alexnet", over((name,), ce)))
    return found


def _mini_corrupted(benchmark: str) -> list[Quantity]:
    names, alexnet = corruptions_15(), alexnet_errors().by_severity
    even = tuple((f"{benchmark}/{name}/5", 100 / 15) for name in names)
    ce = tuple((f"{benchmark}/{name}/5", 100 / 15 / alexnet[name][4]) for name in names)
    return [
        Quantity(benchmark, "all", "mean_err_15_pct", "severity 5", "top1", even, headline=True),
        Quantity(benchmark, "all", "mce_severity_5_alexnet_pct", "alexnet severity 5", "top1", ce),
    ]


def _perturbed(benchmark: str, conditions: list[str]) -> list[Quantity]:
    reference = {c: p.reference for p in perturbations().values() for c in p.conditions}
    mean = Quantity(
        benchmark,
        "all",
        "mean_flip_probability_10",
        "unnormalised",
        "flips",
        tuple((f"{benchmark}/{name}", 1 / len(PERTURBATIONS_10)) for name in PERTURBATIONS_10),
        headline=True,
    )
    return [mean] + [
        Quantity(
            benchmark,
            condition,
            "flip_probability",
            f"relative to {reference.get(condition, 'previous')}",
            "flips",
            ((f"{benchmark}/{condition}", 1.0),),
        )
        for condition in conditions
    ]


def _distorted(benchmark: str, conditions: list[str], clean: str) -> list[Quantity]:
    names = dict.fromkeys(condition.rpartition("/")[0] for condition in conditions)
    return [
        Quantity(
            benchmark,
            name,
            "avg_top1_7",
            "clean + 6 levels",
            "top1",
            tuple(
                (dataset, -1 / 7)
                for dataset in (clean, *(f"{benchmark}/{name}/{level}" for level in LEVELS))
            ),
            base=1.0,
            better="higher",
            headline=True,
        )
        for name in names
    ]


def _unknown(what: str, name: str, known: Iterable[str], where: str) -> ShiftlakeError:
    names = list(known)
    near = get_close_matches(name, names, 3, 0.6)
    return ShiftlakeError(
        f"There is no such {what} to compare models in.",
        expected=f"perhaps {', '.join(near)}" if near else f"one of {', '.join(names[:30])}",
        found=name,
        where=where,
        remedy=f"correct the {what}; shiftlake compare A B lists what is compared",
    )
