"""One evaluation: a registered model on a sealed dataset, shard by shard, exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference.devices import check_devices, work_on
from ops.inference.environment import device_name, versions
from ops.inference.expected import expected_rows
from ops.inference.failure import failure_kept
from ops.inference.files import whole
from ops.inference.finished import finished_before
from ops.inference.job import Job
from ops.inference.plan import Device, plan_key, plan_numerics
from ops.inference.record import RunRecord, read_run
from ops.inference.recording import Effort, record_of
from ops.inference.working import Kept, Used, work
from ops.models import read_model
from ops.models.imported import refuse_imported
from ops.parallel import usable_cpus
from ops.shards import read_manifest
from ops.storage import Root, open_root, paths

# A GPU wants larger batches; where they do not fit they are halved.
BATCH_SIZE = {"cpu": 64, "cuda": 256}


def evaluate(
    root: Root | str,
    catalog: Catalog,
    model_name: str,
    dataset: str,
    *,
    batch_size: int | None = None,
    workers: int | None = None,
    device: Device = "auto",
    devices: Sequence[str] | None = None,
    logits: bool = False,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
    kept: Kept | None = None,
) -> RunRecord:
    """Run a model over a dataset and store one row a sample, or a frame of its sequence.

    Datasets that are stored and datasets that are rendered on the fly are evaluated alike.
    Finished shards of an interrupted evaluation are kept, and a finished evaluation returns at
    once, unless one of its files is gone or has another size: then that shard is done again. On
    a CPU the rows depend neither on `workers` nor on the number of cores or devices, and two
    evaluations write the same bytes.

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
    batch_size : int or None
        Images at most in a forward pass on a GPU, or handed to a CPU's threads at once; by
        default 64 on a CPU and 256 on a GPU. Batches never hold samples of two shards.
    workers : int or None
        Decoding threads in all; by default the usable CPUs.
    device : {"auto", "cpu", "cuda"}
        ``auto`` takes a GPU if there is one.
    devices : sequence of str, optional
        Several devices instead of one, each with a process of its own, taking shards from one
        list: ``("cuda:0", "cuda:1")``, or ``("cpu", "cpu")``.
    logits : bool
        Whether to keep the model's outputs as well, float16, some 1.8 KB an image; they are read
        with :func:`ops.inference.logits.read_logits`. An evaluation that was finished without
        them is done again.
    progress : callable or None
        Called as ``progress(images done, images in all)``.
    log : callable or None
        Called with a line of text now and then.
    kept : Kept or None
        Has the network of the evaluation before, if it was of this model, and has this one's
        after it. Not used with `devices`.

    Returns
    -------
    RunRecord
        As stored in ``run.json``, which is written last.

    Raises
    ------
    ShiftlakeError
        If model or dataset do not exist or do not fit, a shard is damaged, the model raises or
        returns something else than logits, or the rows of a shard are not exactly its samples and
        frames. Shards finished before it stay, and ``failure.json`` beside them says why.
    """
    root = open_root(root)
    manifest = read_manifest(root, catalog.dataset(dataset).name)
    entry = read_model(root, model_name)
    numerics = plan_numerics(entry, device if devices is None else check_devices(devices))
    batch_size = BATCH_SIZE[numerics.device] if batch_size is None else batch_size
    job = Job(
        root,
        catalog,
        entry,
        manifest,
        numerics,
        plan_key(entry, manifest, numerics),
        batch_size,
        logits,
    )
    if (sealed := _sealed(job)) is not None:
        return sealed
    refuse_imported(entry, f"{entry.name} on {manifest.name}")
    if batch_size < 1 or (workers is not None and workers < 1):
        raise ShiftlakeError(
            "An evaluation needs at least one image a batch and one worker.",
            expected="batch_size and workers of 1 or more",
            found=f"batch_size {batch_size}, workers {workers}",
            where=f"{entry.name} on {manifest.name}",
            remedy="give larger numbers",
        )
    with failure_kept(root, entry.name, manifest.name, job.key):
        record = _evaluated(job, workers or usable_cpus(), devices, progress, log or _unheard, kept)
    return record


def _sealed(job: Job) -> RunRecord | None:
    try:
        record = read_run(job.root, job.entry.name, job.manifest.name, job.key)
    except ShiftlakeError:
        # Written again from the files, which say themselves what they are.
        return None
    there = record is not None and whole(job.root, job.folder, record, job.logits)
    return record if there else None


def _evaluated(
    job: Job,
    workers: int,
    devices: Sequence[str] | None,
    progress: Callable[[int, int], None] | None,
    log: Callable[[str], None],
    kept: Kept | None,
) -> RunRecord:
    started, clock = datetime.now(UTC), time.perf_counter()
    shards, total = job.manifest.shards, expected_rows(job.manifest)
    finished = finished_before(job.root, job.folder, job.key, job.manifest, job.logits)
    done = already = sum(there.file.rows for there in finished.values())
    if finished:
        log(f"{len(finished)} of {len(shards)} shards were finished before")
    todo = [shard for shard in shards if shard.name not in finished]
    used: list[Used] = []
    if todo:
        steps = (
            work(job, todo, workers, kept)
            if devices is None
            else work_on(devices[: len(todo)], job, todo, workers)
        )
        # Else what it holds would be given back only when nobody remembers the error.
        with closing(steps):
            for step in steps:
                if isinstance(step, Used):
                    used.append(step)
                elif isinstance(step, int):
                    done += step
                    if progress:
                        progress(done, total)
                else:
                    finished[step[0]] = step[1]
    seconds = time.perf_counter() - clock
    if not used:
        kind, first = job.numerics.device, devices[0] if devices else job.numerics.device
        used = [Used(device_name(first), versions(kind, job.entry.kind))]
    effort = Effort(
        started,
        seconds,
        done - already,
        job.batch_size,
        device_count=1 if devices is None else len(devices),
        device_name=", ".join(sorted({each.device_name for each in used})),
        versions=used[0].versions,
        pass_images=min((each.images for each in used if each.images), default=None),
    )
    record = record_of(job.key, job.entry, job.manifest, job.numerics, finished, effort)
    path = paths.run_record(job.entry.name, job.manifest.name, job.key)
    job.root.write_json(path, record.model_dump(mode="json"))
    log(f"{record.n_seen:,} of {record.n_expected:,} images, {record.images_per_second:,.0f}/s")
    return record


def _unheard(_: str) -> None:
    pass
