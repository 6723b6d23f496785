"""How much a model's answer moves from frame to frame, kept in the rows of a sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ops.inference.scores import NONE, TOP, Bools, Ints, Logits
from ops.metrics.flips import flips
from ops.metrics.frame_pairs import Reference, frame_pairs
from ops.metrics.top5_distance import top5_distance
from ops.metrics.zipf_distance import zipf_distance


@dataclass(frozen=True)
class Movement:
    """Of each row against its reference frame, each array of shape (rows,).

    `compared` are the rows that have a reference: all but the first frame of each sequence.
    `both_read` of these have two frames that could be read, without which `zipf_distance` is not
    defined.
    """

    compared: Bools
    both_read: Bools
    flipped: Bools
    top5_distance: npt.NDArray[np.int8]
    zipf_distance: npt.NDArray[np.float32]


def movement(
    logits: Logits,
    top5: Ints,
    ok: Bools,
    frames: int,
    reference: Reference,
) -> Movement:
    """Compare the frames of whole sequences.

    Parameters
    ----------
    logits : float32 array, shape (sequences * frames, classes)
        The frames of a sequence one after the other.
    top5 : int array, shape (sequences * frames, at most 5)
        Of these logits, as from :func:`ops.inference.scores.top`.
    ok : bool array, shape (sequences * frames,)
        Which frames could be read.
    frames : int
        Of each sequence.
    reference : {"first", "previous"}
        What a frame is compared with.

    Returns
    -------
    Movement
    """
    count = len(logits) // frames
    best = np.full((len(logits), TOP), NONE)
    best[:, : top5.shape[1]] = top5
    best[~ok] = NONE
    # Each pair is a sequence of two frames to the metrics, which then say it of every pair.
    earlier, later = frame_pairs(best.reshape(count, frames, TOP), reference)
    pairs = np.stack([np.broadcast_to(earlier, later.shape), later], axis=2).reshape(-1, 2, TOP)
    read, read_later = frame_pairs(ok.reshape(count, frames).astype(np.int8), reference)
    zipf = np.zeros(len(logits), np.float32)
    zipf.reshape(count, frames)[:, 1:] = zipf_distance(logits.reshape(count, frames, -1), reference)
    later_frames = np.arange(len(logits)).reshape(count, frames)[:, 1:].reshape(-1)
    found = Movement(
        compared=np.zeros(len(logits), bool),
        both_read=np.zeros(len(logits), bool),
        flipped=np.zeros(len(logits), bool),
        top5_distance=np.zeros(len(logits), np.int8),
        zipf_distance=zipf,
    )
    found.compared[later_frames] = True
    found.both_read[later_frames] = ((read & read_later) > 0).reshape(-1)
    found.flipped[later_frames] = flips(pairs[:, :, 0], "previous") > 0
    found.top5_distance[later_frames] = top5_distance(pairs, "previous")
    return found
