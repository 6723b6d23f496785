"""What the miniature says over the catalog: its own addresses, sizes, hashes and counts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ops.miniature import reference_results

SOURCE = "generated: miniature upstream"

OMITTED: tuple[tuple[str, str], ...] = (
    ("imagenet-1k", "ilsvrc2012_test_v10102019"),
    ("miniimagenet-c", "miniimagenet_c"),
    ("imagenet-vid", "ilsvrc2015_vid"),
    ("imagenet-vid", "ilsvrc2015_vid_part_aa"),
    ("imagenet-vid", "ilsvrc2015_vid_part_ab"),
    ("imagenet-vid", "ilsvrc2017_vid"),
    ("imagenet-vid", "ilsvrc2017_vid_test"),
    ("imagenet-vid", "ilsvrc2017_vid_new"),
)
"""Catalog files the miniature has no copy of, as (benchmark, file id)."""

RENDERED_FROM: dict[str, str] = {
    "imagenet_c_rendered/*": "imagenet_1k/val",
    "mini_imagenet_c_rendered/*": "imagenet_1k/val",
    "imagenet_c_on_the_fly/*": "imagenet_1k/val",
    "imagenet_p_on_the_fly/*": "imagenet_1k/val",
    "distorted_imagenet/*": "imagenet_1k/val",
    "distorted_cifar_100/*": "cifar_100/test",
    "distorted_caltech_101/*": "caltech_101/clean",
    "distorted_caltech_256/*": "caltech_256/clean",
    "distorted_sun_397/*": "sun_397/clean",
}
"""Datasets that nobody publishes -> the published one they are rendered from, image by image."""


def overlay(
    files: list[dict[str, Any]], expected: dict[str, dict[str, int | None]], base_url: str
) -> dict[str, Any]:
    """Return the catalog overlay.

    Parameters
    ----------
    files : list of dict
        Facts of the published files (`Publication.files`).
    expected : dict
        Dataset -> expected counts.
    base_url : str
        Address of the server, without a slash at the end.

    Returns
    -------
    dict
        Shape of `ops.catalog.overlay`: `benchmarks` and `datasets`.
    """
    benchmarks: dict[str, list[dict[str, Any]]] = {}
    for facts in files:
        entry: dict[str, Any] = {"id": facts["id"], "url": _fact(file_url(facts, base_url))}
        for name in ("bytes", "md5", "sha1", "sha256", "git_blob_sha1"):
            entry[name] = _fact(facts[name])
        # Without this a failed download would go on to the true hosts.
        entry |= {"mirrors": [], "alt_url": None, "access": "open"}
        # Of a dataset its entry says so; these files belong to none.
        if facts["benchmark"] in reference_results.BENCHMARKS:
            entry["synthetic"] = True
        benchmarks.setdefault(facts["benchmark"], []).append(entry)
    for benchmark, file_id in OMITTED:
        benchmarks.setdefault(benchmark, []).append(
            {
                "id": file_id,
                "url": {"value": None, "source": [], "status": "unknown"},
                "mirrors": [],
                "alt_url": None,
                "access": "none",
                "how_to_get": "The miniature has no such file; unset SHIFTLAKE_CATALOG.",
            }
        )
    rendered = {
        pattern: expected[source] for pattern, source in RENDERED_FROM.items() if source in expected
    }
    return {
        "benchmarks": [{"id": name, "files": entries} for name, entries in benchmarks.items()],
        "datasets": {"*": {"synthetic": True}, **rendered, **expected, **_subset(expected)},
    }


def file_url(facts: dict[str, Any], base_url: str) -> str:
    """Return the address of a published file on the server."""
    return f"{base_url}/{facts['benchmark']}/{quote(facts['name'])}"


def _subset(expected: dict[str, dict[str, int | None]]) -> dict[str, dict[str, Any]]:
    """Fewer images where a subset is drawn, so that drawing them is tried as well."""
    if "imagenet_1k/val" not in expected:
        return {}
    classes = expected["imagenet_1k/val"]["expected_classes"] or 0
    every = expected["imagenet_1k/val"]["per_class"] or 1

    def counts(n_per_class: int) -> dict[str, int]:
        total = n_per_class * classes
        return {"expected": total, "expected_classes": classes, "per_class": n_per_class}

    half, few = max(1, every // 2), every // 10 or min(2, every)
    return {
        "mini_imagenet_c_rendered/*": {"parameters": {"n_per_class": half}, **counts(half)},
        "imagenet_1k/val_mini": {"parameters": {"n_per_class": few}, **counts(few)},
        # They take long to store.
        "imagenet_p_rendered/*": {"derived_from": ["imagenet_1k/val_mini"], **counts(few)},
    }


def _fact(value: object) -> dict[str, Any]:
    return {"value": value, "source": [SOURCE], "status": "overlay"}
