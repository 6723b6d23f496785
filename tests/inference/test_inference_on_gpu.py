"""The way over a GPU, tried with one that is pretended: its tensors lie on the CPU."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import torch
from evaluation_parts import add_model, seal, table_of
from tiny_networks import Pooled

from ops.catalog import Catalog
from ops.inference import evaluate, working
from ops.inference.computing import OnGpu
from ops.inference.forward import Forward
from ops.inference.record import Numerics
from ops.models import Transform
from ops.storage import Root

NAME = "imagenetv2/matched_frequency"
CPU = torch.device("cpu")
TINY = Transform(resize=(32, 32), crop=None)


class Stream:
    def __init__(self, device: torch.device) -> None:
        self.device = device


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the GPU was asked for, in order."""
    asked: list[str] = []

    class Event:
        def __init__(self, blocking: bool) -> None:
            assert blocking

        def record(self, stream: object) -> None:
            asked.append(f"record on {stream}")

        def synchronize(self) -> None:
            asked.append("wait")

    @contextmanager
    def on(stream: Stream) -> Iterator[None]:
        asked.append("copy")
        yield

    allocate = torch.empty
    for name, pretended in {
        "Stream": Stream,
        "Event": Event,
        "stream": on,
        "current_stream": lambda device: "the computation",
        "synchronize": lambda device: None,
        "empty_cache": lambda: None,
        "is_available": lambda: True,
        "get_device_name": lambda device: "a pretended GPU",
    }.items():
        monkeypatch.setattr(torch.cuda, name, pretended)
    monkeypatch.setattr(
        torch, "empty", lambda *size, pin_memory=False, **kwargs: allocate(*size, **kwargs)
    )
    monkeypatch.setattr(working, "Forward", partial(Forward, device=CPU))
    monkeypatch.setattr(working, "open_computing", lambda given, forward, _: OnGpu(given, forward))
    return asked


@pytest.mark.usefixtures("events")
@pytest.mark.parametrize("fits", [1000, 2])
def test_every_image_has_its_row_once_however_little_memory_there_is(
    root: Root, catalog: Catalog, fits: int
) -> None:
    seal(root, count=20)
    add_model(root, "pooled")
    add_model(
        root,
        "short",
        reference="tiny_networks:ShortOfMemory",
        kwargs={"outputs": 1000, "fits": fits},
    )
    host = evaluate(root, catalog, "pooled", NAME, device="cpu")
    record = evaluate(root, catalog, "short", NAME, device="cuda", batch_size=5)
    assert (record.numerics.device, record.device_name) == ("cuda", "a pretended GPU")
    # 5, 3 and 2 images were tried.
    assert record.pass_images == (5 if fits > 5 else 2)
    expected, found = table_of(root, host), table_of(root, record)
    for column in ("sample_key", "pred", "top5_idx", "rank_of_label", "correct"):
        assert found[column].to_pylist() == expected[column].to_pylist()


class Brightening:
    """Makes rows on the device, which does so after the call has returned."""

    def finish(self, samples: list[str], pixels: torch.Tensor) -> torch.Tensor:
        return pixels + 1


class Moving(torch.Tensor):
    """Pixels on the host, whose copy to the device is another tensor, or does not fit."""

    copied: weakref.ref[torch.Tensor] | None = None
    fits = True

    def to(self, device: torch.device, **more: object) -> torch.Tensor:
        # A copy that is still under way binds the buffer to an event.
        assert not more
        if not self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        there = self.as_subclass(torch.Tensor).clone()
        self.copied = weakref.ref(there)
        return there


def moving() -> Moving:
    return torch.arange(4 * 32 * 32 * 3).view(4, 32, 32, 3).to(torch.uint8).as_subclass(Moving)


def forward() -> Forward:
    return Forward(Pooled(10), TINY, Numerics(dtype="fp32", device="cpu"), "pooled", device=CPU)


def test_pixels_on_a_gpu_are_kept_until_the_computation_has_used_them(events: list[str]) -> None:
    network = forward()
    with OnGpu(Brightening(), network) as computing:
        batches, waits = [moving() for _ in range(3)], []
        for pixels in batches:
            waits.append(computing.start(computing.rows(["a"] * 4, pixels)))
        gc.collect()
        assert all(pixels.copied is not None and pixels.copied() is not None for pixels in batches)
        assert events == ["copy", "record on the computation"] * 3
        found = [wait() for wait in waits]
        assert events[6:] == ["wait", "copy"] * 3
        gc.collect()
        assert all(pixels.copied is not None and pixels.copied() is None for pixels in batches)
    expected = network(batches[0].as_subclass(torch.Tensor) + 1).numpy()
    for each in found:
        assert (each == expected).all()


@pytest.mark.usefixtures("events")
def test_pixels_that_do_not_fit_on_a_gpu_at_once_are_brought_in_parts() -> None:
    network, pixels = forward(), moving()
    pixels.fits = False
    with OnGpu(Brightening(), network) as computing:
        rows = computing.rows(["a"] * 4, pixels).as_subclass(torch.Tensor)
        found = computing.start(rows)()
    assert (found == network(moving().as_subclass(torch.Tensor) + 1).numpy()).all()
