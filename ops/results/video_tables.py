"""Tables of videos, mined frames and their review, as SQL asks for them.

The tables of a mining are a file a source, so that a filter on `source` opens only its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa

from ops.results.inventory import Inventory
from ops.results.sealed_files import PROTOCOL, Sources, parquet_bytes
from ops.storage import Root
from ops.video.datasets import MINED

# By their names in SQL: what stands beside the mined frames of a source.
MINED_FILES = {
    "videos": "videos",
    "frames": "frames",
    "frames_left_out": "left_out",
    "frame_pairs": "pairs",
}

# Sorts before every source, whose names are small letters, digits and _: DuckDB takes the columns
# from the first file, so that a root without videos has them too.
_EMPTY = "source=!/none"


def empty_mined() -> Sources:
    """Every table of a mining without a row."""
    # The room of videos brings decoders with it, which who only reads results does not need.
    from ops.video.mining.tables import MINED_TABLES

    return {
        f"{name}/{_EMPTY}": partial(parquet_bytes, MINED_TABLES[file].empty_table())
        for name, file in MINED_FILES.items()
    }


def mined(root: Root, inventory: Inventory) -> Sources:
    """Every table of every sealed mining, each read and compared with its seal when asked for."""
    found = dict(empty_mined())
    for dataset, manifest in sorted(inventory.manifests.items()):
        benchmark, _, source = dataset.partition("/")
        # A set of frames that was sealed without such tables has none.
        if benchmark != MINED or "tables" not in (manifest.get("renderer") or {}):
            continue
        for name, file in MINED_FILES.items():
            found[f"{name}/source={source}/mined"] = partial(_written, root, source, file)
    return found


def view_of(name: str) -> str:
    """SQL that makes the view over the files of one table of a mining."""
    return f"""
        CREATE VIEW {name} AS FROM read_parquet(
            '{PROTOCOL}://tables/{name}/**/*.parquet',
            hive_partitioning = true, hive_types = {{'source': VARCHAR}}
        )
    """


def reviews(root: Root) -> dict[str, tuple[pa.Schema, Callable[[], pa.Table]]]:
    """The tables of all reviews."""
    from ops.video.review.tables import (
        REVIEW_EVENTS,
        REVIEWED_FRAMES,
        review_events,
        reviewed_frames,
    )

    return {
        "review_events": (REVIEW_EVENTS, lambda: review_events(root)),
        "reviewed_frames": (REVIEWED_FRAMES, lambda: reviewed_frames(root)),
    }


def _written(root: Root, source: str, file: str) -> bytes:
    from ops.video.mining.tables import read_mined

    return parquet_bytes(read_mined(root, source, file))
