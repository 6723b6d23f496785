"""What exists upstream: benchmarks, files, addresses, hashes, layouts, class lists and datasets.

Facts live in ``data/``, one file per benchmark; the code here only reads, merges and checks them.
Nothing in this room downloads, unpacks or labels an image.
"""

from ops.catalog.benchmark import Benchmark, Mirror, SourceFile
from ops.catalog.catalog import Catalog
from ops.catalog.dataset import DatasetSpec
from ops.catalog.facts import Fact
from ops.catalog.loading import MIRROR_VARIABLE, OVERLAY_VARIABLE, load

__all__ = [
    "MIRROR_VARIABLE",
    "OVERLAY_VARIABLE",
    "Benchmark",
    "Catalog",
    "DatasetSpec",
    "Fact",
    "Mirror",
    "SourceFile",
    "load",
]
