"""A cell that fails says why and leaves the others alone."""

from __future__ import annotations

import dataclasses
import gc
import weakref

import pytest
import torch
from evaluation_parts import add_model, made_samples, seal
from test_inference_evaluate import made_black_jpeg

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import Failure, evaluate, evaluate_many, plan_key, plan_numerics, read_failure
from ops.inference.failure import OutOfMemory, as_error, blamed_on_model
from ops.models import load, read_model
from ops.shards import Manifest, read_manifest, write_dataset
from ops.storage import Root, paths

DARK = "imagenetv2/threshold07"
FINE = ("imagenetv2/matched_frequency", "imagenetv2/top_images")


@pytest.fixture
def three(root: Root) -> list[str]:
    """Three sealed datasets; in the second, the sixth image is black."""
    for name in FINE:
        seal(root, name, 8, per_shard=4)
    samples = made_samples(DARK, 8, lambda _: [0])
    samples[5] = dataclasses.replace(samples[5], image=made_black_jpeg())
    write_dataset(root, DARK, samples, label_space="ilsvrc1000", per_shard=4)
    return [FINE[0], DARK, FINE[1]]


def failure_of(root: Root, dataset: str, model: str = "pooled") -> Failure | None:
    entry = read_model(root, model)
    key = plan_key(entry, read_manifest(root, dataset), plan_numerics(entry))
    return read_failure(root, model, dataset, key)


@pytest.mark.parametrize(
    ("network", "what", "found"),
    [
        ("Overflowing", "no finite numbers", "NaN or infinity for 1 images, first s00005"),
        ("Raising", "The model raised RuntimeError", "no such patch"),
    ],
)
def test_one_cell_fails_with_its_reason_and_the_others_finish(
    root: Root, catalog: Catalog, three: list[str], network: str, what: str, found: str
) -> None:
    add_model(root, reference=f"tiny_networks:{network}")
    told: list[str] = []
    records, failures = evaluate_many(
        root,
        catalog,
        "pooled",
        three,
        batch_size=2,
        on_record=lambda record: told.append(record.dataset),
        on_failure=lambda failed: told.append(f"failed: {failed.dataset}"),
    )
    assert told == [FINE[0], f"failed: {DARK}", FINE[1]]
    assert [record.dataset for record in records] == list(FINE)
    assert all(record.n_seen == record.n_expected == 8 for record in records)
    ((dataset, error),) = failures
    assert dataset == DARK
    assert what in error.what
    assert found in str(error.found)
    assert "second line" not in str(error)
    shard = read_manifest(root, DARK).shards[1].name
    assert shard in str(error.where)
    failure = failure_of(root, DARK)
    assert failure is not None
    assert (failure.what, failure.found, failure.kind) == (error.what, str(error.found), "model")
    assert failure.reason.startswith(what.removeprefix("no finite numbers"))
    assert [failure_of(root, name) for name in FINE] == [None, None]
    # The first shard, which has no such image, is kept for the next try.
    first = shard.replace("000001.tar", "000000.parquet")
    assert any(path.endswith(first) for path in root.list(f"predictions/pooled/{DARK}"))


def test_the_batch_that_a_model_raised_on_is_named(
    root: Root, catalog: Catalog, three: list[str]
) -> None:
    add_model(root, reference="tiny_networks:Raising")
    with pytest.raises(ShiftlakeError) as caught:
        evaluate(root, catalog, "pooled", DARK, batch_size=2)
    assert str(caught.value.where).endswith("in the batch that begins with s00004")


@pytest.mark.parametrize(
    ("network", "outputs", "kind", "what"),
    [
        ("Pooled", 999, "model", "another number of outputs"),
        ("Listing", 1000, "model", "does not return logits"),
        ("Leaving", 1000, "model", "raised SystemExit"),
        ("ShortOfMemory", 1000, "memory", "does not fit into the device's memory"),
    ],
)
def test_a_model_that_never_works_fails_every_cell_by_name(
    root: Root,
    catalog: Catalog,
    three: list[str],
    network: str,
    outputs: int,
    kind: str,
    what: str,
) -> None:
    more = {"fits": 0} if network == "ShortOfMemory" else {}
    add_model(root, reference=f"tiny_networks:{network}", kwargs={"outputs": outputs, **more})
    records, failures = evaluate_many(root, catalog, "pooled", three[:2])
    assert records == []
    assert [failed.dataset for failed in failures] == three[:2]
    for failed in failures:
        assert what in failed.error.what
        assert read_manifest(root, failed.dataset).shards[0].name in str(failed.error.where)
        assert "s00000" in str(failed.error.where)
        failure = failure_of(root, failed.dataset)
        assert failure is not None
        assert failure.kind == kind


def test_a_later_success_removes_the_reason(root: Root, catalog: Catalog) -> None:
    manifest = seal(root, FINE[0], 6, per_shard=3)
    entry = add_model(root)
    shard = root.local_path(paths.shard(FINE[0], manifest.shards[1].name))
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-2000])
    with pytest.raises(ShiftlakeError):
        evaluate(root, catalog, "pooled", FINE[0])
    failure = failure_of(root, FINE[0])
    assert failure is not None
    assert (failure.kind, manifest.shards[1].name in failure.reason) == ("refused", True)
    shard.write_bytes(whole)
    evaluate(root, catalog, "pooled", FINE[0])
    assert failure_of(root, FINE[0]) is None
    assert not root.exists(paths.failure("pooled", FINE[0], _key(root, manifest, entry.name)))


def _key(root: Root, manifest: Manifest, model: str) -> str:
    entry = read_model(root, model)
    return plan_key(entry, manifest, plan_numerics(entry))


def test_what_could_not_begin_is_a_failure_too(
    root: Root, catalog: Catalog, three: list[str]
) -> None:
    add_model(root)
    missing = "imagenet_sketch/clean"
    records, failures = evaluate_many(root, catalog, "pooled", [missing, "no_such", three[0]])
    assert [record.dataset for record in records] == [three[0]]
    assert [failed.dataset for failed in failures] == [missing, "no_such"]
    assert not root.list(f"predictions/pooled/{missing}")


def test_an_interrupt_is_nobodys_failure(root: Root, catalog: Catalog, three: list[str]) -> None:
    add_model(root)

    def interrupt(dataset: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_many(root, catalog, "pooled", three, progress=interrupt)
    assert failure_of(root, three[0]) is None


def test_a_failed_cell_frees_its_network(
    root: Root, catalog: Catalog, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What its frames hold would otherwise be in memory as long as the error is.
    networks: list[weakref.ref[torch.nn.Module]] = []

    def remembered(root: Root, entry: object) -> torch.nn.Module:
        network = load(root, entry)
        networks.append(weakref.ref(network))
        return network

    monkeypatch.setattr("ops.inference.working.load", remembered)
    add_model(root, reference="tiny_networks:Listing")
    _, failures = evaluate_many(root, catalog, "pooled", three)
    assert len(failures) == len(networks) == 3
    assert [network() for network in networks] == [None] * 3


def test_a_network_is_built_once_for_all_datasets(
    root: Root, catalog: Catalog, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[weakref.ref[torch.nn.Module]] = []

    def remembered(root: Root, entry: object) -> torch.nn.Module:
        network = load(root, entry)
        built.append(weakref.ref(network))
        return network

    monkeypatch.setattr("ops.inference.working.load", remembered)
    add_model(root)
    records, _ = evaluate_many(root, catalog, "pooled", three)
    assert len(records) == 3
    assert len(built) == 1
    gc.collect()
    assert built[0]() is None
    assert [record.pass_images for record in records] == [8, 8, 8]


def test_a_model_that_ends_the_program_as_it_is_built_fails_its_cells(
    root: Root, catalog: Catalog, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(root: Root, entry: object) -> torch.nn.Module:
        raise SystemExit(3)

    add_model(root)
    monkeypatch.setattr("ops.inference.working.load", leave)
    records, failures = evaluate_many(root, catalog, "pooled", three[:2])
    assert (records, [failed.dataset for failed in failures]) == ([], three[:2])
    failure = failure_of(root, three[0])
    assert failure is not None
    assert (failure.kind, failure.found) == ("model", "SystemExit 3")


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (torch.AcceleratorError("CUDA error: an illegal memory access was encountered"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), True),
        (torch.OutOfMemoryError("CUDA out of memory."), False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), False),
        (RuntimeError("no such patch"), False),
    ],
)
def test_after_a_lost_gpu_the_other_cells_have_a_process_of_their_own(
    root: Root,
    catalog: Catalog,
    monkeypatch: pytest.MonkeyPatch,
    error: RuntimeError,
    lost: bool,
) -> None:
    asked: list[object] = []

    def evaluated(*_: object, devices: object, **__: object) -> None:
        asked.append(devices)
        with blamed_on_model("pooled", "shard", "s00000"):
            raise error

    def refused() -> None:
        if lost:
            raise RuntimeError("CUDA error: again")

    monkeypatch.setattr("ops.inference.cell.evaluate", evaluated)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "empty_cache", refused)
    _, failures = evaluate_many(root, catalog, "pooled", [FINE[0], DARK])
    assert asked == [None, ("cuda:1",) if lost else None]
    assert str(error) in str(failures[0].error.found)


def test_a_damaged_reason_says_so(root: Root) -> None:
    root.write_json(paths.failure("m", "b/c", "0" * 16), {"what": "half"})
    with pytest.raises(ShiftlakeError, match="cannot be read"):
        read_failure(root, "m", "b/c", "0" * 16)
    assert read_failure(root, "m", "b/c", "1" * 16) is None


def test_memory_of_the_host_is_memory() -> None:
    full = RuntimeError("[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate")
    with pytest.raises(OutOfMemory), blamed_on_model("m", "s.tar", "key"):
        raise full
    assert Failure.of(as_error(MemoryError(), "m on b/c")).kind == "memory"
    assert Failure.of(as_error(ZeroDivisionError("division by zero"), "m")).kind == "error"
