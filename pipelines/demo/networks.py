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
from typing import TYPE_CHECKING, Any, NamedTuple

import dagster as dg
import yaml

from assets.lake import Lake
from assets.log_lines import gathered
from assets.sources import OWNERS
from ops.catalog import Catalog, load
from ops.fetch import fetch
from ops.miniature import build
from ops.shards import build_many
from ops.storage import Root, open_root, paths

if TYPE_CHECKING:
    from ops.models import ModelEntry


class Network(NamedTuple):
    """A network of the demo.

    `second` says whether what it learns from is in the second drawing. The epochs are as few as
    will do; the images of CIFAR-100 have 32 pixels and need not be enlarged.
    """

    name: str
    dataset: str
    second: bool
    epochs: int
    image_size: int = 64


NETWORKS = (
    Network("small_cnn", "imagenet_1k/train", False, epochs=10),
    Network("small_cnn_cifar", "cifar_100/train", False, epochs=8, image_size=32),
    Network("small_cnn_caltech_101", "caltech_101/clean", True, epochs=12),
    Network("small_cnn_caltech_256", "caltech_256/clean", True, epochs=12),
    Network("small_cnn_sun", "sun_397/clean", True, epochs=8),
)
BASELINE = "small_cnn"
NORMALISER = "narrow_cnn"
CANDIDATE = "small_cnn_candidate"
MODELS = (*(network.name for network in NETWORKS), NORMALISER, CANDIDATE)
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

    with gathered(context.log.info) as log:
        for network in NETWORKS:
            started = time.monotonic()
            if network.second:
                second = second or _second_drawing(context)
                entry = _trained_elsewhere(root, second, network, log)
                made(entry, f"{network.dataset} (a second drawing)", started)
            else:
                made(_network(root, catalog, network, log), network.dataset, started)
        started = time.monotonic()
        made(_normaliser(root, catalog, log), "imagenet_1k/train", started)
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


def _network(
    root: Root, catalog: Catalog, network: Network, log: Callable[[str], None]
) -> "ModelEntry":
    how = {"epochs": network.epochs, "image_size": network.image_size}
    return _trained(root, catalog, network.dataset, network.name, log, **how)


def _trained_elsewhere(
    root: Root, second: tuple[Root, Catalog], network: Network, log: Callable[[str], None]
) -> "ModelEntry":
    from ops.models import register

    trained = _network(*second, network, log)
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
    wanted = [network.dataset for network in NETWORKS if network.second]
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
