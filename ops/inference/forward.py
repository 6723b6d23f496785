"""The forward pass: 8-bit pixels to float32 logits, on one device."""

from __future__ import annotations

import sys
import threading
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.inference.failure import short_of_memory
from ops.inference.record import Numerics
from ops.models.transform import Transform

AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
# Words of torch's error for an operator that has no deterministic form.
_NOT_DETERMINISTIC = "torch.use_deterministic_algorithms(True)"


class Forward:
    """A model on its device.

    Parameters
    ----------
    model : torch.nn.Module
        In evaluation mode.
    transform : Transform
        For its mean and std.
    numerics : Numerics
        Kind of device, autocast type, and whether the model is compiled.
    name : str
        The model's name, for errors.
    device : torch.device, optional
        Which of the devices of that kind; by default the current one.
    images : int, optional
        Images at most in one pass; by default all it is given.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        transform: Transform,
        numerics: Numerics,
        name: str,
        *,
        device: torch.device | None = None,
        images: int | None = None,
    ) -> None:
        self.device = device or torch.device(numerics.device)
        self.numerics = numerics
        self.name = name
        self.images = images
        self._halving = threading.Lock()
        self.model = model.to(self.device)
        # Channels last is the order pixels are decoded in, and convolutions are faster in it. Torch
        # knows it for four axes alone, and refuses a network that has a tensor of five.
        if all(tensor.dim() != 5 for tensor in (*model.parameters(), *model.buffers())):
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        # One graph, of one shape: passes that are not full are filled up.
        self._padded = numerics.compiled
        if numerics.compiled and (compiler := sys.modules.get("torch._dynamo")):
            # It counts what it compiled of a process, and gives up at the eighth network.
            compiler.reset()
        self._network: Any = (
            torch.compile(self.model, dynamic=False) if numerics.compiled else self.model
        )
        height, width = transform.output_size
        self.shape = (height, width)
        # Repeated along a row of pixels: an inner loop over 3 channels would not be vectorised.
        self.mean = torch.tensor(transform.mean).repeat(width).to(self.device)
        self.std = torch.tensor(transform.std).repeat(width).to(self.device)
        # As a tensor on the device, since CUDA multiplies by the reciprocal of a plain number.
        self.full = torch.tensor(255.0).to(self.device)
        self._own = threading.local()

    def normalise(self, pixels: torch.Tensor) -> torch.Tensor:
        """The input of the model, bit-identical to torchvision's ToTensor and Normalize.

        Parameters
        ----------
        pixels : uint8 tensor, shape (samples, height, width, 3)

        Returns
        -------
        float32 tensor, shape (samples, 3, height, width)
            On the device, channels last in memory. The thread's next call writes into the same
            memory, since fresh pages for every batch cost more than the arithmetic.
        """
        return self._normalised(pixels, len(pixels))

    def _normalised(self, pixels: torch.Tensor, count: int) -> torch.Tensor:
        # Rows beyond the given pixels are black, for a compiled model.
        height, width = self.shape
        moved = pixels.to(self.device).view(-1, height, width * 3)
        former: torch.Tensor | None = getattr(self._own, "input", None)
        if former is None or len(former) < count:
            former = torch.empty(count, height, width * 3, device=self.device)
            self._own.input = former
        scaled = former[:count]
        if self.device.type == "cpu":
            # Image by image the four steps stay in the cache; over a batch each goes to memory.
            for source, target in zip(moved, scaled, strict=False):
                self._scale(source, target)
        else:
            self._scale(moved, scaled[: len(moved)])
        scaled[len(moved) :].zero_()
        return scaled.view(-1, height, width, 3).permute(0, 3, 1, 2)

    def _scale(self, source: torch.Tensor, target: torch.Tensor) -> None:
        target.copy_(source).div_(self.full).sub_(self.mean).div_(self.std)

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """Logits of a batch, in as many passes as it takes.

        When the device's memory is short, the passes are halved, as often as needed, and stay so:
        `images` says how large they are now.

        Parameters
        ----------
        pixels : uint8 tensor, shape (samples, height, width, 3)

        Returns
        -------
        float32 tensor, shape (samples, outputs)
            On the device; not yet synchronised.

        Raises
        ------
        ShiftlakeError
            If not even one image fits, or the model returns something else than logits.
        """
        logits: list[torch.Tensor] = []
        start = 0
        # Read once, since other threads may halve it meanwhile.
        images = self.images or len(pixels)
        while start < len(pixels):
            part = pixels[start : start + images]
            count = images if self._padded else len(part)
            if (made := self._run(part, count)) is not None:
                logits.append(made)
                start += len(part)
                continue
            # Outside the except block, whose traceback would keep the failed activations alive.
            if self.device.type == "cuda":
                self._own.input = None
                torch.cuda.empty_cache()
            images = self._halved(count)
        together = logits[0] if len(logits) == 1 else torch.cat(logits)
        if len(together) != len(pixels):
            raise ShiftlakeError(
                "The passes of a batch do not add up to it.",
                expected=f"logits of {len(pixels)} images",
                found=f"logits of {len(together)}",
                where=self.name,
                remedy="report it: this is a fault of Shiftlake",
            )
        return together

    def _halved(self, count: int) -> int:
        """The size to go on with after a pass of `count` images that did not fit."""
        images = (count + 1) // 2
        with self._halving:
            self.images = images if self.images is None else min(self.images, images)
        return images

    def _run(self, pixels: torch.Tensor, count: int) -> torch.Tensor | None:
        """Logits of one pass, filled up to `count`; None where there is no memory for it."""
        autocast = AUTOCAST.get(self.numerics.dtype)
        try:
            with (
                torch.inference_mode(),
                torch.autocast(self.device.type, dtype=autocast, enabled=autocast is not None),
            ):
                logits = self._network(self._normalised(pixels, count))
        except (RuntimeError, MemoryError) as error:
            if self.numerics.deterministic and _NOT_DETERMINISTIC in str(error):
                raise ShiftlakeError(
                    "The model uses an operator that is not deterministic.",
                    expected="operators that give the same bits every time",
                    found=str(error).splitlines()[0],
                    where=self.name,
                    remedy="register it with `deterministic` off, and say so beside its results",
                ) from error
            if not short_of_memory(error):
                raise
            if count == 1:
                raise ShiftlakeError(
                    "The model does not fit into the device's memory.",
                    expected="memory for one image",
                    found=str(error).splitlines()[0] if str(error) else type(error).__name__,
                    where=f"{self.name} on {self.device}",
                    remedy="free the device, use a larger one, or register with precision bf16",
                ) from error
            return None
        except Exception as error:
            if type(error).__name__ != "FailOnRecompileLimitHit":
                raise
            raise ShiftlakeError(
                "The model is compiled again at every pass.",
                expected="a network that can be compiled once",
                found="the compiler's limit of recompilations",
                where=self.name,
                remedy="register it with `compiled` off",
            ) from error
        if not torch.is_tensor(logits) or logits.ndim != 2 or len(logits) != count:
            shape = tuple(logits.shape) if torch.is_tensor(logits) else type(logits).__name__
            raise ShiftlakeError(
                "The model does not return logits.",
                expected=f"a tensor of shape ({count}, outputs)",
                found=shape,
                where=self.name,
                remedy="register a callable that returns a model with plain logits",
            )
        # Copied, in case they are a view of the input, which the next pass overwrites.
        return logits[: len(pixels)].to(torch.float32, copy=True)
