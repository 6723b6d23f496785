"""Render a part of one source shard: every image is decoded once, for all datasets that lack it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ops.errors import ShiftlakeError
from ops.pixels import UndecodableImage, decode
from ops.rendering.engines import Textures, engine
from ops.rendering.recipe import Recipe
from ops.rendering.samples import reason_of, rendered_key, rendered_sample
from ops.shards import Manifest, Sample, ShardEntry, ShardRecord, ShardWriter, read_shard
from ops.storage import Root

Result = TypeVar("Result")


@dataclass(frozen=True)
class Output:
    """One shard to be made: of which dataset, under which name, by which recipe."""

    dataset: str
    version: str
    shard: str
    recipe: Recipe


@dataclass(frozen=True)
class Part:
    """All a worker needs to render some samples of a source shard.

    Parameters
    ----------
    root : Root
    source : Manifest
        The sealed dataset that is rendered.
    entry : ShardEntry
        Which of its shards.
    start, stop : int
        Which of the shard's samples, counted in the order of the rendered keys.
    outputs : tuple of Output
        Recipes that share a pass.
    textures : tuple of uint8 arrays, or None
        The frost photographs, where an output shows them.
    threads : int
        Images rendered at a time.
    progress : callable, optional
        Called with the number of samples done, where the worker shares this process.
    """

    root: Root
    source: Manifest
    entry: ShardEntry
    start: int
    stop: int
    outputs: tuple[Output, ...]
    textures: Textures | None
    threads: int = 1
    progress: Callable[[int], None] | None = None


def render_part(part: Part) -> list[ShardRecord]:
    """Render and publish one shard of every output.

    Nothing is published before the last sample is rendered; then each shard appears whole, with
    its note. What is held in memory is the source shard.

    Returns
    -------
    list of ShardRecord
        In the order of the outputs.

    Raises
    ------
    ShiftlakeError
        If the source shard is not what was sealed, or the disk is full; nothing half is left.
    """
    outputs = part.outputs
    made = engine(outputs[0].recipe.engine)
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                ShardWriter(part.root, output.dataset, output.version, output.shard)
            )
            for output in outputs
        ]
        samples = sources(part.root, part.source, part.entry)[part.start : part.stop]
        rendered = _in_order(partial(_rendered, part), samples, part.threads)
        for number, (sample, found) in enumerate(rendered):
            if part.progress:
                part.progress(number)
            if isinstance(found, str):
                # Counted and told, never left out: expected = seen + failed.
                for output, writer in zip(outputs, writers, strict=True):
                    writer.add(_failed(sample, output, made.EXTENSION, found))
                continue
            for output, writer, data in zip(outputs, writers, found, strict=True):
                writer.add(
                    rendered_sample(
                        sample,
                        output.dataset,
                        output.recipe,
                        data,
                        extension=made.EXTENSION,
                        format=made.FORMAT,
                    )
                )
        return [writer.finish() for writer in writers]


def _rendered(part: Part, sample: Sample) -> list[bytes] | str:
    """Files of one image, in the order of the outputs; or why it cannot be decoded."""
    recipes = [output.recipe for output in part.outputs]
    made = engine(recipes[0].engine)
    try:
        pixels = made.prepare(decode(sample.image), recipes[0])
    except UndecodableImage as error:
        return reason_of(error)
    key = str(sample.meta["source_key"])
    found = dict(made.render(pixels, key, recipes, part.textures))
    return [found[position] for position in range(len(recipes))]


def _in_order(
    fn: Callable[[Sample], Result], samples: Sequence[Sample], threads: int
) -> Iterator[tuple[Sample, Result]]:
    """Each sample with what `fn` makes of it; a few more are being made than were asked for."""
    if threads == 1:
        yield from ((sample, fn(sample)) for sample in samples)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="render") as pool:
        ahead: deque[tuple[Sample, Future[Result]]] = deque()
        try:
            for sample in samples:
                ahead.append((sample, pool.submit(fn, sample)))
                if len(ahead) > threads + 1:
                    done, future = ahead.popleft()
                    yield done, future.result()
            while ahead:
                done, future = ahead.popleft()
                yield done, future.result()
        finally:
            for _, future in ahead:
                future.cancel()


def sources(
    root: Root, manifest: Manifest, entry: ShardEntry, *, hash: bool = True
) -> list[Sample]:
    """Samples of a source shard in the order of the rendered keys.

    Raises
    ------
    ShiftlakeError
        If the shard is not what was sealed, or holds no images.
    """
    samples = list(_images(manifest, entry, read_shard(root, manifest, entry, hash=hash)))
    return sorted(samples, key=rendered_key)


def _images(manifest: Manifest, entry: ShardEntry, samples: Iterator[Sample]) -> Iterator[Sample]:
    for sample in samples:
        if sample.image is None or sample.extension == "mp4":
            raise ShiftlakeError(
                "Only images can be rendered, and this dataset holds none.",
                expected="a dataset of images",
                found="labels alone" if sample.image is None else "sequences in mp4",
                where=f"{manifest.name}, {entry.name}",
                remedy="name another dataset in `derived_from`",
            )
        yield sample


def _failed(sample: Sample, output: Output, extension: str, reason: str) -> Sample:
    return rendered_sample(
        sample, output.dataset, output.recipe, b"", extension=extension, format=None, reason=reason
    )
