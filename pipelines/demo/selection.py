"""What the demo makes: everything published in miniature, and the benchmarks rendered from it.

And which of its networks are evaluated on what.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from assets.partitions import BENCHMARKS, datasets_of
from assets.suites import Suite, suites
from ops.catalog import Catalog
from ops.catalog.classes import understands
from ops.corruptions import BENCHMARK_CORRUPTIONS
from ops.models import list_models, read_model
from ops.perturbations import PERTURBATIONS
from ops.storage import Root
from ops.video.datasets import MINED
from pipelines.demo.networks import CANDIDATE, NETWORKS, NORMALISER

# What is rendered of each, in partitions; the rest is made by the same jobs, on demand.
RENDERED: dict[str, tuple[str, ...]] = {
    "imagenet_c_rendered": BENCHMARK_CORRUPTIONS,
    "mini_imagenet_c_rendered": BENCHMARK_CORRUPTIONS,
    "imagenet_p_rendered": PERTURBATIONS,
    "imagenet_c_on_the_fly": ("glass_blur",),
    "distorted_cifar_100": ("gaussian_blur", "gaussian_noise"),
}

# Where a corruption error or a flip rate is divided by the normaliser's own.
NORMALISED = ("imagenet_1k_val", "imagenet_c", "imagenet_p", "imagenet_c_rendered",
              "imagenet_p_rendered")  # fmt: skip
# What the candidate is judged on.
JUDGED = (
    "imagenet_1k_val",
    "imagenetv2_matched_frequency",
    "imagenetv2_threshold07",
    "imagenetv2_top_images",
    "imagenet_sketch",
    "imagenet_a",
    "imagenet_o",
    "imagenet_r",
    "mini_imagenet_c",
)


def wanted(suite: Suite) -> bool:
    """Whether the demo makes any of a suite."""
    return not suite.made_here or suite.name in RENDERED


def part_wanted(suite: Suite, part: str) -> bool:
    """Whether the demo makes a partition of a suite."""
    return part in RENDERED.get(suite.name, suite.parts)


def datasets() -> Iterator[str]:
    """Names of all datasets the demo makes."""
    for suite in suites().values():
        if wanted(suite):
            yield from suite.datasets([part for part in suite.parts if part_wanted(suite, part)])


def evaluated_on(only: tuple[str, ...] | None = None) -> Iterator[tuple[str, str]]:
    """First and last of the evaluated suites, of each stretch of those that lie side by side.

    Parameters
    ----------
    only : tuple of str or None
        Names of suites; by default all the demo makes.
    """
    chosen = only or [*(name for name, suite in suites().items() if wanted(suite)), MINED]
    for inside, run in groupby(BENCHMARKS.get_partition_keys(), key=lambda name: name in chosen):
        if inside:
            names = list(run)
            yield names[0], names[-1]


def cells(root: Root, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Every network with every dataset that the demo evaluates it on."""
    chosen: dict[str, tuple[str, ...] | None] = dict.fromkeys(network.name for network in NETWORKS)
    chosen |= {NORMALISER: NORMALISED, CANDIDATE: JUDGED}
    made = {*datasets(), *datasets_of(catalog, MINED)}
    registered = set(list_models(root))
    for model, only in chosen.items():
        space = read_model(root, model).label_space if model in registered else None
        for name in only or BENCHMARKS.get_partition_keys():
            for spec in map(catalog.dataset, datasets_of(catalog, name)):
                # A network that is not there lacks everything.
                known = space is None or understands(space, spec.label_space)
                if spec.name in made and spec.evaluate and known:
                    yield model, spec.name
