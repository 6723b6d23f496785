"""Lakes for the tests: an empty one to fill, and a full one to read."""

import pytest
from made_lake import Lake, fill

from ops.catalog import load as load_catalog
from ops.results import compute_metrics
from ops.storage import open_root


@pytest.fixture
def lake(tmp_path):
    return Lake(open_root(tmp_path / "lake"))


@pytest.fixture(scope="session")
def catalog():
    return load_catalog()


@pytest.fixture(scope="session")
def full_lake(tmp_path_factory, catalog):
    """Two ImageNet models on everything, and a CIFAR model; metrics computed. Do not change."""
    lake = Lake(open_root(tmp_path_factory.mktemp("full") / "lake"))
    fill(lake)
    lake.parity("imagenet_c/fog/3", "imagenet_c_rendered/fog/3")
    compute_metrics(lake.root, catalog)
    return lake
