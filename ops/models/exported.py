"""Programs that `torch.export` wrote: a ``.pt2`` file as a network."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.exported_archive import clean_archive
from ops.models.fixed_batches import in_batches


class ExportedProgram(torch.nn.Module):
    """An exported program that takes batches of any size on any device.

    Parameters
    ----------
    program : torch.export.ExportedProgram
        On the CPU, with one input of shape (images, 3, height, width).
    where : object
        Its file, for errors.

    Notes
    -----
    A program whose batch dimension is fixed, or starts above 1, gets its batches cut and filled
    up. The layout of tensors in memory is part of a program, so that a request for channels last
    is not passed on to it.
    """

    def __init__(self, program: torch.export.ExportedProgram, where: object) -> None:
        super().__init__()
        self._where = where
        self.least, self.most, self.dtype = _input_of(program, where)
        self._become(program, torch.device("cpu"))

    def _become(self, program: torch.export.ExportedProgram, device: torch.device) -> None:
        self._program = program
        self._device = device
        # Unchecked: `least` and `most` hold, and the archive's own guards were left out.
        self.graph = program.module(check_guards=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of a batch: float32 images of shape (images, 3, height, width)."""
        given = images.to(self.dtype).contiguous()
        return in_batches(self._run, given, least=self.least, most=self.most)

    def _run(self, images: torch.Tensor) -> torch.Tensor:
        return _logits(self.graph(images), self._where)

    def train(self, mode: bool = True) -> ExportedProgram:
        """Only remember the mode: a program was exported in one."""
        self.training = mode
        return self

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
        # Constants in the graph are made on the device it was exported for, so that it has to be
        # rewritten for another one; types and layouts stay as they are.
        wanted = fn(torch.empty(0, device=self._device)).device
        if wanted != self._device:
            from torch.export.passes import move_to_device_pass

            self._become(move_to_device_pass(self._program, wanted), wanted)
        return self


def open_program(path: Path, where: object = None) -> ExportedProgram:
    """Open a ``.pt2`` file as a network, in evaluation mode, on the CPU.

    Raises
    ------
    ShiftlakeError
        If it could run code, cannot be read by this torch, or does not take one batch of images.
    """
    where = where or path
    archive = clean_archive(path, where)
    # torch logs a page of traceback before it raises.
    logger = logging.getLogger("torch.export")
    former = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        program = torch.export.load(archive)
    except Exception as error:  # the deserialiser raises what it likes
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ShiftlakeError(
            "This torch cannot load the exported program.",
            expected=f"a program that torch {torch.__version__} understands",
            found=f"{type(error).__name__}: {lines[0] if lines else ''}",
            where=where,
            remedy="export the model again with the torch installed here",
        ) from error
    finally:
        logger.setLevel(former)
    return ExportedProgram(program, where).eval()


def _input_of(
    program: torch.export.ExportedProgram, where: object
) -> tuple[int, int | None, torch.dtype]:
    names = program.graph_signature.user_inputs
    inputs = [
        node.meta["val"]
        for node in program.graph.nodes
        if node.op == "placeholder" and node.name in names
    ]
    shapes = [tuple(value.shape) if torch.is_tensor(value) else value for value in inputs]
    if len(names) != 1 or len(shapes) != 1 or len(shapes[0]) != 4 or shapes[0][1] != 3:
        raise ShiftlakeError(
            "The exported program does not take a batch of images.",
            expected="one input of shape (images, 3, height, width)",
            found=", ".join(str(shape) for shape in shapes) or "no input",
            where=where,
            remedy="export the model with one batch of images as its only argument",
        )
    dtype: torch.dtype = inputs[0].dtype
    if not dtype.is_floating_point:
        raise ShiftlakeError(
            "The exported program takes another type than normalised images.",
            expected="an input of float32, float16 or bfloat16",
            found=dtype,
            where=where,
            remedy="export the network without the step before it that reads 8-bit pixels",
        )
    count = shapes[0][0]
    if isinstance(count, int):
        return count, count, dtype
    bounds = program.range_constraints.get(count.node.expr)
    if bounds is None:
        return 1, None, dtype
    most = int(bounds.upper) if bounds.upper.is_Integer else None
    return max(1, int(bounds.lower)), most, dtype


def _logits(outputs: Any, where: object) -> torch.Tensor:
    if isinstance(outputs, Mapping) and torch.is_tensor(outputs.get("logits")):
        outputs = outputs["logits"]
    elif isinstance(outputs, Sequence) and len(outputs) == 1:
        outputs = outputs[0]
    if not torch.is_tensor(outputs):
        raise ShiftlakeError(
            "The exported program does not return logits.",
            expected="one tensor of shape (images, outputs), alone or under the name logits",
            found=type(outputs).__name__,
            where=where,
            remedy="export a module that returns its logits alone",
        )
    tensor: torch.Tensor = outputs
    return tensor
