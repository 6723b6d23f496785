"""Small networks for the demo, one for each label space, trained on sealed shards.

CIFAR-100 and ImageNet have training sets of their own. The other benchmarks publish one set of
images, so their networks learn from a second drawing of the same classes: no network ever sees
an image it is evaluated on.

Two more stand beside the ImageNet network. A narrow one is what corruption errors and flip rates
are divided by, as AlexNet is on real images. And a candidate that has forgotten a class stands for
the regression that a gate is there to find.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import yaml

from assets.lake import Lake
from assets.sources import OWNERS
from ops.catalog import Catalog, load
from ops.fetch import fetch
from ops.miniature import build
from ops.shards import build_many
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    from ops.models import ModelEntry

# Name of the network, what it learns from, and whether that is in the second drawing.
NETWORKS: tuple[tuple[str, str, bool], ...] = (
    ("small_cnn", "imagenet_1k/train", False),
    ("small_cnn_cifar", "cifar_100/train", False),
    ("small_cnn_caltech_101", "caltech_101/clean", True),
    ("small_cnn_caltech_256", "caltech_256/clean", True),
    ("small_cnn_sun", "sun_397/clean", True),
)
BASELINE = "small_cnn"
NORMALISER = "narrow_cnn"
CANDIDATE = "small_cnn_candidate"
MODELS = (*(name for name, _, _ in NETWORKS), NORMALISER, CANDIDATE)
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
    root, catalog = lake.open(), lake.load()
    rows: list[dict[str, Any]] = []
    second: tuple[Root, Catalog] | None = None

    def made(entry: "ModelEntry", learned_from: str, started: float) -> None:
        rows.append(
            {
                "model": entry.name,
                "learned_from": learned_from,
                "label_space": entry.label_space,
                "classes": len(entry.class_map or ()),
                "seconds": round(time.monotonic() - started, 2),
            }
        )

    for name, dataset, from_second in NETWORKS:
        started = time.monotonic()
        if from_second:
            second = second or _second_drawing(context)
            made(
                _trained_elsewhere(root, second, dataset, name, context.log.info),
                f"{dataset} (a second drawing)",
                started,
            )
        else:
            made(_trained(root, catalog, dataset, name, context.log.info), dataset, started)
    started = time.monotonic()
    made(_normaliser(root, catalog, context.log.info), "imagenet_1k/train", started)
    started = time.monotonic()
    made(_candidate(root), f"{BASELINE}, less one class", started)
    context.instance.add_dynamic_partitions("model", list(MODELS))
    return dg.MaterializeResult(
        metadata={
            "networks": dg.MetadataValue.table([dg.TableRecord(row) for row in rows]),
            "synthetic": True,
        }
    )


def _trained(
    root: Root, catalog: Catalog, dataset: str, name: str, log: Callable[[str], None], **how: int
) -> "ModelEntry":
    from ops.models.training import train_small_cnn

    return train_small_cnn(root, catalog, [dataset], name=name, log=log, **how)


def _trained_elsewhere(
    root: Root,
    second: tuple[Root, Catalog],
    dataset: str,
    name: str,
    log: Callable[[str], None],
) -> "ModelEntry":
    from ops.models import register

    trained = _trained(*second, dataset, name, log)
    assert trained.weights is not None
    file = paths.weights(trained.weights.sha256, trained.weights.suffix)
    return register(root, trained, second[0].local_copy(file))


def _normaliser(root: Root, catalog: Catalog, log: Callable[[str], None]) -> "ModelEntry":
    from ops.models import register

    entry = _trained(root, catalog, "imagenet_1k/train", NORMALISER, log, width=8, epochs=8)
    if entry.normaliser:
        return entry
    assert entry.weights is not None
    weights = root.local_copy(paths.weights(entry.weights.sha256, entry.weights.suffix))
    return register(root, entry.model_copy(update={"normaliser": True}), weights)


def _candidate(root: Root) -> "ModelEntry":
    """The baseline's network, which never again answers with its first class."""
    from ops.models import load as load_network
    from ops.models import read_model, register
    from ops.models.weights import canonical_bytes

    baseline = read_model(root, BASELINE)
    network = load_network(root, baseline)
    network.get_parameter("classifier.bias").data[0] -= 100
    note = f"{BASELINE} with one class forgotten on purpose: a planted regression"
    entry = baseline.model_copy(update={"name": CANDIDATE, "note": note})
    with tempfile.TemporaryDirectory(dir=root.scratch()) as folder:
        weights = Path(folder) / "weights.safetensors"
        weights.write_bytes(canonical_bytes(network))
        return register(root, entry, weights)


def _second_drawing(context: dg.AssetExecutionContext) -> tuple[Root, Catalog]:
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
