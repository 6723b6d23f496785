"""Mine in a process of its own, which dies at a chosen moment.

mine_in_process.py ROOT SOURCE [--workers N] [--die-after SHARDS] [--die-inside SAMPLES]
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
from pathlib import Path

from ops.catalog import load
from ops.shards import ShardRecord, ShardWriter
from ops.storage import open_root
from ops.video.mining import layout, mine


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("source", type=Path, help="a pickled source")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--die-after", type=int)
    parser.add_argument("--die-inside", type=int)
    options = parser.parse_args()
    layout.SETS_A_SHARD = 1
    finished = added = 0
    finish, add = ShardWriter.finish, ShardWriter.add

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def counted_finish(self: ShardWriter) -> ShardRecord:
        nonlocal finished
        record = finish(self)
        finished += 1
        if finished == options.die_after:
            die()
        return record

    def counted_add(self: ShardWriter, sample: object) -> None:
        nonlocal added
        add(self, sample)  # type: ignore[arg-type]
        added += 1
        if added == options.die_inside:
            die()

    def progress(dataset: str, done: int, total: int) -> None:
        if options.workers > 1 and done == options.die_after:
            die()

    ShardWriter.finish = counted_finish  # type: ignore[method-assign]
    ShardWriter.add = counted_add  # type: ignore[method-assign,assignment]
    source = pickle.loads(options.source.read_bytes())
    mine(open_root(options.root), load(), source, workers=options.workers, progress=progress)


if __name__ == "__main__":
    main()
