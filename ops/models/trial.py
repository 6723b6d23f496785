"""A blank image through a model, when it is registered: what is wrong shows at once."""

from __future__ import annotations

from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry


def check_outputs(model: torch.nn.Module, entry: ModelEntry, classes: int) -> None:
    """Send one grey image through a model on the CPU, in float32; rarely another one.

    Parameters
    ----------
    model : torch.nn.Module
        In evaluation mode, on the CPU.
    entry : ModelEntry
        For its transform, class map and head.
    classes : int
        Number of classes of its label space.

    Raises
    ------
    ShiftlakeError
        If the model raises, returns no logits, another number of them than it has classes, values
        that are not finite, or probabilities where logits are expected.
    """
    height, width = entry.transform.output_size
    logits = _outputs(model, entry, torch.full((1, 3, height, width), 0.5))
    if not torch.is_tensor(logits) or logits.ndim != 2 or len(logits) != 1:
        raise _refused(
            entry,
            "The model does not return logits.",
            "a tensor of shape (images, outputs)",
            tuple(logits.shape) if torch.is_tensor(logits) else type(logits).__name__,
            "register a callable that returns a model with plain logits",
        )
    expected = classes if entry.class_map is None else len(entry.class_map)
    if logits.shape[1] != expected:
        raise _refused(
            entry,
            "The model has another number of outputs than its label space has classes.",
            f"{expected} outputs, "
            + (f"as {entry.label_space} has" if entry.class_map is None else "as its class map"),
            f"{logits.shape[1]}",
            "name its label space (--label-space), or the class of every output (--class-map)",
        )
    values = logits[0].float()
    if not bool(torch.isfinite(values).all()):
        raise _refused(
            entry,
            "The model's outputs for a blank image are not finite.",
            f"{expected} finite logits",
            f"{int((~torch.isfinite(values)).sum())} that are NaN or infinite",
            "check the weights; an fp16 model that overflows may need bf16 or fp32",
        )
    total = float(values.sum())
    # Logits of many classes are never all positive with a sum of one.
    sums_to_one = float(values.min()) >= 0 and abs(total - 1) < 1e-3
    if expected > 1 and entry.head == "softmax" and sums_to_one:
        raise _refused(
            entry,
            "The model returns probabilities, not logits.",
            "logits, whose scale calibration and detection are computed from",
            f"{expected} values from 0 up, with the sum {total:.4f}",
            "take the softmax off the end of the model",
        )
    if entry.head == "sigmoid" and _within_unit(values):
        # Logits of one image may happen to lie there; those of a quite different one as well may
        # not, unless a sigmoid made them.
        steps = torch.linspace(0, 1, 3 * height * width).view(1, 3, height, width)
        if _within_unit(_outputs(model, entry, steps).float()):
            raise _refused(
                entry,
                "The model returns probabilities, not logits.",
                "logits, which a sigmoid head turns into probabilities itself",
                f"{expected} values from 0 to 1 for each of two different images",
                "take the sigmoid off the end of the model",
            )


def _outputs(model: torch.nn.Module, entry: ModelEntry, image: torch.Tensor) -> Any:
    """What the model gives for an image of shape (1, 3, height, width) on the scale 0 to 1."""
    mean = torch.tensor(entry.transform.mean).view(1, 3, 1, 1)
    std = torch.tensor(entry.transform.std).view(1, 3, 1, 1)
    try:
        with torch.inference_mode():
            return model((image - mean) / std)
    except ShiftlakeError:
        raise
    except (Exception, SystemExit) as error:  # a network raises what it likes
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise _refused(
            entry,
            "The model fails on a blank image.",
            f"logits for an image of 3 x {image.shape[2]} x {image.shape[3]}",
            f"{type(error).__name__}: {lines[0] if lines else ''}",
            "check the input size (--crop, --resize) and the architecture's arguments (--kwargs)",
        ) from error


def _within_unit(values: torch.Tensor) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _refused(
    entry: ModelEntry, what: str, expected: object, found: object, remedy: str
) -> ShiftlakeError:
    return ShiftlakeError(
        what,
        expected=expected,
        found=found,
        where=f"{entry.name}, {entry.reference}",
        remedy=f"{remedy}; --no-check registers it as it is",
    )
