"""What the demo makes: everything published in miniature, and the benchmarks rendered from it."""

from __future__ import annotations

from collections.abc import Iterator

from assets.suites import Suite, suites
from ops.corruptions import BENCHMARK_CORRUPTIONS
from ops.perturbations import PERTURBATIONS

# What is rendered of each, in partitions; the rest is made by the same jobs, on demand.
RENDERED: dict[str, tuple[str, ...]] = {
    "imagenet_c_rendered": BENCHMARK_CORRUPTIONS,
    "mini_imagenet_c_rendered": BENCHMARK_CORRUPTIONS,
    "imagenet_p_rendered": PERTURBATIONS,
    "imagenet_c_on_the_fly": ("glass_blur",),
    "distorted_cifar_100": ("gaussian_blur", "gaussian_noise"),
}


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
