"""The demo's videos: drawn clips, a recorded review of them, and what flicker costs.

The review was recorded on the page itself, in a browser that a script drove as two reviewers who go
by what is known of the drawing (blurred, hidden, cut, moved far); no person judged these clips.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.miniature import labelled_videos
from ops.results import connect
from ops.shards import read_manifest
from ops.storage import Root
from ops.video.datasets import mined_dataset, reviewed_dataset
from ops.video.review import freeze, import_csv
from ops.video.review.freeze import frozen_versions

SOURCE = "filmed_things"
MINED = mined_dataset(SOURCE)
REVIEWED = reviewed_dataset(SOURCE)

_ROWS = """
SELECT benchmark, model, metric, k, n, value, ci_lo, ci_hi FROM pmk
WHERE metric IN ('pm0', 'pm10') AND variant = 'with anchor'
ORDER BY benchmark, model, metric
"""


def film(folder: Path) -> None:
    """Draw the clips, their labels and boxes, unless they are there."""
    if not (folder / SOURCE / "source.yaml").exists():
        labelled_videos.write(folder / SOURCE)


def replay_review(root: Root, catalog: Catalog) -> None:
    """Take over the recorded decisions, as `shiftlake reviews import` does, and freeze them."""
    recorded = files("pipelines.demo").joinpath("recorded_review.csv").read_text("utf-8")
    import_csv(root, SOURCE, catalog, recorded)
    freeze(root, SOURCE, catalog)


def sealed_and_reviewed(root: Root) -> bool:
    """Whether the clips are mined, and the newest frozen review of them is sealed."""
    versions = frozen_versions(root, SOURCE)
    try:
        read_manifest(root, MINED)
        reviewed = read_manifest(root, REVIEWED)
    except ShiftlakeError:
        return False
    return bool(versions) and reviewed.parameters["frozen_version"] == versions[-1]


def pm_k_lines(root: Root, catalog: Catalog) -> list[str]:
    """pm-0 and pm-10 of every model on every set of frames, a line each, in percent."""
    with connect(root, catalog=catalog) as connection:
        rows = connection.execute(_ROWS).fetchall()
    by_cell: dict[tuple[str, str], dict[str, str]] = {}
    for benchmark, model, metric, k, n, value, lo, hi in rows:
        text = f"{100 * value:5.1f} % [{100 * lo:.1f}, {100 * hi:.1f}] ({k} of {n})"
        by_cell.setdefault((benchmark, model), {})[metric] = text
    return [
        f"  {benchmark:22} {model:12} pm-0 {found['pm0']}   pm-10 {found['pm10']}"
        for (benchmark, model), found in by_cell.items()
    ]
