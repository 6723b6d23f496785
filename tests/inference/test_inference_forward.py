"""The forward pass: its passes, its numerics, and what it does when memory is short."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from evaluation_parts import add_model, bytes_of, seal, table_of
from tiny_networks import Pooled, Scattering
from torch.utils import deterministic

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.inference.computing import HOST_IMAGES, OnHost, finished
from ops.inference.failure import OutOfMemory
from ops.inference.forward import Forward
from ops.inference.record import Numerics
from ops.inference.reproducible import reproducible
from ops.models import Transform
from ops.storage import Root

NAME = "imagenetv2/matched_frequency"
TINY = Transform(resize=(32, 32), crop=None)
PLAIN = Numerics(dtype="fp32", device="cpu")


@pytest.fixture
def pixels() -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (21, 32, 32, 3), dtype=torch.uint8, generator=generator)


@pytest.fixture
def threads() -> Iterator[None]:
    former = torch.get_num_threads()
    yield
    torch.set_num_threads(former)


class Counting(Pooled):
    """Writes down how many images each pass has, and has no room for more than `fits`."""

    def __init__(self, fits: int = 1000, message: str | None = None) -> None:
        super().__init__(10)
        self.fits, self.message, self.seen = fits, message, []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.seen.append(len(images))
        if len(images) > self.fits:
            raise RuntimeError(self.message) if self.message else torch.OutOfMemoryError("full")
        return super().forward(images)


def expected(pixels: torch.Tensor) -> torch.Tensor:
    mean, std = (torch.tensor(each).view(1, 3, 1, 1) for each in (TINY.mean, TINY.std))
    with torch.inference_mode():
        return Pooled(10)((pixels.permute(0, 3, 1, 2).float() / 255 - mean) / std)


def test_a_batch_is_cut_into_passes_and_put_together_again(pixels: torch.Tensor) -> None:
    network = Counting()
    forward = Forward(network, TINY, PLAIN, "counting", images=8)
    logits = forward(pixels)
    assert network.seen == [8, 8, 5]
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits, expected(pixels))


@pytest.mark.parametrize(
    "message", [None, "DefaultCPUAllocator: can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED"]
)
def test_the_size_that_fitted_is_remembered(pixels: torch.Tensor, message: str | None) -> None:
    network = Counting(fits=3, message=message)
    forward = Forward(network, TINY, PLAIN, "counting", images=16)
    first, second = forward(pixels), forward(pixels)
    assert network.seen[:4] == [16, 8, 4, 2]
    assert set(network.seen[4:]) == {2, 1}
    assert torch.equal(first, second)
    torch.testing.assert_close(first, expected(pixels))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_thread_that_halves_the_passes_takes_no_image_from_another(
    pixels: torch.Tensor, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    monkeypatch.setattr(torch, "compile", lambda model, **_: model)
    run = Forward._run

    def overtaken(self: Forward, part: torch.Tensor, *count: int) -> torch.Tensor | None:
        self.images = 2
        return run(self, part, *count)

    monkeypatch.setattr(Forward, "_run", overtaken)
    numerics = PLAIN.model_copy(update={"compiled": compiled})
    forward = Forward(Counting(fits=8), TINY, numerics, "counting", images=16)
    torch.testing.assert_close(forward(pixels), expected(pixels))
    # What another thread found to fit is not raised again.
    assert forward.images == 2


def test_threads_side_by_side_halve_to_what_fits(pixels: torch.Tensor) -> None:
    forward = Forward(Counting(fits=3), TINY, PLAIN, "counting", images=16)
    with ThreadPoolExecutor(4) as pool:
        for logits in pool.map(forward, [pixels] * 16):
            torch.testing.assert_close(logits, expected(pixels))
    assert forward.images == 2


class Rendering:
    """Makes rows of a batch, and has room for two samples at most."""

    def __init__(self, fits: int) -> None:
        self.fits, self.made = fits, []

    def finish(self, samples: list[str], pixels: torch.Tensor) -> torch.Tensor:
        if len(samples) > self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.made += samples
        return pixels + 1


def test_a_batch_that_cannot_be_rendered_at_once_is_rendered_in_halves(
    pixels: torch.Tensor,
) -> None:
    keys = [f"s{index}" for index in range(21)]
    given = Rendering(fits=2)
    assert torch.equal(finished(given, keys, pixels), pixels + 1)
    assert given.made == keys
    one = dataclasses.make_dataclass("Sample", ["key"])("s0")
    with pytest.raises(OutOfMemory, match="cannot be rendered"):
        finished(Rendering(fits=0), [one, one], pixels[:2])


def test_a_network_that_is_compiled_too_often_fails_and_is_not_run_uncompiled(
    pixels: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    FailOnRecompileLimitHit = type("FailOnRecompileLimitHit", (Exception,), {})

    def too_often(images: torch.Tensor) -> torch.Tensor:
        raise FailOnRecompileLimitHit("hard failure")

    monkeypatch.setattr(torch, "compile", lambda model, **_: too_often)
    numerics = PLAIN.model_copy(update={"compiled": True})
    with pytest.raises(ShiftlakeError, match="compiled again") as caught:
        Forward(Counting(), TINY, numerics, "counting", images=8)(pixels)
    assert "`compiled` off" in caught.value.remedy


@pytest.mark.slow
@pytest.mark.usefixtures("threads")
def test_the_compilers_limit_is_an_error_in_every_thread_of_a_compiled_evaluation() -> None:
    import torch._dynamo.config as compiler

    class Asking:
        device = torch.device("cpu")

        def __call__(self, part: torch.Tensor) -> torch.Tensor:
            return torch.tensor([float(compiler.fail_on_recompile_limit_hit)])

    with (
        reproducible(PLAIN.model_copy(update={"compiled": True})),
        OnHost(Rendering(1), Asking(), 16) as computing,
    ):
        assert compiler.fail_on_recompile_limit_hit
        assert computing.start(torch.zeros(16, 1))().tolist() == [1.0, 1.0]
    assert not compiler.fail_on_recompile_limit_hit


def test_a_model_without_room_for_one_image_says_so(pixels: torch.Tensor) -> None:
    forward = Forward(Counting(fits=0), TINY, PLAIN, "greedy", images=4)
    with pytest.raises(ShiftlakeError, match="does not fit") as caught:
        forward(pixels)
    assert isinstance(caught.value.__cause__, torch.OutOfMemoryError)


def test_other_errors_of_a_model_are_not_taken_for_short_memory(pixels: torch.Tensor) -> None:
    network = Counting(fits=0, message="shapes cannot be multiplied")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        Forward(network, TINY, PLAIN, "broken", images=4)(pixels)
    assert network.seen == [4]


def test_passes_of_a_compiled_model_all_have_one_shape(
    pixels: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, object]] = []

    def compiled(model: torch.nn.Module, **options: object) -> torch.nn.Module:
        asked.append(options)
        return model

    monkeypatch.setattr(torch, "compile", compiled)
    network = Counting()
    numerics = PLAIN.model_copy(update={"compiled": True})
    forward = Forward(network, TINY, numerics, "counting", images=8)
    logits = forward(pixels)
    again = forward(pixels[:3])
    assert asked == [{"dynamic": False}]
    assert network.seen == [8, 8, 8, 8]
    assert logits.shape == (21, 10)
    torch.testing.assert_close(logits, expected(pixels))
    torch.testing.assert_close(again, expected(pixels[:3]))


@pytest.mark.slow
def test_a_compiled_model_agrees_and_is_compiled_once(root: Root, catalog: Catalog) -> None:
    from torch._dynamo.utils import counters

    seal(root, count=20)
    add_model(root, "plain")
    add_model(root, "compiled", compiled=True)
    counters.clear()
    plain, compiled = (
        evaluate(root, catalog, name, NAME, batch_size=7, device="cpu")
        for name in ("plain", "compiled")
    )
    assert counters["stats"]["unique_graphs"] == 1
    assert compiled.numerics.compiled
    assert compiled.key != plain.key
    one, other = table_of(root, plain), table_of(root, compiled)
    assert one["pred"].to_pylist() == other["pred"].to_pylist()
    np.testing.assert_allclose(
        np.array(one["top5_logit"].to_pylist()),
        np.array(other["top5_logit"].to_pylist()),
        rtol=1e-4,
    )


@pytest.mark.usefixtures("threads")
def test_rows_do_not_depend_on_the_number_of_cores(root: Root, catalog: Catalog) -> None:
    seal(root, count=20, per_shard=20)
    found = []
    for name, count in (("one", 1), ("four", 4)):
        add_model(root, name, kwargs={"outputs": 1000, "grid": 16})
        torch.set_num_threads(count)
        record = evaluate(root, catalog, name, NAME, batch_size=20, workers=count, device="cpu")
        assert torch.get_num_threads() == count
        found.append(table_of(root, record).drop_columns(["model", "run_id"]))
    assert found[0].equals(found[1])


@pytest.mark.usefixtures("threads")
def test_each_pass_on_a_cpu_is_one_threads_work(pixels: torch.Tensor) -> None:
    class Plain:
        def finish(self, samples: list, pixels: torch.Tensor) -> torch.Tensor:
            return pixels

    used: list[int] = []

    class Asking(Counting):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            used.append(torch.get_num_threads())
            return super().forward(images)

    torch.set_num_threads(3)
    forward = Forward(Asking(), TINY, PLAIN, "asking", images=HOST_IMAGES)
    with OnHost(Plain(), forward, 21) as computing:
        waits = [computing.start(pixels) for _ in range(4)]
        logits = [wait() for wait in waits]
    assert used == [1] * 12
    assert torch.get_num_threads() == 3
    for each in logits:
        np.testing.assert_array_equal(each, forward(pixels).numpy())


@pytest.mark.parametrize("tf32", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_settings_are_those_of_the_numerics_and_are_restored(tf32: bool, held: bool) -> None:
    def settings() -> tuple[object, ...]:
        return (
            torch.backends.cuda.matmul.allow_tf32,
            torch.backends.cudnn.allow_tf32,
            torch.backends.cudnn.deterministic,
            torch.backends.cudnn.benchmark,
            torch.are_deterministic_algorithms_enabled(),
            deterministic.fill_uninitialized_memory,
        )

    before = settings()
    numerics = Numerics(dtype="fp32", device="cuda", tf32=tf32, deterministic=held)
    with reproducible(numerics):
        inside = settings()
    assert inside == (tf32, tf32, held, not held, held, False)
    assert settings() == before


def test_a_network_may_have_a_tensor_of_five_axes(pixels: torch.Tensor) -> None:
    network = Pooled(10)
    network.register_buffer("positions", torch.zeros(1, 2, 3, 4, 5))
    logits = Forward(network, TINY, PLAIN, "positioned", images=8)(pixels)
    torch.testing.assert_close(logits, expected(pixels))


def test_a_model_that_is_not_deterministic_does_not_spoil_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # torch reads the variable once, at the first product of a process on a GPU.
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    with reproducible(Numerics(dtype="fp32", device="cuda", deterministic=False)):
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_an_operator_without_a_deterministic_form_is_refused_unless_the_entry_allows_it(
    pixels: torch.Tensor,
) -> None:
    on_gpu = Numerics(dtype="fp32", device="cuda")
    for held in (True, False):
        numerics = on_gpu.model_copy(update={"deterministic": held})
        forward = Forward(Scattering(10), TINY, numerics, "scattering", device=torch.device("cpu"))
        with reproducible(numerics):
            if not held:
                assert forward(pixels)[0, 0] == 1
                continue
            with pytest.raises(ShiftlakeError, match="not deterministic") as caught:
                forward(pixels)
    assert "`deterministic` off" in caught.value.remedy


def test_a_record_of_autocast_holds_the_weights_for_the_whole_evaluation(
    pixels: torch.Tensor,
) -> None:
    numerics = Numerics(dtype="bf16", device="cpu")
    forward = Forward(Pooled(10), TINY, numerics, "halved", images=8)
    with reproducible(numerics):
        held = forward(pixels)
        assert not torch.is_autocast_enabled("cpu")
    alone = forward(pixels)
    assert torch.equal(held, alone)
    assert not torch.equal(held, expected(pixels))
    torch.testing.assert_close(held, expected(pixels), rtol=0.05, atol=0.1)


def test_bytes_are_the_same_again(root: Root, catalog: Catalog) -> None:
    seal(root, count=20)
    add_model(root)
    record = evaluate(root, catalog, "pooled", NAME, batch_size=11, device="cpu")
    before = bytes_of(root, record)
    for file in record.files:
        root.remove(f"predictions/pooled/{NAME}/{record.key}/{file.name}")
    again = evaluate(root, catalog, "pooled", NAME, batch_size=11, workers=3, device="cpu")
    assert bytes_of(root, again) == before
