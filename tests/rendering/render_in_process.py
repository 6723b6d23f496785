"""Render in a process of its own, which can be made to die at a chosen moment."""

from __future__ import annotations

import argparse
import os
import signal

from ops.catalog import load
from ops.rendering import render
from ops.shards import ShardRecord, ShardWriter


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("overlay")
    parser.add_argument("datasets")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--size", type=int)
    parser.add_argument("--die-after", type=int, help="shards published")
    parser.add_argument("--die-inside", type=int, help="samples added")
    options = parser.parse_args()
    finished = added = 0
    finish, add = ShardWriter.finish, ShardWriter.add

    def counted_finish(self: ShardWriter) -> ShardRecord:
        nonlocal finished
        record = finish(self)
        finished += 1
        if finished == options.die_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return record

    def counted_add(self: ShardWriter, sample: object) -> None:
        nonlocal added
        add(self, sample)  # type: ignore[arg-type]
        added += 1
        if added == options.die_inside:
            os.kill(os.getpid(), signal.SIGKILL)

    ShardWriter.finish = counted_finish  # type: ignore[method-assign]
    ShardWriter.add = counted_add  # type: ignore[method-assign,assignment]
    names = options.datasets.split(",")
    catalog = load(options.overlay)
    for manifest in render(
        options.root, catalog, names, workers=options.workers, size=options.size
    ):
        print(manifest.name, manifest.version, flush=True)


if __name__ == "__main__":
    main()
