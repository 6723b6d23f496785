"""The record of a finished evaluation, from what was evaluated and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ops.errors import ShiftlakeError
from ops.inference.expected import expected_rows, frames
from ops.inference.files import Finished
from ops.inference.plan import CODE_VERSION, class_map_sha256
from ops.inference.protocol import cropped_side, described
from ops.inference.record import Numerics, RunRecord
from ops.inference.schema import SCHEMA_VERSION
from ops.models import ModelEntry
from ops.shards import Manifest


@dataclass(frozen=True)
class Effort:
    """What the process that finished an evaluation spent on it.

    Attributes
    ----------
    started : datetime
    seconds : float
    computed : int
        Rows it computed; those of shards finished earlier are not among them.
    batch_size, device_count : int
    device_name : str
        Of all devices, where they are of several kinds.
    versions : mapping of str to str
    pass_images : int or None
        Images at most in a pass of its devices, as it was at the end.
    """

    started: datetime
    seconds: float
    computed: int
    batch_size: int
    device_count: int
    device_name: str
    versions: Mapping[str, str]
    pass_images: int | None


def record_of(
    key: str,
    entry: ModelEntry,
    manifest: Manifest,
    numerics: Numerics,
    finished: Mapping[str, Finished],
    effort: Effort,
) -> RunRecord:
    """The record of an evaluation all of whose shards are finished.

    Parameters
    ----------
    key : str
        The result key.
    entry : ModelEntry
    manifest : Manifest
    numerics : Numerics
    finished : mapping of str to Finished
        By shard name.
    effort : Effort

    Raises
    ------
    ShiftlakeError
        If the rows of all shards are not those of the dataset.
    """
    files = [finished[shard.name] for shard in manifest.shards]
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
    logits = [there.logits for there in files if there.logits is not None]
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
        schema_version=SCHEMA_VERSION,
        head=entry.head,
        label_space=manifest.label_space,
        mask=manifest.mask,
        n_expected=total,
        n_seen=rows - failed,
        n_error=failed,
        started_at=effort.started.isoformat(timespec="seconds"),
        ended_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(effort.seconds, 3),
        images_per_second=round(effort.computed / effort.seconds, 1),
        device_name=effort.device_name,
        device_count=effort.device_count,
        batch_size=effort.batch_size,
        pass_images=effort.pass_images,
        versions=dict(effort.versions),
        synthetic=manifest.synthetic or entry.synthetic,
        files=tuple(there.file for there in files),
        # Of some shards only they would look like a whole.
        logit_files=tuple(logits) if len(logits) == len(files) else (),
    )
