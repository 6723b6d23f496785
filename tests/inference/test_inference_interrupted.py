"""Whatever goes wrong, an evaluation ends: no thread stays, and what was finished is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import numpy as np
import pytest
import torch
from evaluation_parts import add_model, bytes_of, seal, table_of

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate, plan_key, plan_numerics, working
from ops.inference.failure import ModelFailed
from ops.inference.inputs import StoredImages
from ops.inference.record import Numerics
from ops.inference.reproducible import reproducible
from ops.inference.rows import RowMaker
from ops.models import ModelEntry
from ops.shards import Manifest, Sample, ShardEntry
from ops.storage import Root, paths

NAME = "imagenetv2/matched_frequency"
OURS = ("decode", "forward", "rows", "read")

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 10
    while (left := ours()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left


def ours() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith(OURS)]


@pytest.fixture
def sealed(root: Root) -> tuple[ModelEntry, Manifest]:
    manifest = seal(root, count=40, per_shard=10)
    return add_model(root), manifest


def published(root: Root, sealed: tuple[ModelEntry, Manifest]) -> int:
    entry, manifest = sealed
    folder = paths.run(entry.name, NAME, plan_key(entry, manifest, plan_numerics(entry, "cpu")))
    assert not root.exists(f"{folder}/run.json")
    return sum(path.endswith(".parquet") for path in root.list(folder))


def run(root: Root, catalog: Catalog, **options: object) -> object:
    return evaluate(root, catalog, "pooled", NAME, batch_size=4, device="cpu", **options)


def test_an_interrupt_ends_it_and_the_rest_is_done_later(
    root: Root, catalog: Catalog, sealed: tuple[ModelEntry, Manifest]
) -> None:
    def interrupt(done: int, _: int) -> None:
        if done >= 24:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(root, catalog, progress=interrupt)
    assert 1 <= published(root, sealed) <= 3
    record = run(root, catalog)
    assert record.n_seen == 40


def test_settings_are_restored_while_the_error_is_still_remembered(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def as_on_gpu(numerics: Numerics) -> AbstractContextManager[None]:
        return reproducible(numerics.model_copy(update={"device": "cuda"}))

    def full(done: int, _: int) -> None:
        assert torch.get_deterministic_debug_mode() == 2
        raise OSError("the terminal is gone")

    monkeypatch.setattr(working, "reproducible", as_on_gpu)
    before = torch.get_deterministic_debug_mode()
    with pytest.raises(ShiftlakeError, match="OSError") as caught:
        run(root, catalog, progress=full)
    assert torch.get_deterministic_debug_mode() == before
    assert not ours()
    assert "terminal is gone" in str(caught.value.found)


def test_a_fault_while_rendering_is_not_the_models(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(self: StoredImages, samples: list[Sample], pixels: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(StoredImages, "finish", broken)
    with pytest.raises(ShiftlakeError, match="no such kernel") as caught:
        run(root, catalog)
    assert not isinstance(caught.value, ModelFailed)


def test_a_fault_while_decoding_comes_after_the_shards_before_it(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare = StoredImages.prepare

    def broken(self: StoredImages, sample: Sample, out: np.ndarray) -> str | None:
        if sample.key == "s00025":
            raise RuntimeError("a decoder's own fault")
        return prepare(self, sample, out)

    monkeypatch.setattr(StoredImages, "prepare", broken)
    with pytest.raises(ShiftlakeError, match="RuntimeError") as caught:
        run(root, catalog)
    assert "a decoder's own fault" in str(caught.value.found)
    assert published(root, sealed) == 2


def test_a_fault_of_the_model_comes_after_the_shards_before_it(
    root: Root, catalog: Catalog, sealed: tuple[ModelEntry, Manifest]
) -> None:
    manifest = sealed[1]
    entry = add_model(root, "fragile", reference="tiny_networks:Fragile")
    with pytest.raises(ShiftlakeError, match="The model raised ValueError") as caught:
        evaluate(root, catalog, "fragile", NAME, batch_size=4, device="cpu")
    assert "fragile on imagenetv2" in str(caught.value.where)
    assert published(root, (entry, manifest)) in range(4)


def test_rows_that_cannot_be_made_end_it(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = RowMaker.rows

    def broken(self: RowMaker, batch: object, outputs: object) -> object:
        if batch.samples[0].key == "s00014":
            raise ArithmeticError("no row of this")
        return rows(self, batch, outputs)

    monkeypatch.setattr(RowMaker, "rows", broken)
    with pytest.raises(ShiftlakeError, match="ArithmeticError"):
        run(root, catalog)
    assert published(root, sealed) == 1


def test_a_disk_that_takes_no_more_ends_it_and_keeps_what_it_took(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finish, taken = working.finish, []

    def full(*arguments: object) -> object:
        if len(taken) == 2:
            raise OSError(28, "No space left on device")
        taken.append(arguments)
        return finish(*arguments)

    monkeypatch.setattr(working, "finish", full)
    with pytest.raises(ShiftlakeError, match="OSError"):
        run(root, catalog)
    assert published(root, sealed) == 2


def test_a_reader_waits_when_nobody_takes_what_it_read(
    root: Root,
    catalog: Catalog,
    sealed: tuple[ModelEntry, Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is read ahead is a few batches, and not the dataset."""
    read, begun, seen = StoredImages.read, [], []

    def counted(self: StoredImages, shard: ShardEntry) -> Iterator[Sample]:
        for sample in read(self, shard):
            begun.append(sample.key)
            yield sample

    def watched(done: int, _: int) -> None:
        time.sleep(0.02)
        seen.append(len(begun) - done)

    monkeypatch.setattr(StoredImages, "read", counted)
    evaluate(root, catalog, "pooled", NAME, batch_size=1, workers=1, device="cpu", progress=watched)
    assert len(begun) == 40
    assert max(seen) < 20


def test_workers_and_batches_of_any_size_give_one_set_of_rows(
    root: Root, catalog: Catalog, sealed: tuple[ModelEntry, Manifest]
) -> None:
    entry, _ = sealed
    found = []
    for workers, size in ((1, 1), (3, 7), (2, 64)):
        root.remove(paths.run_record("pooled", NAME, plan_key_of(root, entry)))
        for path in root.list(paths.run("pooled", NAME, plan_key_of(root, entry))):
            root.remove(path)
        record = evaluate(
            root, catalog, "pooled", NAME, batch_size=size, workers=workers, device="cpu"
        )
        found.append(table_of(root, record)["pred"].to_pylist())
        assert len(bytes_of(root, record)) == 4
    assert found[0] == found[1] == found[2]


def plan_key_of(root: Root, entry: ModelEntry) -> str:
    from ops.shards import read_manifest

    return plan_key(entry, read_manifest(root, NAME), plan_numerics(entry, "cpu"))
