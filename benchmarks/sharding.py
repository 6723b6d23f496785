"""How fast archives become shards against tar copying them, and how much memory that takes.

The archive has the shape of ImageNet's validation set. All contestants find it in the page cache;
their runs alternate, and the table shows medians. Only ours hashes what it writes, so tar stands
there once as it is and once with that duty.

    python benchmarks/sharding.py --files 6000 --kib 110 --runs 5
    python benchmarks/sharding.py --memory
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ops.catalog import classes, load
from ops.fetch import fetch
from ops.shards import build, verify
from ops.shards.tarball import TarWriter
from ops.storage import open_root

RESULT = Path(__file__).parent / "results" / "sharding.json"
BAR = 0.6
MEMORY_BAR = 1.5 * (1 << 30)


def image(number: int, size: int) -> bytes:
    """Bytes that begin like a JPEG and do not compress; `size` varies by a third around."""
    draw = random.Random(number)
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + draw.randbytes(
        int(size * draw.uniform(0.67, 1.33))
    )


def val_archive(path: Path, files: int, size: int) -> dict[str, int]:
    """Write a tar as ImageNet's validation set comes; return the counts it must give."""
    members = ((f"ILSVRC2012_val_{n:08d}.JPEG", image(n, size)) for n in range(1, files + 1))
    with path.open("wb") as file:
        tar = TarWriter(file)
        tar.add(members)
        tar.close()
    return {"expected": files, "expected_classes": len(set(classes.val_labels()[:files]))}


def train_archive(path: Path, members: int) -> dict[str, int]:
    """Write a tar of tars as ImageNet's training set comes, with tiny files."""
    wnids = classes.ilsvrc().wnids
    with path.open("wb") as file, tempfile.TemporaryFile() as inner:
        outer = TarWriter(file)
        for label, wnid in enumerate(wnids):
            inner.seek(0)
            inner.truncate()
            tar = TarWriter(inner)
            numbers = range(label, members, len(wnids))
            tar.add((f"{wnid}_{n}.JPEG", b"\xff\xd8\xff\xe0 tiny") for n in numbers)
            tar.close()
            inner.seek(0)
            outer.add([(f"{wnid}.tar", inner.read())])
        outer.close()
    return {"expected": members, "expected_classes": min(members, len(wnids))}


class Lake:
    """A storage root with the archive fetched into it; only the shards go between two runs."""

    def __init__(self, folder: Path, archive: Path, dataset: str, counts: dict[str, int]) -> None:
        self.dataset = dataset
        self.root = open_root(folder / "lake")
        file_id = f"ilsvrc2012_{dataset.rpartition('/')[2]}"
        url = {"url": archive.as_uri(), "bytes": archive.stat().st_size}
        # The true hashes must not be asked of a made-up archive.
        unknown = dict.fromkeys(("md5", "sha1", "sha256"))
        overlay = {
            "benchmarks": [{"id": "imagenet-1k", "files": [{"id": file_id, **url, **unknown}]}],
            "datasets": {dataset: {**counts, "per_class": None, "synthetic": True}},
        }
        self.overlay = folder / "overlay.json"
        self.overlay.write_text(json.dumps(overlay))
        self.catalog = load(str(self.overlay))
        fetch(self.root, self.catalog.file("imagenet-1k", file_id))

    def build(self, workers: int) -> None:
        """Build and seal the dataset."""
        build(self.root, self.catalog, self.dataset, workers=workers)

    def clear(self) -> None:
        """Forget the dataset, and keep the archive."""
        self.root.remove_folder("shards")


def tar(*arguments: object) -> None:
    subprocess.run(["tar", *map(str, arguments)], check=True)


def tar_append(archive: Path, folder: Path) -> None:
    tar("-cf", folder / "copy.tar", "-T", "/dev/null")
    tar("-Af", folder / "copy.tar", archive)


def tar_append_and_hash(archive: Path, folder: Path) -> None:
    tar_append(archive, folder)
    subprocess.run(["sha256sum", folder / "copy.tar"], check=True, stdout=subprocess.DEVNULL)


def tar_repack(archive: Path, folder: Path) -> None:
    (folder / "loose").mkdir()
    tar("-xf", archive, "-C", folder / "loose")
    tar("-cf", folder / "copy.tar", "-C", folder / "loose", ".")


def shard_writer(loose: Path, folder: Path) -> None:
    # Not at the top: worker processes import this file, and this would charge torch to them.
    import webdataset as wds

    labels = classes.val_labels()
    pattern = str(folder / "val-%06d.tar")
    with wds.ShardWriter(pattern, maxcount=2500, maxsize=128 << 20, verbose=0) as sink:
        for path in sorted(loose.iterdir()):
            label = labels[int(path.stem.rpartition("_")[2]) - 1]
            meta = {"source_key": path.stem, "labels": [label]}
            sample = {"__key__": path.stem, "jpg": path.read_bytes(), "cls": label, "json": meta}
            sink.write(sample)


def compare(options: argparse.Namespace, base: Path) -> dict[str, Any]:
    archive = base / "ILSVRC2012_img_val.tar"
    lake = Lake(base, archive, "imagenet_1k/val", val_archive(archive, options.files, options.size))
    loose = base / "loose"
    loose.mkdir()
    tar("-xf", archive, "-C", loose)
    contestants: dict[str, Callable[[Path], None]] = {
        "build, 2 workers (with hash)": lambda folder: lake.build(2),
        "build, 1 worker (with hash)": lambda folder: lake.build(1),
        "tar -A": lambda folder: tar_append(archive, folder),
        "tar -A, sha256sum": lambda folder: tar_append_and_hash(archive, folder),
        "tar x, tar c": lambda folder: tar_repack(archive, folder),
        "webdataset.ShardWriter": lambda folder: shard_writer(loose, folder),
    }
    seconds: dict[str, list[float]] = {each: [] for each in contestants}
    for _ in range(options.runs):
        for each, work in contestants.items():
            seconds[each].append(measure(work, base))
            if each.startswith("build"):
                found = verify(lake.root, lake.dataset)
                if found.problems or found.n_samples != options.files:
                    raise SystemExit(f"the build is wrong: {found}")
                lake.clear()
    return report(seconds, archive.stat().st_size / 1e6, options.files)


def measure(work: Callable[[Path], None], base: Path) -> float:
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        # What the run before left to be written back must not be charged to this one.
        os.sync()
        start = time.perf_counter()
        work(folder)
        return time.perf_counter() - start
    finally:
        shutil.rmtree(folder)


def report(seconds: dict[str, list[float]], megabytes: float, files: int) -> dict[str, Any]:
    speed = {each: megabytes / statistics.median(found) for each, found in seconds.items()}
    tars = [each for each in speed if each.startswith("tar")]
    runs = len(next(iter(seconds.values())))
    print(f"{files:,} files, {megabytes:,.0f} MB; median of {runs} alternating runs\n")
    print(f"{'':32}{'s':>7}{'MB/s':>8}" + "".join(f"{f'x {each}':>27}" for each in tars))
    for each, found in speed.items():
        ratios = "".join(f"{found / speed[peer]:27.2f}" for peer in tars)
        print(f"{each:32}{megabytes / found:7.2f}{found:8.0f}{ratios}")
    print(f"\nbar: at least {BAR} x tar copying the archive, hashing included")
    return {
        "files": files,
        "megabytes": round(megabytes, 1),
        "seconds": {each: [round(value, 3) for value in found] for each, found in seconds.items()},
        "megabytes_per_second": {each: round(found, 1) for each, found in speed.items()},
        "ratio_to": {
            peer: {each: round(found / speed[peer], 3) for each, found in speed.items()}
            for peer in tars
        },
    }


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def resident(pid: int) -> int:
    """Bytes resident in a family of processes, shared pages counted once for each."""
    total = 0
    for each in family(pid):
        try:
            fields = Path(f"/proc/{each}/statm").read_text().split()
        except OSError:
            continue
        total += int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def build_there(url: str, overlay: str, dataset: str, workers: int) -> None:
    build(open_root(url), load(overlay), dataset, workers=workers)


def peak_of_build(lake: Lake, workers: int) -> int:
    """Peak resident bytes of a build in a process of its own, workers included."""
    arguments = (lake.root.url, str(lake.overlay), lake.dataset, workers)
    child = get_context("spawn").Process(target=build_there, args=arguments)
    child.start()
    assert child.pid is not None
    peak = 0
    ended = threading.Event()
    threading.Thread(target=lambda: (child.join(), ended.set()), daemon=True).start()
    while not ended.wait(0.01):
        try:
            peak = max(peak, resident(child.pid))
        except OSError:
            break
    child.join()
    if child.exitcode != 0:
        raise SystemExit("the build failed")
    return peak


def memory(options: argparse.Namespace, base: Path) -> dict[str, Any]:
    peaks: dict[str, int] = {}
    for name, dataset, make in (
        (
            f"{options.members:,} tiny files",
            "imagenet_1k/train",
            lambda path: train_archive(path, options.members),
        ),
        (
            f"{options.gigabytes} GB",
            "imagenet_1k/val",
            lambda path: val_archive(path, options.gigabytes * 10_000, 100_000),
        ),
    ):
        folder = Path(tempfile.mkdtemp(dir=base))
        archive = folder / "archive.tar"
        counts = make(archive)
        start = time.perf_counter()
        peaks[name] = peak_of_build(Lake(folder, archive, dataset, counts), workers=2)
        taken = time.perf_counter() - start
        peak = peaks[name] / (1 << 20)
        print(f"{name}: peak of {peak:,.0f} MiB in all processes together, {taken:.0f} s")
        shutil.rmtree(folder)
    print(f"bar: at most {MEMORY_BAR / (1 << 20):,.0f} MiB")
    return {"peak_resident_bytes": peaks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=6000, help="images in the archive")
    parser.add_argument("--kib", type=int, default=110, help="mean size of an image")
    parser.add_argument("--runs", type=int, default=5, help="runs of each contestant")
    parser.add_argument("--folder", type=Path, default=None, help="disk to write to")
    parser.add_argument("--memory", action="store_true", help="measure memory instead of speed")
    parser.add_argument("--members", type=int, default=300_000, help="tiny files (memory)")
    parser.add_argument("--gigabytes", type=int, default=2, help="size of the archive (memory)")
    options = parser.parse_args()
    options.size = options.kib << 10
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        found = memory(options, Path(name)) if options.memory else compare(options, Path(name))
    RESULT.parent.mkdir(exist_ok=True)
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    kept["memory" if options.memory else "speed"] = {**found, "machine": machine}
    RESULT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
