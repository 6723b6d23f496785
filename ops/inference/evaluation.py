"""One evaluation: a registered model on a sealed dataset, shard by shard, exactly once."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
import PIL
import pyarrow as pa
import torch

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference.batches import Batch, batches
from ops.inference.expected import expected_rows, frames
from ops.inference.files import Finished, kept, publish, whole
from ops.inference.forward import Forward, reproducible
from ops.inference.inputs import Input
from ops.inference.opening import open_input
from ops.inference.plan import CODE_VERSION, Device, class_map_sha256, plan_key, plan_numerics
from ops.inference.projection import projection
from ops.inference.protocol import cropped_side, described
from ops.inference.record import Numerics, RunRecord, read_run
from ops.inference.rows import RowMaker
from ops.models import ModelEntry, load, read_model
from ops.parallel import usable_cpus
from ops.shards import Manifest, ShardEntry, read_manifest
from ops.storage import Root, open_root, paths


def evaluate(
    root: Root | str,
    catalog: Catalog,
    model_name: str,
    dataset: str,
    *,
    batch_size: int = 64,
    workers: int | None = None,
    device: Device = "auto",
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> RunRecord:
    """Run a model over a dataset and store one row a sample, or a frame of its sequence.

    Datasets that are stored and datasets that are rendered on the fly are evaluated alike.
    Finished shards of an interrupted evaluation are kept, and a finished evaluation returns at
    once, unless one of its files is gone or has another size: then that shard is done again. On
    a CPU the rows do not depend on `workers`, and two evaluations write the same bytes.

    Parameters
    ----------
    root : Root or str
        The storage root, local or remote.
    catalog : Catalog
        Resolves the dataset's name.
    model_name : str
        A registered model.
    dataset : str
        ``<benchmark>/<condition>``, or the benchmark alone where it has one condition.
    batch_size : int
        Images at most in a forward pass. Batches never hold samples of two shards.
    workers : int or None
        Decoding threads; by default the usable CPUs.
    device : {"auto", "cpu", "cuda"}
        ``auto`` takes a GPU if there is one.
    progress : callable or None
        Called as ``progress(images done, images in all)``.
    log : callable or None
        Called with a line of text now and then.

    Returns
    -------
    RunRecord
        As stored in ``run.json``, which is written last.

    Raises
    ------
    ShiftlakeError
        If model or dataset do not exist or do not fit, a shard is damaged, or the rows of a
        shard are not exactly its samples and frames. Shards finished before it stay.
    """
    root = open_root(root)
    started, clock = datetime.now(UTC), time.perf_counter()
    manifest = read_manifest(root, catalog.dataset(dataset).name)
    entry = read_model(root, model_name)
    numerics = plan_numerics(entry, device)
    key = plan_key(entry, manifest, numerics)
    folder = paths.run(entry.name, manifest.name, key)
    if (sealed := _sealed(root, folder, entry, manifest, key)) is not None:
        return sealed
    if batch_size < 1 or (workers is not None and workers < 1):
        raise ShiftlakeError(
            "An evaluation needs at least one image a batch and one worker.",
            expected="batch_size and workers of 1 or more",
            found=f"batch_size {batch_size}, workers {workers}",
            where=f"{entry.name} on {manifest.name}",
            remedy="give larger numbers",
        )
    maker = RowMaker(key, entry, manifest, projection(entry, manifest, catalog.label_spaces))
    say = log or (lambda _: None)
    n_frames, total = frames(manifest), expected_rows(manifest)
    finished = {
        shard.name: there
        for shard in manifest.shards
        if (there := kept(root, folder, key, shard, n_frames)) is not None
    }
    done = already = sum(there.file.rows for there in finished.values())
    if finished:
        say(f"{len(finished)} of {len(manifest.shards)} shards were finished before")
    todo = [shard for shard in manifest.shards if shard.name not in finished]
    if todo:
        forward = Forward(load(root, entry), entry.transform, numerics, entry.name)
        workers = workers or usable_cpus()
        given = open_input(root, catalog, manifest, entry.transform, numerics, workers)
        source = batches(
            todo,
            given,
            batch_size=max(1, batch_size // (n_frames or 1)),
            workers=workers,
            pinned=numerics.device == "cuda",
        )
        rows: list[pa.RecordBatch] = []
        for item in _rows(source, given, forward, maker, batch_size):
            if isinstance(item, ShardEntry):
                finished[item.name] = publish(root, folder, key, item, rows, n_frames)
                rows = []
                continue
            rows.append(item)
            done += item.num_rows
            if progress:
                progress(done, total)
    files = [finished[shard.name] for shard in manifest.shards]
    seconds = time.perf_counter() - clock
    record = _record(entry, manifest, numerics, key, files, started, seconds, done - already)
    path = paths.run_record(entry.name, manifest.name, key)
    root.write_json(path, record.model_dump(mode="json"))
    say(f"{record.n_seen:,} of {record.n_expected:,} images, {record.images_per_second:,.0f}/s")
    return record


def _sealed(
    root: Root, folder: str, entry: ModelEntry, manifest: Manifest, key: str
) -> RunRecord | None:
    try:
        record = read_run(root, entry.name, manifest.name, key)
    except ShiftlakeError:
        # Written again from the files, which say themselves what they are.
        return None
    return record if record is not None and whole(root, folder, record) else None


def _rows(
    source: Iterator[Batch | ShardEntry],
    given: Input,
    forward: Forward,
    maker: RowMaker,
    batch_size: int,
) -> Iterator[pa.RecordBatch | ShardEntry]:
    # One batch stays behind on the device: its rows are made while the next one is computed.
    behind: tuple[Batch, torch.Tensor] | None = None
    with reproducible(forward.numerics):
        for item in source:
            ahead = None
            if isinstance(item, Batch):
                pixels = given.finish(item.samples, item.pixels)
                # One sequence may hold more frames than the batch size.
                logits = [forward(part) for part in torch.split(pixels, batch_size)]
                ahead = item, logits[0] if len(logits) == 1 else torch.cat(logits)
            if behind is not None:
                batch, outputs = behind
                yield maker.rows(batch, outputs.cpu().numpy())
            behind = ahead
            if isinstance(item, ShardEntry):
                yield item


def _record(
    entry: ModelEntry,
    manifest: Manifest,
    numerics: Numerics,
    key: str,
    files: list[Finished],
    started: datetime,
    seconds: float,
    computed: int,
) -> RunRecord:
    rows, total = sum(there.file.rows for there in files), expected_rows(manifest)
    if rows != total:
        raise ShiftlakeError(
            "A dataset was not evaluated exactly once.",
            expected=f"{total:,} rows, as its manifest says",
            found=f"{rows:,} rows in {len(files)} shards",
            where=manifest.name,
            remedy="build the dataset again: its manifest contradicts itself",
        )
    failed = sum(there.n_error for there in files)
    gpu = numerics.device == "cuda"
    cropped = cropped_side(manifest.parameters)
    return RunRecord(
        run_id=key,
        key=key,
        model=entry.name,
        dataset=manifest.name,
        benchmark=manifest.benchmark,
        condition=manifest.condition,
        dataset_version=manifest.version,
        weights_sha256=entry.weights.sha256 if entry.weights else "",
        reference=entry.reference,
        arguments=entry.kwargs,
        class_map_sha256=class_map_sha256(entry),
        model_label_space=entry.label_space,
        transform=entry.transform.model_dump(mode="json"),
        transform_hash=entry.transform.hash,
        protocol=described(entry.transform, cropped),
        cropped=cropped,
        frames=frames(manifest),
        frame_reference=manifest.parameters.get("reference"),
        numerics=numerics,
        code_version=CODE_VERSION,
        label_space=manifest.label_space,
        mask=manifest.mask,
        n_expected=total,
        n_seen=rows - failed,
        n_error=failed,
        started_at=started.isoformat(timespec="seconds"),
        ended_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
        images_per_second=round(computed / seconds, 1),
        device_name=torch.cuda.get_device_name() if gpu else platform.machine(),
        versions={
            "torch": torch.__version__,
            "pillow": PIL.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        synthetic=manifest.synthetic or entry.synthetic,
        files=tuple(there.file for there in files),
    )
