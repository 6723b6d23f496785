"""Build a dataset in a process of its own, which may be told to die on the way.

build_in_process.py ROOT OVERLAY DATASET [--workers N] [--samples N] [--die-after K]
    [--die-inside K] [--wait-for FILE]
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path

from ops.catalog import load
from ops.shards import ShardSize, build
from ops.shards.tarball import TarWriter
from ops.storage import open_root


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("overlay")
    parser.add_argument("dataset")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--die-after", type=int)
    parser.add_argument("--die-inside", type=int)
    parser.add_argument("--wait-for", type=Path)
    options = parser.parse_args()
    started = 0

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def progress(dataset: str, done: int, total: int) -> None:
        if options.die_after is not None and done >= options.die_after:
            die()

    close = TarWriter.close

    def close_or_die(self: TarWriter) -> str:
        nonlocal started
        started += 1
        if started == options.die_inside:
            self._file.flush()
            die()
        return close(self)

    TarWriter.close = close_or_die  # type: ignore[method-assign]
    catalog = load(options.overlay)
    if options.wait_for:
        print("ready", flush=True)
        while not options.wait_for.exists():
            time.sleep(0.001)
    size = ShardSize(samples=options.samples)
    manifest = build(
        open_root(options.root), catalog, options.dataset, workers=options.workers, size=size,
        progress=progress,
    )  # fmt: skip
    print(manifest.version, flush=True)


if __name__ == "__main__":
    main()
