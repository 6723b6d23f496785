"""Dagster's share of the demo: the same ops calls with and without it, each in a new process.

Both fetch the miniature archives, seal and verify every dataset, train the small networks,
evaluate them on everything and compute the metrics, on a lake of their own. Start-up of Python
and of both libraries is included on both sides.

    python -m benchmarks.dagster_share [--runs 3]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import machine, show, write

DIRECT = "direct"


def direct(folder: Path) -> None:
    """What the demo does, by calling ops one after the other."""
    import yaml

    from ops.catalog import load
    from ops.fetch import fetch
    from ops.inference import evaluate
    from ops.miniature import build, serve
    from ops.models import register
    from ops.models.training import train_small_cnn
    from ops.rendering import build_many
    from ops.report import parity_report
    from ops.results import compute_metrics, leaderboard, status
    from ops.shards import verify
    from ops.storage import open_root, paths
    from pipelines.demo.selection import datasets

    root = open_root(folder / "lake")
    upstream = build(folder.parent / "upstream")
    with serve(upstream.folder) as server:
        overlay = folder / "catalog.yaml"
        overlay.write_text(yaml.safe_dump(upstream.overlay(server.url)))
        catalog = load(str(overlay))
        names = list(datasets())
        for name in names:
            for file in catalog.sources(name):
                fetch(root, file)
    build_many(root, catalog, names)
    for name in names:
        verify(root, name, hash=True)
    for model, dataset in (("small_cnn", "imagenet_1k/train"), ("small_cifar", "cifar_100/train")):
        train_small_cnn(root, catalog, [dataset], name=model)
    second = build(folder.parent / "second", seed=1, families=("caltech", "sun"))
    other = folder / "other.yaml"
    files = (second.folder / "files").absolute().as_uri()
    other.write_text(yaml.safe_dump(second.overlay(files)))
    lake, known = open_root(folder / "second"), load(str(other))
    for dataset in ("caltech_101/clean", "caltech_256/clean", "sun_397/clean"):
        for file in known.sources(dataset):
            fetch(lake, file)
        build_many(lake, known, [dataset])
        entry = train_small_cnn(lake, known, [dataset], name=dataset.split("/")[0])
        assert entry.weights is not None
        weights = lake.local_copy(paths.weights(entry.weights.sha256, entry.weights.suffix))
        register(root, entry, weights)
    for row in status(root, catalog):
        if row.dataset in names:
            evaluate(root, catalog, row.model, row.dataset)
    compute_metrics(root, catalog)
    for family in ("imagenet_c", "imagenet_p"):
        published = [name for name in names if name.startswith(f"{family}/")]
        pairs = [(name, name.replace(family, f"{family}_rendered", 1)) for name in published]
        parity_report(root, f"{family}_rendered", pairs)
    leaderboard(root)


def through_dagster(folder: Path, project: Path) -> None:
    """``shiftlake demo`` in a copy of the project that has no state yet."""
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copy(project / name, folder)
    # The upstream is drawn before the clock starts, as for the other side.
    target = folder / ".shiftlake" / "demo"
    shutil.copytree(folder.parent / "upstream", target / "upstream")
    shutil.copytree(folder.parent / "second", target / "second_drawing" / "upstream")


def main() -> None:
    """Run both, alternating, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--direct", type=Path)
    chosen = options.parse_args()
    if chosen.direct:
        direct(chosen.direct)
        return
    project = Path(__file__).resolve().parents[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SHIFTLAKE_")}
    environment["PYTHONPATH"] = str(project)
    seconds: dict[str, list[float]] = {"ops alone": [], "through Dagster": []}
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        from ops.miniature import build

        build(base / "upstream")
        build(base / "second", seed=1, families=("caltech", "sun"))
        for number in range(chosen.runs):
            for side in seconds:
                folder = base / f"{side.replace(' ', '_')}_{number}"
                folder.mkdir()
                if side == "ops alone":
                    command = ["-m", "benchmarks.dagster_share", "--direct", str(folder)]
                else:
                    through_dagster(folder, project)
                    command = ["-m", "pipelines.cli", "demo"]
                started = time.perf_counter()
                subprocess.run(
                    [sys.executable, *command],
                    cwd=folder,
                    env=environment,
                    check=True,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                seconds[side].append(time.perf_counter() - started)
                shutil.rmtree(folder)
    alone = statistics.median(seconds["ops alone"])
    rows = [
        {
            "way": side,
            "median s": round(statistics.median(found), 1),
            "min s": round(min(found), 1),
            "max s": round(max(found), 1),
            "x ops alone": round(statistics.median(found) / alone, 2),
        }
        for side, found in seconds.items()
    ]
    show("Dagster's share of the demo", rows)
    write("dagster_share", {"machine": machine(), "runs": chosen.runs, "rows": rows})


if __name__ == "__main__":
    main()
