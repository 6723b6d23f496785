"""Small networks for the demo, one for each label space, trained on sealed shards.

CIFAR-100 and ImageNet have training sets of their own. The other benchmarks publish one set of
images, so their networks learn from a second drawing of the same classes: no network ever sees
an image it is evaluated on.
"""

import os
import time
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from assets.lake import Lake
from assets.sources import OWNERS
from ops.catalog import load
from ops.fetch import fetch
from ops.miniature import build
from ops.shards import build_many
from ops.storage import Root, open_root, paths

# Name of the network, what it learns from, and whether that is in the second drawing.
NETWORKS: tuple[tuple[str, str, bool], ...] = (
    ("small_cnn", "imagenet_1k/train", False),
    ("small_cnn_cifar", "cifar_100/train", False),
    ("small_cnn_caltech_101", "caltech_101/clean", True),
    ("small_cnn_caltech_256", "caltech_256/clean", True),
    ("small_cnn_sun", "sun_397/clean", True),
)
SECOND_SEED = 1


@dg.asset(
    key=["demo", "networks"],
    group_name="models",
    deps=[["imagenet_1k", "train_shards"], ["cifar_100", "train_shards"]],
    owners=OWNERS,
    kinds={"pytorch"},
    pool="gpu",
)
def networks(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult:
    """Small networks trained in seconds on drawn images; they are registered like any model."""
    from ops.models import ModelEntry, register
    from ops.models.training import train_small_cnn

    root, catalog = lake.open(), lake.load()
    rows: list[dict[str, Any]] = []
    second: tuple[Root, Any] | None = None
    for name, dataset, from_second in NETWORKS:
        started = time.monotonic()
        entry: ModelEntry
        if from_second:
            second = second or _second_drawing(context)
            trained = train_small_cnn(*second, [dataset], name=name, log=context.log.info)
            assert trained.weights is not None
            weights = second[0].local_copy(
                paths.weights(trained.weights.sha256, trained.weights.suffix)
            )
            entry = register(root, trained, weights)
        else:
            entry = train_small_cnn(root, catalog, [dataset], name=name, log=context.log.info)
        rows.append(
            {
                "model": name,
                "trained_on": dataset + (" (a second drawing)" if from_second else ""),
                "label_space": entry.label_space,
                "classes": len(entry.class_map or ()),
                "seconds": round(time.monotonic() - started, 2),
            }
        )
    context.instance.add_dynamic_partitions("model", [name for name, _, _ in NETWORKS])
    return dg.MaterializeResult(
        metadata={
            "networks": dg.MetadataValue.table([dg.TableRecord(row) for row in rows]),
            "synthetic": True,
        }
    )


def _second_drawing(context: dg.AssetExecutionContext) -> tuple[Root, Any]:
    """A lake of its own with the shards the networks of other label spaces learn from."""
    wanted = [dataset for _, dataset, second in NETWORKS if second]
    folder = Path(os.environ["SHIFTLAKE_STATE"]).parent / "second_drawing"
    upstream = build(folder / "upstream", seed=SECOND_SEED, families=("caltech", "sun"))
    overlay = folder / "catalog.yaml"
    files = (folder / "upstream" / "files").absolute().as_uri()
    overlay.write_text(yaml.safe_dump(upstream.overlay(files)))
    root, catalog = open_root(folder / "lake"), load(str(overlay))
    for dataset in wanted:
        for file in catalog.sources(dataset):
            fetch(root, file, log=context.log.info)
    build_many(root, catalog, wanted, log=context.log.info)
    return root, catalog
