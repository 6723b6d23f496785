"""The forward pass: 8-bit pixels to float32 logits, on one device, reproducibly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ops.errors import ShiftlakeError
from ops.inference.record import Numerics
from ops.models.transform import Transform

_AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Forward:
    """A model on its device.

    Parameters
    ----------
    model : torch.nn.Module
        In evaluation mode.
    transform : Transform
        For its mean and std.
    numerics : Numerics
        Device and autocast type.
    name : str
        The model's name, for errors.
    """

    def __init__(
        self, model: torch.nn.Module, transform: Transform, numerics: Numerics, name: str
    ) -> None:
        self.device = torch.device(numerics.device)
        self.numerics = numerics
        self.name = name
        # Channels last is the order pixels are decoded in, and convolutions are faster in it.
        self.model = model.to(self.device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        height, width = transform.output_size
        self.shape = (height, width)
        # Repeated along a row of pixels: an inner loop over 3 channels would not be vectorised.
        self.mean = torch.tensor(transform.mean).repeat(width).to(self.device)
        self.std = torch.tensor(transform.std).repeat(width).to(self.device)
        # As a tensor on the device, since CUDA multiplies by the reciprocal of a plain number.
        self.full = torch.tensor(255.0).to(self.device)
        self._input = torch.empty(0, device=self.device)

    def normalise(self, pixels: torch.Tensor) -> torch.Tensor:
        """The input of the model, bit-identical to torchvision's ToTensor and Normalize.

        Parameters
        ----------
        pixels : uint8 tensor, shape (samples, height, width, 3)

        Returns
        -------
        float32 tensor, shape (samples, 3, height, width)
            On the device, channels last in memory. The next call writes into the same memory,
            since fresh pages for every batch cost more than the arithmetic.
        """
        height, width = self.shape
        moved = pixels.to(self.device, non_blocking=True).view(-1, height, width * 3)
        if len(self._input) < len(moved):
            self._input = torch.empty(moved.shape, dtype=torch.float32, device=self.device)
        scaled = self._input[: len(moved)]
        if self.device.type == "cpu":
            # Image by image the four steps stay in the cache; over a batch each goes to memory.
            for source, target in zip(moved, scaled, strict=True):
                self._scale(source, target)
        else:
            self._scale(moved, scaled)
        return scaled.view(-1, height, width, 3).permute(0, 3, 1, 2)

    def _scale(self, source: torch.Tensor, target: torch.Tensor) -> None:
        target.copy_(source).div_(self.full).sub_(self.mean).div_(self.std)

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """Logits of a batch.

        When the device's memory is short the batch is halved, as often as needed.

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
        try:
            return self._run(pixels)
        except torch.OutOfMemoryError as error:
            if len(pixels) == 1:
                raise ShiftlakeError(
                    "The model does not fit into the device's memory.",
                    expected="memory for one image",
                    found=str(error).splitlines()[0],
                    where=f"{self.name} on {self.device}",
                    remedy="free the device, use a larger one, or register with precision bf16",
                ) from error
        # Outside the except block, whose traceback would keep the failed activations alive.
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        half = (len(pixels) + 1) // 2
        return torch.cat([self(pixels[:half]), self(pixels[half:])])

    def _run(self, pixels: torch.Tensor) -> torch.Tensor:
        autocast = _AUTOCAST.get(self.numerics.dtype)
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=autocast, enabled=autocast is not None),
        ):
            logits = self.model(self.normalise(pixels))
        if not torch.is_tensor(logits) or logits.ndim != 2 or len(logits) != len(pixels):
            shape = tuple(logits.shape) if torch.is_tensor(logits) else type(logits).__name__
            raise ShiftlakeError(
                "The model does not return logits.",
                expected=f"a tensor of shape ({len(pixels)}, outputs)",
                found=shape,
                where=self.name,
                remedy="register a callable that returns a model with plain logits",
            )
        # Copied, in case they are a view of the input, which the next batch overwrites.
        return logits.to(torch.float32, copy=True)


@contextmanager
def reproducible(numerics: Numerics) -> Iterator[None]:
    """Hold a GPU to float32 products and deterministic algorithms, and restore its settings."""
    if numerics.device == "cpu":
        yield
        return
    matmul = torch.backends.cuda.matmul
    former = matmul.allow_tf32
    matmul.allow_tf32 = False
    try:
        with torch.backends.cudnn.flags(
            enabled=True, benchmark=False, deterministic=True, allow_tf32=False
        ):
            yield
    finally:
        matmul.allow_tf32 = former
