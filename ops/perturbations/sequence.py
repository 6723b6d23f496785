"""Make one sequence, or several of one image: what was asked for is checked here."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, cast

import numpy as np

from ops.corruptions.arguments import Mode, check_mode, check_pairs, check_samples
from ops.corruptions.draws import Draws, Replay
from ops.corruptions.given_draws import given_draws
from ops.corruptions.keyed import Key, Keyed, given_key
from ops.corruptions.opencv_threads import one_thread
from ops.errors import ShiftlakeError
from ops.perturbations.facts import (
    Perturbation,
    check_difficulty,
    check_perturbation,
    resized,
)
from ops.perturbations.kernel import Frames, Level, kernel
from ops.perturbations.source import Image, Source

if TYPE_CHECKING:
    import torch

Condition = tuple[str, int]

# The family of a key that names none.
DATASET = "imagenet_p"
# Part of every rendered dataset's version: raised by one whenever a pixel changes.
ENGINE_VERSION = 1
# These alone draw random numbers; the others give the same frames of the same image always.
_DRAWING = ("gaussian_noise", "shot_noise", "snow", "speckle_noise", "spatter")


def sequence(
    image: Image,
    perturbation: str,
    *,
    rng: np.random.RandomState | torch.Generator | None = None,
    key: Key | str | None = None,
    mode: Mode = "fast",
    difficulty: int = 1,
) -> Frames:
    """Make the frames of one perturbation of an image, as ImageNet-P does.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        RGB, resized so that the shorter side is 256 and not cropped: what moves into the frame
        lies in its margins.
    perturbation : str
        One of `PERTURBATIONS` or `VALIDATION_PERTURBATIONS`.
    rng : numpy.random.RandomState or torch.Generator, optional
        Generator whose draws are taken in the official order; gaussian_noise drew from torch's,
        all others from NumPy's. With a generator seeded ``s``, the result of mode ``"exact"`` is
        bit for bit that of the official script after ``numpy.random.seed(s)`` and
        ``torch.manual_seed(s)``.
    key : Key or str, optional
        Draws that depend on nothing but this key, the perturbation and the difficulty. A string
        is ``Key(string)``, and a key without a dataset one of ``"imagenet_p"``. What draws
        nothing needs neither.
    mode : {"fast", "exact"}
        The official order of operations and precision, or arithmetic that is within 1 level of
        it on at most one sample in 10,000 given the same draws.
    difficulty : int
        1, 2 or 3 for the noises. 1 for the others, which have no sequences of another
        difficulty: there it is the distance of the frames that are compared.

    Returns
    -------
    uint8 array, shape (frames, 224, 224, 3)
        In RGB; 31 frames, of translate 41.

    Raises
    ------
    ShiftlakeError
        If a name, the difficulty, the image or the source of draws is not as told above.

    Notes
    -----
    Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and
    perturbations" (arXiv:1903.12261), section 4; parameters and order of operations are those of
    the published script, the exact frames those it gives under torchvision 0.28 on Pillow 13,
    OpenCV 4.10, ImageMagick 6.9, scikit-image 0.26, SciPy 1.17 and torch 2.13.
    """
    known = check_perturbation(perturbation)
    check_difficulty(known, difficulty)
    check_mode(mode)
    check_image(image)
    draws = given_draws(
        perturbation,
        difficulty,
        rng,
        key,
        dataset=DATASET,
        drawing=perturbation in _DRAWING,
        replayed=_replay,
    )
    return _frames(Source(image), known, difficulty, draws, mode)


def sequences(
    image: Image, conditions: Several[Condition], key: Key | str, *, mode: Mode = "fast"
) -> Iterator[tuple[Condition, Frames]]:
    """Make several sequences of one image; what they share is computed once.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        As :func:`sequence` takes it.
    conditions : sequence of (str, int)
        Perturbation and difficulty, each pair once.
    key : Key or str
        Of the source image, as :func:`sequence` takes it; perturbation and difficulty are added
        to it.
    mode : {"fast", "exact"}
        As :func:`sequence`.

    Yields
    ------
    (str, int), uint8 array of shape (frames, 224, 224, 3)
        A condition and its frames, in the order given. Which others were asked for changes no
        sample.

    Raises
    ------
    ShiftlakeError
        If a condition, the image or the key is not as :func:`sequence` needs it, or a condition
        is given twice.
    """
    check_mode(mode)
    check_image(image)
    check_pairs(conditions)
    source, own = Source(image), given_key(key, DATASET)
    for perturbation, difficulty in conditions:
        known = check_perturbation(perturbation)
        check_difficulty(known, difficulty)
        draws = Keyed(own, perturbation, difficulty)
        yield (perturbation, difficulty), _frames(source, known, difficulty, draws, mode)


def check_image(image: Image) -> None:
    """Raise unless this is an image that sequences can be made from."""
    side = resized()
    shape = f"(height, width, 3), the smaller of both {side}"
    check_samples(image, shape)
    if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) != side:
        raise ShiftlakeError(
            "The image does not have the size that the parameters are for.",
            expected=f"shape {shape}",
            found=f"shape {image.shape}",
            where="image",
            remedy=f"Resize the shorter side to {side} and do not crop: the crop to 224 is made "
            "from each frame. There is no table for other sizes.",
        )


def _frames(
    source: Source, known: Perturbation, difficulty: int, draws: Draws, mode: Mode
) -> Frames:
    level = Level(known.levels[difficulty - 1], known.frames, draws)
    made = kernel(known.name)
    with one_thread():
        return made.exact(source, level) if mode == "exact" else made.fast(source, level)


def _replay(perturbation: str, rng: object) -> Draws:
    from_torch = perturbation == "gaussian_noise"
    if from_torch:
        import torch

        if isinstance(rng, torch.Generator):
            from ops.perturbations.torch_replay import TorchReplay

            # gaussian_noise asks for nothing but normal numbers.
            return cast(Draws, TorchReplay(rng))
    elif isinstance(rng, np.random.RandomState):
        return Replay(rng)
    name = "torch.Generator" if from_torch else "numpy.random.RandomState"
    give = "torch.Generator().manual_seed(seed)" if from_torch else f"{name}(seed)"
    raise ShiftlakeError(
        f"Another generator made the published {perturbation}.",
        expected=f"a {name}, whose draws the official script took",
        found=type(rng).__name__,
        where="rng",
        remedy=f"Give rng={give}, or a key.",
    )
