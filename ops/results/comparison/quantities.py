"""What two models are compared in: every metric that pairs image by image, by benchmark.

All but those of ImageNet-O are sums over datasets of a weight times the share of wrong answers
(or of frames that flip, or of how far the five likeliest classes can move), so that one way to
compare serves them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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

# The largest k of pm-k, where as much was mined.
FURTHEST = 10

# How far the five likeliest classes of two frames can be apart.
FURTHEST_T5D = 18

# Metrics that are no mean over images of fixed weights: why not, and what can be had instead.
_OVER_OWN = "it is divided by the errors of an AlexNet evaluated here, which are no constants"
_BINNED = "it is made of bins of many images, and has no interval"
_UNPAIRED = (
    ("(relative_)?m?ce(_severity_5)?_pct", _OVER_OWN, "{}alexnet_pct"),
    ("fr_pct", _OVER_OWN, "flip_probability"),
    ("mfr_pct", _OVER_OWN, "mean_flip_probability_10"),
    ("t5d_pct", _OVER_OWN, "ut5d"),
    ("mt5d_pct", _OVER_OWN, "mean_ut5d_10"),
    ("uzipf", "its distances are no whole numbers, of which alone sums are exact", "ut5d"),
    ("mean_uzipf_10", "its distances are no whole numbers, of which alone sums are exact",
     "mean_ut5d_10"),
    ("rms_calib(_legacy)?|ece|aurra", _BINNED, "top1"),
    ("mean_per_class", "every class weighs the same, however few images it has", "top1"),
    ("pm_.*", "it is made of several pm-k, or of frames apart from their anchor", "pm0"),
)  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """One metric of one benchmark, and how it comes out of answers to single images.

    Parameters
    ----------
    benchmark, condition, metric, variant : str
        As in the table of metrics.
    answer : str
        What is asked of an image: ``top1``, ``top5``, ``masked``, ``real``, ``pm0`` to ``pm10``,
        the same of a review as ``reviewed_pm0``, ``flips``, ``t5d``, or ``outlier`` for ImageNet-O.
    weights : tuple of (str, float)
        Datasets, and what a share of wrong answers of 1 in each adds to the metric; clean images
        that it is taken against come last.
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
    def counted(self) -> tuple[str, ...]:
        """Those of `datasets` on which an image is lost or gained.

        A wrong answer to a clean image lowers what corruption adds: it is no gain.
        """
        sign = self.weights[0][1] < 0
        return tuple(name for name, weight in self.weights if (weight < 0) == sign)

    @property
    def against(self) -> tuple[str, ...]:
        """Those of `datasets` that are clean images which those of the benchmark are made of."""
        own = {name for name in self.datasets if name.partition("/")[0] == self.benchmark}
        return tuple(name for name in self.datasets if own and name not in own)

    @property
    def unit(self) -> float:
        """What a point is in the unit of the metric: a percentage point, or 1 of a distance."""
        return 1 / scale(self.metric)

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.benchmark}/{self.condition} {self.metric} ({self.variant})"


def scale(metric: str) -> int:
    """What a value of a metric is multiplied by to be shown: 1 for percentages and distances."""
    return 1 if metric.endswith("_pct") or "ut5d" in metric or "uzipf" in metric else 100


def quantities(
    benchmark: str,
    conditions: Iterable[str],
    clean: str | None,
    mined: Mapping[str, int] | None = None,
) -> list[Quantity]:
    """Everything two models can be compared in on one benchmark.

    Parameters
    ----------
    benchmark : str
    conditions : iterable of str
        Conditions that a model is run on.
    clean : str or None
        The dataset with the clean images of a distorted set.
    mined : mapping of str to int, optional
        How many frames to either side were mined, by condition; 10 or more where none is named.

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
        return _video(benchmark, conditions, mined or {})
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
    mined = {
        spec.condition: int(spec.parameters["k"])
        for spec in catalog.datasets.values()
        if spec.family == MINED and "k" in spec.parameters
    }
    for spec in catalog.datasets.values():
        if spec.evaluate or spec.family in (REAL, REVIEWED):
            conditions.setdefault(spec.family, []).append(spec.condition)
    return {
        name: quantities(
            name, own, clean_of.get(name), mined if name in (MINED, REVIEWED) else None
        )
        for name, own in conditions.items()
    }


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
    if not named and (why := unpaired(metric)) is not None:
        raise ShiftlakeError(
            "This metric cannot be compared image by image.",
            expected=f"a metric that is a mean over images, such as {why[1]}",
            found=f"{metric}: {why[0]}",
            where=where,
            remedy=f"name {why[1]} instead; shiftlake compare A B --all lists what can be compared",
        )
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
        if not preferred[0].headline and preferred[0].answer in ("top1", "flips", "t5d"):
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


def _video(benchmark: str, conditions: list[str], mined: Mapping[str, int]) -> list[Quantity]:
    # No model is run on a reviewed set: it is scored from the frames that were mined.
    run_on, kind = (MINED, "reviewed_pm") if benchmark == REVIEWED else (benchmark, "pm")
    furthest = {name: min(mined.get(name, FURTHEST), FURTHEST) for name in conditions}
    return [
        _accuracy(
            benchmark,
            condition,
            f"pm{k}",
            "with anchor",
            f"{kind}{k}",
            f"{run_on}/{condition}",
            k == furthest[condition],
        )
        for condition in conditions
        for k in reversed(range(furthest[condition] + 1))
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
    alexnet, clean = alexnet_errors().mean, alexnet_errors().clean

    def over(names: Iterable[str], weight: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        return tuple((f"{benchmark}/{n}/{s}", weight[n] / 5) for n in names for s in SEVERITIES)

    def of(
        condition: str, metric: str, variant: str, weights: tuple[tuple[str, float], ...]
    ) -> Quantity:
        main = metric == "mce_alexnet_pct"
        return Quantity(benchmark, condition, metric, variant, "top1", weights, headline=main)

    def added(names: Sequence[str]) -> tuple[tuple[str, float], ...]:
        # What corruption adds to the clean error, over what it adds to AlexNet's: linear, too.
        weight = {name: 100 / (alexnet[name] - clean) / len(names) for name in names}
        return (*over(names, weight), (VAL, -sum(weight.values())))

    names, all_names = corruptions_15(), corruptions_19()
    ce = {name: 100 / alexnet[name] for name in all_names}
    mean = over(names, {name: ce[name] / 15 for name in names})
    found = [of("all", "mce_alexnet_pct", "alexnet", mean)]
    found.append(of("all", "relative_mce_alexnet_pct", "alexnet", added(names)))
    for count, some in ((15, names), (19, all_names)):
        even = over(some, dict.fromkeys(some, 100 / count))
        found.append(of("all", f"mean_err_{count}_pct", "unnormalised", even))
    for name in all_names:
        own = over((name,), {name: 100.0})
        found.append(of(name, "mean_err_pct", "unnormalised", own))
        found.append(of(name, "ce_alexnet_pct", "alexnet", over((name,), ce)))
        found.append(of(name, "relative_ce_alexnet_pct", "alexnet", added((name,))))
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
    found = []
    for metric, mean, answer, most in (
        ("flip_probability", "mean_flip_probability_10", "flips", 1),
        ("ut5d", "mean_ut5d_10", "t5d", FURTHEST_T5D),
    ):
        even = tuple((f"{benchmark}/{n}", most / len(PERTURBATIONS_10)) for n in PERTURBATIONS_10)
        main = answer == "flips"
        found.append(Quantity(benchmark, "all", mean, "unnormalised", answer, even, headline=main))
        for condition in conditions:
            variant = f"relative to {reference.get(condition, 'previous')}"
            own = ((f"{benchmark}/{condition}", float(most)),)
            found.append(Quantity(benchmark, condition, metric, variant, answer, own))
    return found


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


def unpaired(metric: str) -> tuple[str, str] | None:
    """Why a metric cannot be compared image by image, and which can; None if it is none of these.

    Examples
    --------
    >>> unpaired("mfr_pct")[1]
    'mean_flip_probability_10'
    """
    for pattern, why, instead in _UNPAIRED:
        if re.fullmatch(pattern, metric):
            return why, instead.format(metric.removesuffix("pct"))
    return None


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
