"""The steps of fine-tuning on frame sets: find the worst frame of each, and train on it.

The loss of a set is ``max CE(f(x), y)`` over the frames x that share the anchor's label y (Shankar
et al. 2021). The frame is found in evaluation mode and without gradients, so that 21 near-copies
never enter the statistics of a batch normalisation; the step on it is an ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch

from ops.errors import ShiftlakeError
from ops.metrics import pm_k_correct
from ops.models.entry import ModelEntry
from ops.models.fine_tuned import Arguments, Epoch, Score
from ops.models.frame_set_pixels import StoredSet, StoredSets
from ops.models.pm_k_loss import ProjectedLoss
from ops.models.seeding import keyed


class Trainer:
    """A network and the sets it is trained and scored on.

    Parameters
    ----------
    network : torch.nn.Module
        Changed in place.
    entry : ModelEntry
        For its mean and std.
    judge : ProjectedLoss
    stored : StoredSets
    arguments : Arguments
    device : str
    """

    def __init__(
        self,
        network: torch.nn.Module,
        entry: ModelEntry,
        judge: ProjectedLoss,
        stored: StoredSets,
        arguments: Arguments,
        device: str = "cpu",
    ) -> None:
        self._device = torch.device(device)
        self._network, self._arguments = network.to(self._device), arguments
        self._judge, self._pixels = judge.to(self._device), stored.pixels
        shape = (1, 3, 1, 1)
        self._mean = torch.tensor(entry.transform.mean, device=self._device).view(shape)
        self._std = torch.tensor(entry.transform.std, device=self._device).view(shape)
        self._name = entry.name

    def run(self, sets: Sequence[StoredSet], say: Callable[[str], None]) -> list[Epoch]:
        """Train over all epochs."""
        given = self._arguments
        steps = _steps(len(sets), given.sets_per_step)
        optimizer = torch.optim.AdamW(
            self._network.parameters(), lr=given.learning_rate, weight_decay=0.01
        )
        total = given.epochs * len(steps)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
        history = []
        for epoch in range(given.epochs):
            searching = given.loss == "pm_k" and epoch >= given.warm_up
            ordered = sorted(sets, key=lambda each: keyed(given.seed, epoch, each.name))
            losses, right, moved = 0.0, 0, 0
            for start, stop in steps:
                batch = ordered[start:stop]
                places = [self.worst(each, epoch) if searching else each.anchor for each in batch]
                loss, hits = self.step(optimizer, batch, places, epoch, searching)
                schedule.step()
                losses += loss * len(batch)
                right += hits
                moved += sum(p != s.anchor for p, s in zip(places, batch, strict=True))
            history.append(Epoch(loss=losses / len(sets), right=right, moved=moved))
            say(
                f"epoch {epoch + 1} of {given.epochs}: loss {losses / len(sets):.4f}, "
                f"{right} of {len(sets)} right"
                + (f", the worst frame is a neighbour in {moved}" if searching else "")
            )
        self._network.eval()
        return history

    def worst(self, frame_set: StoredSet, epoch: int) -> int:
        """Place of the frame with the largest loss; of equal ones the nearest, then the earliest.

        Without gradients and in evaluation mode: nothing of the network changes.
        """
        places = frame_set.alike()
        if (most := self._arguments.candidates) is not None and len(places) > most:
            others = [place for place in places if place != frame_set.anchor]
            others.sort(
                key=lambda place: keyed(
                    self._arguments.seed, epoch, frame_set.name, frame_set.offsets[place]
                )
            )
            places = [frame_set.anchor, *others[: most - 1]]
        places.sort(key=lambda p: (abs(frame_set.offsets[p]), frame_set.offsets[p]))
        self._network.eval()
        with torch.no_grad():
            outputs = self._network(self._images([(frame_set, p) for p in places], epoch))
            losses, _ = self._judge(outputs, [frame_set.target(place) for place in places])
        self._require_finite(losses, [frame_set], epoch)
        return places[int(losses.argmax())]

    def step(
        self,
        optimizer: torch.optim.Optimizer,
        batch: Sequence[StoredSet],
        places: Sequence[int],
        epoch: int,
        searching: bool,
    ) -> tuple[float, int]:
        """One ordinary step on a frame of each set; its loss, and how many of them were right."""
        mix = self._arguments.mix if searching else 1.0
        frames = list(zip(batch, places, strict=True))
        if mix < 1:
            frames += [(each, each.anchor) for each in batch]
        self._network.train()
        outputs = self._network(self._images(frames, epoch))
        losses, right = self._judge(outputs, [each.target(place) for each, place in frames])
        chosen = losses[: len(batch)].mean()
        total = chosen
        if mix < 1:
            total = mix * chosen + (1 - mix) * losses[len(batch) :].mean()
        self._require_finite(total, batch, epoch)
        optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return float(total.detach()), int(right[: len(batch)].sum())

    def score(self, sets: Sequence[StoredSet]) -> Score | None:
        """Anchors that are right, and sets of which every frame is, by each frame's own labels."""
        if not sets:
            return None
        names: list[str] = []
        offsets: list[int] = []
        right: list[bool] = []
        self._network.eval()
        for each in sets:
            frames = [(each, place) for place in range(len(each.rows))]
            with torch.no_grad():
                outputs = self._network(self._images(frames))
                _, found = self._judge(outputs, each.labels)
            names += [each.name] * len(frames)
            offsets += each.offsets
            right += found.tolist()
        columns = np.array(names, object), np.array(offsets), np.array(right, bool)
        counts = [int(pm_k_correct(*columns, k)[1].sum()) for k in (0, self._arguments.k)]
        return Score(n=len(sets), anchors=counts[0], all_frames=counts[1])

    def _images(
        self, frames: Sequence[tuple[StoredSet, int]], epoch: int | None = None
    ) -> torch.Tensor:
        """The model's input of some frames; in an epoch, the sets that are mirrored in it are."""
        rows = [each.rows[place] for each, place in frames]
        pixels = torch.from_numpy(np.array(self._pixels[rows])).to(self._device).permute(0, 3, 1, 2)
        images = (pixels.float() / 255 - self._mean) / self._std
        if epoch is None:
            return images
        mirrored = torch.tensor(
            [
                int(keyed("mirror", self._arguments.seed, epoch, each.name)[0], 16) < 8
                for each, _ in frames
            ],
            device=self._device,
        )
        return torch.where(mirrored[:, None, None, None], images.flip(3), images)

    def _require_finite(self, losses: torch.Tensor, batch: Sequence[StoredSet], epoch: int) -> None:
        if bool(torch.isfinite(losses).all()):
            return
        raise ShiftlakeError(
            "The loss is no longer finite; nothing was registered.",
            expected="a finite loss of every frame",
            found=f"{float(losses.detach().flatten()[~torch.isfinite(losses.flatten())][0])}",
            where=f"{self._name}, epoch {epoch + 1}, "
            + ", ".join(each.name for each in batch[:3])
            + (f" and {len(batch) - 3} more" if len(batch) > 3 else ""),
            remedy="lower --learning-rate; if it is the first step, look at the model's weights",
        )


def _steps(count: int, size: int) -> list[tuple[int, int]]:
    """Bounds of even steps; none of one set alone, which no batch normalisation can take."""
    parts = -(-count // size)
    if size > 1 and parts > 1 and count // parts < 2:
        parts = count // 2
    edges = [count * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))
