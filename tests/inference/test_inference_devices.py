"""Several devices: a process each, and the bytes of one."""

from __future__ import annotations

import pickle
import platform
import threading
from pathlib import Path

import pytest
import torch
from evaluation_parts import TINY, add_model, bytes_of, seal

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate, plan_key, plan_numerics
from ops.inference.devices import _Fault, check_devices
from ops.inference.failure import OutOfMemory
from ops.models import ModelEntry, register
from ops.storage import Root, open_root, paths

NAME = "imagenetv2/matched_frequency"


@pytest.mark.timeout(120)
def test_two_devices_write_the_bytes_of_one(root: Root, catalog: Catalog, tmp_path: Path) -> None:
    seal(root, count=60, per_shard=6)
    add_model(root)
    steps: list[int] = []
    two = evaluate(
        root,
        catalog,
        "pooled",
        NAME,
        batch_size=4,
        devices=("cpu", "cpu"),
        progress=lambda done, _: steps.append(done),
    )
    assert (two.n_seen, two.device_count, len(two.files)) == (60, 2, 10)
    assert (two.device_name, two.pass_images) == (platform.machine(), 8)
    assert steps == sorted(steps)
    assert (len(steps), steps[-1]) == (20, 60)
    alone = open_root(tmp_path / "alone")
    seal(alone, count=60, per_shard=6)
    add_model(alone)
    one = evaluate(alone, catalog, "pooled", NAME, batch_size=4, device="cpu")
    assert (one.key, one.device_count) == (two.key, 1)
    assert bytes_of(alone, one) == bytes_of(root, two)


@pytest.mark.timeout(120)
def test_a_fault_on_one_device_ends_all_and_keeps_what_is_finished(
    root: Root, catalog: Catalog
) -> None:
    manifest = seal(root, count=60, per_shard=6)
    entry = add_model(root)
    damaged = root.local_path(paths.shard(NAME, manifest.shards[4].name))
    whole = damaged.read_bytes()
    middle = len(whole) // 2
    damaged.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(ShiftlakeError, match=manifest.shards[4].name):
        evaluate(root, catalog, "pooled", NAME, batch_size=4, devices=("cpu", "cpu"))
    folder = paths.run("pooled", NAME, plan_key(entry, manifest, plan_numerics(entry, "cpu")))
    kept = {path for path in root.list(folder) if path.endswith(".parquet")}
    assert f"{folder}/{manifest.shards[0].name.removesuffix('.tar')}.parquet" in kept
    assert f"{folder}/{manifest.shards[4].name.removesuffix('.tar')}.parquet" not in kept
    damaged.write_bytes(whole)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=4, device="cpu")
    assert record.n_seen == 60


@pytest.mark.timeout(120)
def test_a_process_that_dies_is_told(root: Root, catalog: Catalog) -> None:
    seal(root, count=6, per_shard=3)
    entry = ModelEntry(
        name="deadly",
        kind="callable",
        reference="tiny_networks:Deadly",
        kwargs={"outputs": 1000},
        transform=TINY,
    )
    register(root, entry, check=False)
    with pytest.raises(ShiftlakeError, match="died") as caught:
        evaluate(root, catalog, "deadly", NAME, devices=("cpu",))
    assert "exit code 9" in str(caught.value.found)


@pytest.mark.parametrize("devices", [(), ("cpu", "cuda:0"), ("cuda",), ("gpu",), ("cpu:1",)])
def test_devices_are_of_one_kind_and_named(devices: tuple[str, ...]) -> None:
    with pytest.raises(ShiftlakeError, match="no devices for one evaluation"):
        check_devices(devices)


def test_a_gpu_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert check_devices(("cuda:0", "cuda:1")) == "cuda"
    with pytest.raises(ShiftlakeError, match="no such GPU") as caught:
        check_devices(("cuda:1", "cuda:99"))
    assert (caught.value.expected, caught.value.found) == ("cuda:0 to cuda:1", "cuda:99")


def test_a_fault_is_told_in_words_that_survive_the_way() -> None:
    class Local(OutOfMemory):
        pass

    error = Local(
        "No memory.", expected=lambda: 0, found=threading.Lock(), where=object(), remedy="none"
    )
    error.__cause__ = torch.OutOfMemoryError("full")
    fault = pickle.loads(pickle.dumps(_Fault.of(error, "cuda:0")))
    assert (type(fault.error), fault.error.what, fault.memory) == (OutOfMemory, "No memory.", True)
    assert fault.error.found == str(error.found)


def test_devices_of_one_kind_are_that_kind() -> None:
    assert check_devices(("cpu", "cpu")) == "cpu"
    assert check_devices(("cuda:0", "cuda:3")) == "cuda"
